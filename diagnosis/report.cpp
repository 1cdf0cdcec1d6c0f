#include "diagnosis/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kColumns = 110;
constexpr std::size_t kBar = 40;

json number(double x) { return std::isfinite(x) ? json(x) : json(nullptr); }

json recommendations(const std::vector<Recommendation>& list) {
  json out = json::array();
  for (const Recommendation& r : list) {
    out.push_back({{"name", r.name},
                   {"speedup_low", number(r.speedup.low)},
                   {"speedup_high", number(r.speedup.high)},
                   {"why", r.why}});
  }
  return out;
}

/// A number stays on one line with its unit.
std::string with_units_tied(std::string text, char tie) {
  for (const std::string_view unit : {"%", "ns", "us", "ms", "s", "B", "kB", "MB", "GB", "TB",
                                      "MFLOP", "GFLOP", "TFLOP", "PFLOP", "tokens/s", "steps/s"}) {
    for (std::size_t at = 1; at + 1 < text.size(); ++at) {
      const std::size_t end = at + 1 + unit.size();
      const bool after_digit =
          text[at] == ' ' && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0;
      if (!after_digit || text.compare(at + 1, unit.size(), unit) != 0) continue;
      if (end >= text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0)
        text[at] = tie;
    }
  }
  return text;
}

/// `text` broken at spaces, every line but the first behind `indent` spaces.
std::string wrapped(const std::string& sentence, std::size_t indent) {
  constexpr char kTie = '\x01';
  const std::string text = with_units_tied(sentence, kTie);
  std::string out;
  std::size_t column = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    const std::size_t length = end - at;
    if (column > indent && column + length > kColumns) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    }
    out.append(text, at, length);
    column += length;
    if (end < text.size() && column < kColumns) {
      out += ' ';
      ++column;
    }
    at = end + 1;
  }
  // Spaces before a break are of no use to anyone.
  for (std::size_t i; (i = out.find(" \n")) != std::string::npos;) out.erase(i, 1);
  std::replace(out.begin(), out.end(), kTie, ' ');
  return out + '\n';
}

std::string_view words_of(Regime regime) {
  switch (regime) {
    case Regime::compute_bound:
      return "the arithmetic rate of the matrix units";
    case Regime::bandwidth_bound:
      return "HBM bandwidth";
    case Regime::capacity_bound:
      return "memory for KV cache";
    case Regime::overhead_bound:
      return "launches and the host, not the device";
    case Regime::communication_bound:
      return "collectives between devices";
    case Regime::kernel_inefficiency:
      return "kernels far from their own floor, not the machine";
    case Regime::load_bound:
      return "the load offered";
    case Regime::transfer_bound:
      return "copies between host and device";
    case Regime::mixed:
      return "nothing that this evidence singles out";
  }
  return "";
}

std::string lower_first(std::string_view title) {
  std::string out(title);
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  if (out.size() > 1 && upper(out[0]) && !upper(out[1])) {
    out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
  }
  return out;
}

std::string bar(double share, double low, double high) {
  const auto cells = [](double x) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(x, 0.0, 1.0) * static_cast<double>(kBar)));
  };
  std::string out(kBar, ' ');
  for (std::size_t i = 0; i < cells(high); ++i) out[i] = '.';
  for (std::size_t i = 0; i < cells(share); ++i) out[i] = '-';
  for (std::size_t i = 0; i < cells(low); ++i) out[i] = '#';
  return out;
}

/// Where the kernels' time beyond their floors lies: "attention", or two kinds that stand close.
std::string slow_kernels(const TimeBudget& budget) {
  struct Kind {
    std::string_view words;
    double share;
  };
  std::array<Kind, 6> kinds{{{"attention", budget.share(LineId::attention_distance).best},
                             {"matrix products", budget.share(LineId::matrix_distance).best},
                             {"norms", budget.share(LineId::norms).best},
                             {"elementwise kernels", budget.share(LineId::elementwise).best},
                             {"casts", budget.share(LineId::casts).best},
                             {"other kernels", budget.share(LineId::other_kernels).best}}};
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& x, const Kind& y) { return x.share > y.share; });
  constexpr double kClose = 0.75;
  if (!(kinds[0].share > 0.0)) return "";
  std::string out(kinds[0].words);
  if (kinds[1].share > kClose * kinds[0].share) out += " and " + std::string(kinds[1].words);
  return out;
}

std::string binding_words(const Diagnosis& d) {
  std::string words(words_of(d.regime));
  if (d.regime == Regime::kernel_inefficiency) {
    const std::string slow = d.time_budget ? slow_kernels(*d.time_budget) : "";
    words = slow.empty() ? "kernels far from their own floor, not the machine"
                         : "kernels far from their own floor: " + slow;
  }
  if (d.queueing && d.queueing->overloaded)
    return "offered load exceeds capacity, which is set by " + words;
  return words;
}

std::string head_text(const Diagnosis& d) {
  const bool overloaded = d.queueing && d.queueing->overloaded;
  std::string out =
      wrapped(fmt::format("Binds:  {}{} / {}: {} (confidence {:.0f} %)",
                          d.settled() ? "" : "Not settled; most likely ", name_of(d.regime),
                          name_of(d.phase), binding_words(d), 100.0 * d.confidence),
              8);
  if (overloaded) {
    out += wrapped(
        fmt::format("Queue:  at least {} of the {} to a first token is waiting, before the "
                    "prompt's own steps; "
                    "up to {} requests wait",
                    time_text(d.queueing->wait.best), time_text(d.queueing->first_token.best),
                    whole_text(best_or(d.queueing->waiting, 0.0))),
        8);
  }
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

bool known_exactly(const TimeBudget& budget) {
  return std::all_of(budget.lines.begin(), budget.lines.end(), [&](const Line& line) {
    return line.time.interval.width() < 1e-3 * budget.total.best;
  });
}

std::string ledger_text(const TimeBudget& budget) {
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
    std::string row = fmt::format("  {:<36} |{}| {:>5.1f} % {:>19}", part,
                                  bar(line.time.best / total, t.low / total, t.high / total),
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

std::string amount_text(const Value& v, std::string_view unit) {
  if (unit == "fraction") return percent_text(v.best);
  if (unit == "seconds") return time_text(v.best);
  if (unit == "bytes") return bytes_text(v.best);
  return number_text(v.best) + " " + std::string(unit);
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

nlohmann::ordered_json to_json(const Diagnosis& d) {
  json evidence = json::array();
  for (const Finding& f : d.settling_evidence) {
    evidence.push_back({{"statement", f.statement},
                        {"value", number(f.value)},
                        {"unit", f.unit},
                        {"origin", name_of(f.origin)}});
  }
  json ledger = json::array();
  if (d.time_budget) {
    const TimeBudget& budget = *d.time_budget;
    for (const Line& line : budget.lines) {
      const core::Interval& t = line.time.interval;
      const auto seconds = [&](double x) { return budget.in_seconds ? number(x) : json(nullptr); };
      ledger.push_back({{"part", line.part},
                        {"seconds_low", seconds(t.low)},
                        {"seconds_high", seconds(t.high)},
                        {"share_low", number(std::clamp(t.low / budget.total.best, 0.0, 1.0))},
                        {"share_high", number(std::clamp(t.high / budget.total.best, 0.0, 1.0))}});
    }
  }
  json contradictions = json::array();
  for (const Inconsistency& i : d.inconsistencies) {
    contradictions.push_back({{"quantity", i.quantity},
                              {"one_road", number(i.one_road.best)},
                              {"other_road", number(i.other_road.best)},
                              {"unit", i.unit},
                              {"reading", i.reading},
                              {"explained", i.explained}});
  }
  return {{"regime", name_of(d.regime)},
          {"phase", name_of(d.phase)},
          {"confidence", number(d.confidence)},
          {"settling_evidence", evidence},
          {"time_budget", ledger},
          {"fixes", recommendations(d.fixes)},
          {"rejects", recommendations(d.rejects)},
          {"inconsistencies", contradictions},
          {"question", d.question}};
}

std::string to_text(const Diagnosis& d) {
  std::string out;
  if (!d.title.empty()) out += wrapped(d.title, 0) + "\n";
  out += head_text(d);
  if (d.time_budget) out += ledger_text(*d.time_budget);
  out += evidence_text(d.settling_evidence);
  out += list_text(d.settled() ? "Fixes" : "Fixes, should it be so", d.fixes);
  out += list_text("Not these", d.rejects);
  out += differences_text("Contradictions", d.inconsistencies, false);
  out += differences_text("Explained differences", d.inconsistencies, true);
  if (d.settled() && !d.fixes.empty())
    out += "\n" + wrapped("Before you do it, ask: " + d.question, 4);
  return out;
}

}  // namespace ridgeline::diagnosis
