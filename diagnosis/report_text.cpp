#include <fmt/format.h>

#include "diagnosis/prose.hpp"
#include "diagnosis/report.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

constexpr std::size_t kBar = 40;

std::string head_text(const Diagnosis& d, const Palette& palette) {
  std::string out = palette.head(
      wrapped(fmt::format("Binds:  {}{} / {}: {} (confidence {:.0f} %)",
                          d.settled() ? "" : "Not settled; most likely ", name_of(d.regime),
                          name_of(d.phase), binding_words(d), 100.0 * d.confidence),
              8));
  if (const std::string queue = queue_words(d); !queue.empty())
    out += palette.head(wrapped("Queue:  " + queue, 8));
  out += wrapped("Proof:  " + (d.settling_evidence.empty()
                                   ? std::string("none: the evidence does not reach that far")
                                   : d.settling_evidence.front().statement),
                 8);
  if (!d.settled() || d.fixes.empty())
    return out + wrapped("Do:     To settle it, ask: " + d.question, 8);
  std::string todo;
  for (const Recommendation& fix : d.fixes) {
    todo += fmt::format("{}{} ({}), {}", todo.empty() ? "" : "; then ", lower_first(fix.title),
                        fix.name, gain_text(fix.speedup));
  }
  return out + wrapped("Do:     " + todo, 8);
}

std::string ledger_text(const TimeBudget& budget, const Palette& palette) {
  const double total = budget.total.best;
  const std::string_view legend =
      known_exactly(budget) ? "" : " (# certain, - best guess, . at most)";
  std::string out =
      budget.in_seconds
          ? fmt::format("\nWhere the {} of {} go{}:\n", time_text(total), budget.unit, legend)
          : fmt::format("\nWhere the time of {} goes, as shares{}:\n", budget.unit, legend);
  for (const Line& line : budget.lines) {
    const core::Interval& t = line.time.interval;
    const std::string amount = budget.in_seconds ? time_range_text(t) : "";
    std::string part = line.part;
    if (part.size() > 36) part = part.substr(0, 33) + "...";
    const std::string cells = bar(line.time.best / total, t.low / total, t.high / total, kBar);
    std::string row =
        fmt::format("  {:<36} |{}| {:>5.1f} % {:>19}", part, palette.of(line.cause, cells),
                    100.0 * line.time.best / total, amount);
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + '\n';
  }
  return out;
}

/// The sentences after the one in the head. Where a number rests on something nobody said, it says
/// so.
std::string evidence_text(const std::vector<Finding>& findings) {
  std::string out;
  bool assumed = false;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& f = findings[i];
    const bool marked = f.origin == Origin::assumed;
    if (i == 0 || f.repeats) continue;
    assumed = assumed || marked;
    out += wrapped("  " + f.statement + (marked ? " [assumed]" : ""), 4);
  }
  if (out.empty()) return "";
  return fmt::format("\nEvidence{}\n",
                     assumed ? " ([assumed]: rests on something that nobody said)" : "") +
         out;
}

std::string list_text(std::string_view heading, const std::vector<Recommendation>& list) {
  if (list.empty()) return "";
  std::string out = "\n" + std::string(heading) + "\n";
  for (const Recommendation& r : list) {
    out +=
        wrapped(fmt::format("  {} ({}, {}): {}", r.title, r.name, gain_text(r.speedup), r.why), 4);
  }
  return out;
}

/// Differences that the reading accounts for, or those that it does not.
std::string differences_text(std::string_view heading, const std::vector<Inconsistency>& list,
                             bool explained) {
  std::string out;
  for (const Inconsistency& i : list) {
    if (i.explained != explained) continue;
    out += wrapped(
        fmt::format("  {}, {} one way and {} the other: {}", i.quantity,
                    amount_text(i.one_road, i.unit), amount_text(i.other_road, i.unit), i.reading),
        4);
  }
  return out.empty() ? "" : fmt::format("\n{}\n", heading) + out;
}

}  // namespace

std::string to_text(const Diagnosis& d, const Palette& palette) {
  std::string out;
  if (!d.title.empty()) out += wrapped(d.title, 0) + "\n";
  out += head_text(d, palette);
  if (d.time_budget) out += ledger_text(*d.time_budget, palette);
  out += evidence_text(d.settling_evidence);
  out += list_text(d.settled() ? "Fixes" : "Fixes, should it be so", d.fixes);
  out += list_text("Not these", d.rejects);
  out += palette.alarm(differences_text("Contradictions", d.inconsistencies, false));
  out += differences_text("Explained differences", d.inconsistencies, true);
  if (d.settled() && !d.fixes.empty())
    out += "\n" + wrapped("Before you do it, ask: " + d.question, 4);
  return out;
}

}  // namespace ridgeline::diagnosis
