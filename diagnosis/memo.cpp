#include "diagnosis/memo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/table.hpp"
#include "diagnosis/markdown.hpp"
#include "diagnosis/prose.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using markdown::code;
using markdown::escaped;

constexpr std::size_t kMostNumbers = 6;
constexpr std::size_t kMostFacts = 4;
/// Lines of the ledger below this share decide nothing.
constexpr double kWorthARow = 0.03;

std::string_view effort_words(const Fix& fix) {
  if (fix.needs_hardware) return "more or other hardware";
  switch (fix.effort) {
    case 0:
      return "a switch";
    case 1:
      return "a supported feature to set up";
    case 2:
      return "another model or new code";
    default:
      return "weeks of work";
  }
}

std::string effort_of(const Recommendation& r) {
  const Fix* fix = find_fix(r.name);
  return fix != nullptr ? std::string(effort_words(*fix)) : "an effort that is not known";
}

std::string pitch(const Diagnosis& d) {
  const std::string binds =
      fmt::format("{} ({} / {}, confidence {:.0f} %)", escaped(binding_words(d)),
                  code(name_of(d.regime)), code(name_of(d.phase)), 100.0 * d.confidence);
  if (!d.settled()) {
    return fmt::format(
        "It is not settled what binds; most likely it is {}. Change nothing yet: answer the "
        "question at the end first, for its answer decides.\n",
        binds);
  }
  if (d.fixes.empty()) {
    return fmt::format(
        "What binds is {}. No change that we can compute is worth its trouble; the question at the "
        "end may find one.\n",
        binds);
  }
  const Recommendation& first = d.fixes.front();
  return fmt::format(
      "What binds is {}. We recommend to {} ({}): {} the speed, and what it takes is {}.\n", binds,
      escaped(lower_first(first.title)), code(first.name), gain_text(first.speedup),
      effort_of(first));
}

/// The file's name is enough on a page; --explain has the path.
std::string short_place(const std::string& place) {
  return escaped(place.substr(place.rfind('/') + 1));
}

/// "`measured.throughput` (e.yaml:12), `model.weight_bytes` (e.yaml:6)".
std::string facts(const Explanation& e, std::size_t step) {
  std::string out;
  std::size_t count = 0;
  for (const std::size_t below : e.facts_below(step)) {
    const Step& fact = e.steps[below];
    if (below == e.total && fact.origin == Origin::assumed) continue;  // the whole of all shares
    if (count++ == kMostFacts) return out + ", and others";
    out += out.empty() ? "" : ", ";
    out += fact.name.empty() ? escaped(fact.text) : code(fact.name);
    if (fact.origin == Origin::assumed) {
      out += " (assumed)";
    } else if (!fact.name.empty() && fact.text != fact.name && !fact.text.empty()) {
      out += fmt::format(" ({})", short_place(fact.text));
    }
  }
  return out;
}

struct Row {
  double size = 0.0;
  std::string name;
  std::size_t step = 0;
};

/// The time that is at stake, and the lines that it mostly goes to.
std::vector<Row> numbers(const Diagnosis& d, const Explanation& e) {
  if (!d.time_budget) return {};
  const double total = d.time_budget->total.best;
  std::vector<Row> lines;
  for (const Answer& answer : e.answers) {
    const double size = e.steps[answer.step].best;
    const bool worth_it = answer.kind == Asked::ledger && size >= kWorthARow * total;
    if (worth_it && answer.step != e.total) lines.push_back({size, answer.name, answer.step});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Row& a, const Row& b) { return a.size > b.size; });
  if (d.time_budget->in_seconds && e.total)
    lines.insert(lines.begin(), {total, time_name(*d.time_budget), *e.total});
  if (lines.size() > kMostNumbers) lines.resize(kMostNumbers);
  return lines;
}

std::string arithmetic(const Diagnosis& d, const Explanation& e) {
  std::string out = "\n## The arithmetic\n\n";
  out += d.settling_evidence.empty()
             ? std::string("The evidence does not reach far enough to prove anything.\n")
             : escaped(d.settling_evidence.front().statement) + ".\n";
  const std::vector<Row> rows = numbers(d, e);
  if (rows.empty()) return out;
  out += "\n| number | of what | computed from |\n|--:|---|---|\n";
  for (const Row& row : rows) {
    out += fmt::format("| {} | {} | {} |\n", escaped(number_with_range(e.steps[row.step])),
                       escaped(row.name), facts(e, row.step));
  }
  return out;
}

std::string gains_and_costs(const Diagnosis& d) {
  if (d.fixes.empty()) return "";
  std::string out =
      d.settled() ? "\n## What we would gain\n\n" : "\n## What we would gain, should it be so\n\n";
  for (const Recommendation& r : d.fixes) {
    out += fmt::format("- **{}** ({}), {} the speed: {}.\n", escaped(r.title), code(r.name),
                       gain_text(r.speedup), escaped(r.why));
  }
  out += "\n## What it costs\n\n";
  for (const Recommendation& r : d.fixes)
    out += fmt::format("- {}: {}.\n", escaped(r.title), effort_of(r));
  return out;
}

std::string instead(const Diagnosis& d) {
  if (d.rejects.empty()) return "";
  std::string out = "\n## What is tempting, and why not\n\n";
  for (const Recommendation& r : d.rejects) {
    out += fmt::format("- {} ({}), {}: {}.\n", escaped(r.title), code(r.name), gain_text(r.speedup),
                       escaped(r.why));
  }
  if (d.settled() && !d.fixes.empty())
    out += fmt::format("\nInstead: {}.\n", escaped(lower_first(d.fixes.front().title)));
  return out;
}

/// What the answer rests on and nobody said.
std::vector<std::size_t> assumptions(const Explanation& e) {
  std::vector<std::size_t> out;
  for (const Answer& answer : e.answers) {
    // A fix's own assumptions show in the range of its gain.
    if (answer.kind != Asked::ledger && answer.kind != Asked::finding) continue;
    for (const std::size_t at : e.below(answer.step)) {
      const Step& s = e.steps[at];
      const bool made_here = s.operation == Operation::fact || s.operation == Operation::taken_as;
      if (s.origin != Origin::assumed || !made_here || at == e.total) continue;
      if (std::find(out.begin(), out.end(), at) == out.end()) out.push_back(at);
    }
  }
  return out;
}

std::string unknown(const Diagnosis& d, const Explanation& e) {
  std::string out = "\n## What we do not know\n\n";
  for (const Inconsistency& i : d.inconsistencies) {
    if (i.explained) continue;
    out += fmt::format("- {} is {} one way and {} the other: {}.\n", escaped(i.quantity),
                       amount_text(i.one_road, i.unit), amount_text(i.other_road, i.unit),
                       escaped(i.reading));
  }
  for (const std::size_t at : assumptions(e)) {
    const Step& s = e.steps[at];
    const std::string why =
        s.operation == Operation::taken_as ? "taken to be " + e.steps[s.from[0]].name : s.text;
    out += fmt::format("- Assumed: {}{}{}.\n", escaped(s.name.empty() ? "a number" : s.name),
                       ", " + number_with_range(s), why.empty() ? "" : ": " + escaped(why));
  }
  if (d.time_budget) {
    for (const Line& line : d.time_budget->lines) {
      if (line.cause != Cause::unexplained) continue;
      out +=
          fmt::format("- {:.1f} % of {}: {}.\n", 100.0 * line.time.best / d.time_budget->total.best,
                      escaped(time_name(*d.time_budget)), escaped(line.part));
    }
  }
  return out + fmt::format("- **To answer first:** {}\n", escaped(d.question));
}

}  // namespace

std::string to_memo(const Diagnosis& d, const Explanation& e) {
  return fmt::format("# {}: a recommendation\n\n",
                     d.title.empty() ? "What to change" : escaped(d.title)) +
         pitch(d) + arithmetic(d, e) + gains_and_costs(d) + instead(d) + unknown(d, e);
}

}  // namespace ridgeline::diagnosis
