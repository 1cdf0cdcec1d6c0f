#include "diagnosis/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "diagnosis/fixes/table.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using enum Cause;

/// Gains within this of one are noise.
constexpr double kNoise = 0.03;

/// Changes that are tried and reported, and that the diagnosis never proposes. A new one is one
/// line.
constexpr Change kOtherChanges[]{
    {"other_engine",
     "Another engine on the same machine",
     {kernels, launch, host, communication, transfer},
     {0.0, 0.9}},
    {"adapters", "LoRA adapters", {}, {0.0, 1.0}},
    {"lower_clock", "A lower clock", {}, {0.0, 1.0}},
};

const std::vector<Change>& changes() {
  static const std::vector<Change> table = [] {
    std::vector<Change> out;
    for (const Fix* fix : all_fixes())
      out.push_back({fix->name, fix->title, fix->acts_on, fix->leaves});
    out.insert(out.end(), std::begin(kOtherChanges), std::end(kOtherChanges));
    return out;
  }();
  return table;
}

/// "Tried (static cache): capture the step in a graph, 4.14x faster"
std::string what_came_of(const Trial& trial, const Change& change, const Value& gain) {
  std::string title(change.title);
  if (title.rfind("LoRA", 0) != 0)
    title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
  const bool nothing = gain.high() < 1.0 + kNoise && gain.low() > 1.0 - kNoise;
  return fmt::format("Tried{}: {}, {}", trial.when.empty() ? "" : " (" + trial.when + ")", title,
                     nothing            ? std::string("which changed nothing")
                     : gain.best >= 1.0 ? fmt::format("{:.2f}x faster", gain.best)
                                        : fmt::format("{:.2f}x slower", 1.0 / gain.best));
}

std::string words_of(const Causes& causes) {
  std::string out;
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (!causes.has(static_cast<Cause>(i))) continue;
    out += (out.empty() ? "" : " or ") + std::string(kCauseNames[i]);
  }
  return out;
}

/// A change that shortened what it acts on.
Clue shortened(const Trial& trial, const Change& change, const Value& gain) {
  const core::Interval saved{1.0 - 1.0 / gain.low(), 1.0 - 1.0 / gain.high()};
  const auto share = [](double part, double left) {
    return std::clamp(part / std::max(1.0 - left, 1e-9), 0.0, 1.0);
  };
  Clue clue;
  clue.causes = change.acts_on;
  if (gain.high() < 1.0 + kNoise) {
    clue.share = {0.0, share(std::max(saved.high, kNoise), change.leaves.high)};
    clue.value = gain;
    clue.unit = "ratio";
    clue.statement =
        fmt::format("{}: at most {} of the time goes to {}", what_came_of(trial, change, gain),
                    percent_text(clue.share.high), words_of(change.acts_on));
    return clue;
  }
  clue.share = {share(std::max(saved.low, 0.0), change.leaves.low),
                share(saved.high, change.leaves.high)};
  // A change is rarely as thorough as it could be, nor as poor.
  const double usual_leaves = 0.7 * change.leaves.low + 0.3 * change.leaves.high;
  clue.value =
      Value(clue.share,
            std::clamp(share(1.0 - 1.0 / gain.best, usual_leaves), clue.share.low, clue.share.high),
            Origin::derived, trial.from);
  clue.unit = "fraction";
  clue.statement =
      fmt::format("{}: at least {} of the time goes to {}", what_came_of(trial, change, gain),
                  percent_text(clue.share.low), words_of(change.acts_on));
  return clue;
}

/// Work that was added and made it slower: what the added work costs, as a share of the time with
/// it.
Clue added(const Trial& trial, const Change& change, const Value& gain, Causes causes) {
  Clue clue;
  // The evidence's own time is that before the change, unless the change is in place: then it holds
  // nothing of what the change added.
  if (trial.with) {
    clue.causes = causes;
    clue.share = {std::max(0.0, 1.0 - gain.high()), 1.0};
  }
  clue.value =
      Value({1.0 - gain.high(), 1.0 - gain.low()}, 1.0 - gain.best, Origin::derived, trial.from);
  clue.unit = "fraction";
  clue.statement = fmt::format("{}: {} of the time with it is what it added",
                               what_came_of(trial, change, gain), percent_text(1.0 - gain.best));
  return clue;
}

}  // namespace

const Change* find_change(std::string_view name) {
  for (const Change& change : changes()) {
    if (change.name == name) return &change;
  }
  return nullptr;
}

std::vector<std::string> change_names() {
  std::vector<std::string> names;
  for (const Change& change : changes()) names.emplace_back(change.name);
  return names;
}

const Trial::Effect& main_effect(const Trial& trial, Window window) {
  std::vector<std::string_view> order{"speedup",          "throughput", "requests_per_second",
                                      "total_throughput", "flop_rate",  "throughput_per_sequence",
                                      "step_time",        "itl",        "ttft"};
  if (window == Window::prefill) order.insert(order.begin() + 1, "ttft");
  for (const std::string_view measure : order) {
    for (const Trial::Effect& effect : trial.effects) {
      if (effect.measure == measure) return effect;
    }
  }
  return trial.effects.front();
}

std::vector<Clue> clues_of_trials(const Evidence& e, const Work& w) {
  std::vector<Clue> out;
  for (const Trial& trial : e.trials) {
    const Change* change = find_change(trial.change);
    if (change == nullptr || trial.effects.empty()) continue;
    const Value& gain = main_effect(trial, w.window).gain;
    const bool slower = gain.high() < 1.0 - kNoise;
    if (trial.change == "speculative_decoding" || trial.change == "longer_drafts") {
      // Tokens guessed and checked cost arithmetic; they save reads, launches and collectives.
      if (slower) out.push_back(added(trial, *change, gain, compute));
      if (gain.low() > 1.0 + kNoise && !trial.with && trial.change == "speculative_decoding")
        out.push_back(shortened(trial,
                                {change->name,
                                 change->title,
                                 {bandwidth, launch, host, communication, kernels},
                                 {0.3, 0.9}},
                                gain));
      continue;
    }
    if (slower && trial.change == "adapters") {
      out.push_back(added(trial, *change, gain, kernels));
      continue;
    }
    // One that made it slower may have saved much and cost more: that bounds nothing.
    if (change->acts_on.empty() || slower) continue;
    if (trial.with && !(gain.high() < 1.0 + kNoise)) continue;  // its time is gone already
    out.push_back(shortened(trial, *change, gain));
  }
  return out;
}

}  // namespace ridgeline::diagnosis
