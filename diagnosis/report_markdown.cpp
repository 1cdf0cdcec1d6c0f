#include <fmt/format.h>

#include "diagnosis/markdown.hpp"
#include "diagnosis/prose.hpp"
#include "diagnosis/report.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using markdown::code;
using markdown::escaped;

constexpr std::size_t kBar = 20;

std::string head(const Diagnosis& d) {
  std::string out =
      fmt::format("- **Binds:** {}{} / {}: {} (confidence {:.0f} %)\n",
                  d.settled() ? "" : "Not settled; most likely ", code(name_of(d.regime)),
                  code(name_of(d.phase)), escaped(binding_words(d)), 100.0 * d.confidence);
  if (const std::string queue = queue_words(d); !queue.empty())
    out += "- **Queue:** " + escaped(queue) + "\n";
  out += "- **Proof:** " +
         (d.settling_evidence.empty() ? std::string("none: the evidence does not reach that far")
                                      : escaped(d.settling_evidence.front().statement)) +
         "\n";
  if (!d.settled() || d.fixes.empty())
    return out + "- **Do:** To settle it, ask: " + escaped(d.question) + "\n";
  std::string todo;
  for (const Recommendation& fix : d.fixes) {
    todo += fmt::format("{}{} ({}), {}", todo.empty() ? "" : "; then ",
                        escaped(lower_first(fix.title)), code(fix.name), gain_text(fix.speedup));
  }
  return out + "- **Do:** " + todo + "\n";
}

std::string ledger(const TimeBudget& budget) {
  const double total = budget.total.best;
  std::string out = fmt::format("\n### Where {} goes\n\n", escaped(time_name(budget)));
  if (!known_exactly(budget)) out += "`#` certain, `-` best guess, `.` at most\n\n";
  out += budget.in_seconds ? "| part | | share | time |\n|---|---|--:|--:|\n"
                           : "| part | | share |\n|---|---|--:|\n";
  for (const Line& line : budget.lines) {
    const core::Interval& t = line.time.interval;
    std::string cells = bar(line.time.best / total, t.low / total, t.high / total, kBar);
    cells.erase(cells.find_last_not_of(' ') + 1);
    out += fmt::format("| {} | {} | {:.1f} % |", escaped(line.part),
                       cells.empty() ? "" : code(cells), 100.0 * line.time.best / total);
    if (budget.in_seconds) out += fmt::format(" {} |", time_range_text(t));
    out += '\n';
  }
  return out;
}

std::string section(std::string_view heading, const std::string& body) {
  return body.empty() ? "" : fmt::format("\n### {}\n\n{}", heading, body);
}

std::string evidence(const std::vector<Finding>& findings) {
  std::string out;
  for (std::size_t i = 1; i < findings.size(); ++i) {
    const Finding& f = findings[i];
    if (f.repeats) continue;
    out += fmt::format("- {}{}\n", escaped(f.statement),
                       f.origin == Origin::assumed ? " *(rests on an assumption)*" : "");
  }
  return out;
}

std::string recommendations(const std::vector<Recommendation>& list) {
  std::string out;
  for (const Recommendation& r : list) {
    out += fmt::format("- **{}** ({}, {}): {}\n", escaped(r.title), code(r.name),
                       gain_text(r.speedup), escaped(r.why));
  }
  return out;
}

std::string differences(const std::vector<Inconsistency>& list, bool explained) {
  std::string out;
  for (const Inconsistency& i : list) {
    if (i.explained != explained) continue;
    out += fmt::format("- **{}**, {} one way and {} the other: {}\n", escaped(i.quantity),
                       amount_text(i.one_road, i.unit), amount_text(i.other_road, i.unit),
                       escaped(i.reading));
  }
  return out;
}

}  // namespace

std::string to_markdown(const Diagnosis& d) {
  std::string out;
  if (!d.title.empty()) out += "## " + escaped(d.title) + "\n\n";
  out += head(d);
  if (d.time_budget) out += ledger(*d.time_budget);
  out += section("Evidence", evidence(d.settling_evidence));
  out += section(d.settled() ? "Fixes" : "Fixes, should it be so", recommendations(d.fixes));
  out += section("Not these", recommendations(d.rejects));
  out += section("Contradictions", differences(d.inconsistencies, false));
  out += section("Explained differences", differences(d.inconsistencies, true));
  if (d.settled() && !d.fixes.empty())
    out += section("Before you do it, ask", escaped(d.question) + "\n");
  return out;
}

}  // namespace ridgeline::diagnosis
