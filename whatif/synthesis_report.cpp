#include <fmt/format.h>

#include <algorithm>

#include "whatif/synthesis.hpp"

namespace ridgeline::whatif {
namespace {

/// Both roofs: the pair that the answer is about.
bool is_both_roofs(const Synthesis::Pair& pair) {
  return pair.first == "flop_fraction" && pair.second == "hbm_fraction";
}

/// How near both roofs come to the most telling pair, and why they are asked for all the same.
std::string why_both_roofs(const Synthesis& s) {
  const auto roofs = std::find_if(s.pairs.begin(), s.pairs.end(), is_both_roofs);
  if (roofs == s.pairs.end()) return "";
  const auto& best = s.pairs.front();
  if (roofs == s.pairs.begin())
    return "No pair tells more than both roofs, and neither of them needs a timeline: two counters "
           "do.\n";
  return fmt::format(
      "{} + {} tells most; both roofs tell {:.1f} % of that. They are still the two\n"
      "to ask for: counters give both, over any step, while a share or a length of kernels needs a "
      "timeline, and each roof names\n"
      "its own remedy.\n",
      best.first, best.second, best.bits > 0.0 ? 100.0 * roofs->bits / best.bits : 0.0);
}

}  // namespace

nlohmann::ordered_json to_json(const Synthesis& s) {
  nlohmann::ordered_json out;
  out["ask_first"] = {"hbm_fraction", "flop_fraction"};
  out["servers"] = s.servers;
  out["limiters"] = s.limiters;
  out["label_bits"] = s.label_bits;
  for (const auto& m : s.measurements)
    out["measurements"].push_back({{"name", m.name}, {"meaning", m.meaning}, {"bits", m.bits}});
  for (const auto& p : s.pairs)
    out["pairs"].push_back({{"first", p.first}, {"second", p.second}, {"bits", p.bits}});
  return out;
}

std::string to_text(const Synthesis& s) {
  std::string out;
  out +=
      "Which two measurements tell most about a slow server\n\n"
      "Ask for these two first, over the same step, before offering any opinion:\n\n"
      "  1. Achieved HBM bandwidth as a share of peak. High, it says that time is bytes, so only "
      "moving fewer of them (or the same\n"
      "     for more tokens) can help.\n"
      "  2. Achieved FLOP rate as a share of peak, with issued and useful told apart. High, it "
      "says that time is arithmetic, so only\n"
      "     less of it or a faster unit can help.\n\n"
      "Together they tell the roofs apart. Both low is an answer too: neither roof binds, and the "
      "timeline's gaps are the next\n"
      "question.\n\n";
  out += fmt::format("Held against {} random servers whose true limiter is known (", s.servers);
  bool first = true;
  for (const auto& [name, count] : s.limiters) {
    out += fmt::format("{}{} {:.0f} %", first ? "" : ", ", name,
                       100.0 * static_cast<double>(count) / static_cast<double>(s.servers));
    first = false;
  }
  out += fmt::format("; {:.2f} bits to know):\n\n  {:<38} bits told   of all\n", s.label_bits,
                     "pair of measurements");
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < s.pairs.size(); ++i) {
    const auto& pair = s.pairs[i];
    if (i >= kShown && !is_both_roofs(pair)) continue;
    out += fmt::format("  {:<38} {:>9.2f} {:>7.0f} %{}\n", pair.first + " + " + pair.second,
                       pair.bits, s.label_bits > 0.0 ? 100.0 * pair.bits / s.label_bits : 0.0,
                       is_both_roofs(pair)
                           ? fmt::format("   <- both roofs, {} of {}", i + 1, s.pairs.size())
                           : "");
  }
  out += "\n" + why_both_roofs(s);
  out += fmt::format("\n  {:<38} bits told\n", "one measurement alone");
  for (const auto& m : s.measurements)
    out += fmt::format("  {:<38} {:>9.2f}   {}\n", m.name, m.bits, m.meaning);
  return out;
}

}  // namespace ridgeline::whatif
