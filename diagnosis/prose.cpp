#include "diagnosis/prose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

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

}  // namespace

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

std::string time_name(const TimeBudget& budget) {
  const std::string unit(budget.unit);
  return unit.starts_with("the time") ? unit : "the time of " + unit;
}

std::string queue_words(const Diagnosis& d) {
  if (!d.queueing || !d.queueing->overloaded) return "";
  return fmt::format(
      "at least {} of the {} to a first token is waiting, before the prompt's own steps; up to {} "
      "requests wait",
      time_text(d.queueing->wait.best), time_text(d.queueing->first_token.best),
      whole_text(best_or(d.queueing->waiting, 0.0)));
}

std::string amount_text(const Value& v, std::string_view unit) {
  if (unit == "fraction") return percent_text(v.best);
  if (unit == "seconds") return time_text(v.best);
  if (unit == "bytes") return bytes_text(v.best);
  if (unit == "bytes/s") return bytes_text(v.best) + "/s";
  return number_text(v.best) + " " + std::string(unit);
}

std::string lower_first(std::string_view title) {
  std::string out(title);
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  if (out.size() > 1 && upper(out[0]) && !upper(out[1])) {
    out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
  }
  return out;
}

std::string bar(double share, double low, double high, std::size_t cells) {
  const auto filled = [cells](double x) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(x, 0.0, 1.0) * static_cast<double>(cells)));
  };
  std::string out(cells, ' ');
  for (std::size_t i = 0; i < filled(high); ++i) out[i] = '.';
  for (std::size_t i = 0; i < filled(share); ++i) out[i] = '-';
  for (std::size_t i = 0; i < filled(low); ++i) out[i] = '#';
  return out;
}

bool known_exactly(const TimeBudget& budget) {
  return std::all_of(budget.lines.begin(), budget.lines.end(), [&](const Line& line) {
    return line.time.interval.width() < 1e-3 * budget.total.best;
  });
}

}  // namespace ridgeline::diagnosis
