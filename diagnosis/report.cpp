#include "diagnosis/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using nlohmann::json;

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

/// `text` broken at spaces, every line but the first behind `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent) {
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

std::string bar(double share, double low, double high) {
  const auto cells = [](double x) {
    return static_cast<std::size_t>(std::lround(std::clamp(x, 0.0, 1.0) * static_cast<double>(kBar)));
  };
  std::string out(kBar, ' ');
  for (std::size_t i = 0; i < cells(high); ++i) out[i] = '.';
  for (std::size_t i = 0; i < cells(share); ++i) out[i] = '-';
  for (std::size_t i = 0; i < cells(low); ++i) out[i] = '#';
  return out;
}

std::string ledger_text(const TimeBudget& budget) {
  const double total = budget.total.best;
  std::string out = budget.in_seconds
                        ? fmt::format("\nWhere {} go (# certain, - best guess, . at most):\n", time_text(total))
                        : "\nWhere the time goes, as shares (# certain, - best guess, . at most):\n";
  for (const Line& line : budget.lines) {
    const core::Interval& t = line.time.interval;
    const std::string amount = budget.in_seconds ? time_range_text(t) : percent_text(line.time.best);
    std::string part = line.part;
    if (part.size() > 36) part = part.substr(0, 33) + "...";
    out +=
        fmt::format("  {:<36} |{}| {:>5.1f} % {:>19}\n", part,
                    bar(line.time.best / total, t.low / total, t.high / total), 100.0 * line.time.best / total, amount);
  }
  return out;
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
    out += wrapped(fmt::format("  {} ({}, {}): {}", r.title, r.name, gain_text(r.speedup), r.why), 4);
  }
  return out;
}

}  // namespace

nlohmann::json to_json(const Diagnosis& d) {
  json evidence = json::array();
  for (const Finding& f : d.settling_evidence) {
    evidence.push_back(
        {{"statement", f.statement}, {"value", number(f.value)}, {"unit", f.unit}, {"origin", name_of(f.origin)}});
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
  out += wrapped(fmt::format("Binds:  {} / {}: {} (confidence {:.0f} %)", name_of(d.regime), name_of(d.phase),
                             words_of(d.regime), 100.0 * d.confidence),
                 8);
  out += wrapped("Proof:  " + (d.settling_evidence.empty() ? std::string("none: the evidence does not reach that far")
                                                           : d.settling_evidence.front().statement),
                 8);
  std::string todo;
  for (const Recommendation& fix : d.fixes) {
    todo += (todo.empty() ? "" : ", then ") + fix.name + " (" + gain_text(fix.speedup) + ")";
  }
  out += wrapped("Do:     " + (todo.empty() ? "first answer this: " + d.question : todo), 8);

  if (d.time_budget) out += ledger_text(*d.time_budget);
  if (d.settling_evidence.size() > 1) {
    out += "\nEvidence\n";
    for (const Finding& f : d.settling_evidence) {
      out += wrapped("  " + f.statement + fmt::format(" [{}]", name_of(f.origin)), 4);
    }
  }
  out += list_text("Fixes", d.fixes);
  out += list_text("Not these", d.rejects);
  if (!d.inconsistencies.empty()) {
    out += "\nTwo roads that do not meet\n";
    for (const Inconsistency& i : d.inconsistencies) {
      out += wrapped(fmt::format("  {}: {} by one road, {} by the other: {}", i.quantity,
                                 amount_text(i.one_road, i.unit), amount_text(i.other_road, i.unit), i.reading),
                     4);
    }
  }
  out += "\n" + wrapped("To ask next: " + d.question, 4);
  return out;
}

}  // namespace ridgeline::diagnosis
