#include "whatif/exercise/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/words.hpp"

namespace ridgeline::whatif {
namespace {

using diagnosis::Regime;

/// As in diagnosis/diagnose.cpp: below this a change is not worth its trouble.
constexpr double kWorthwhile = 1.05;
/// Of the best fix's gain, on a logarithmic scale: there is more than one good answer.
constexpr double kNearlyAsGood = 0.5;

const Truth::Listed* find(const std::vector<Truth::Listed>& list, std::string_view fix) {
  const auto it =
      std::find_if(list.begin(), list.end(), [&](const auto& listed) { return listed.fix == fix; });
  return it != list.end() ? &*it : nullptr;
}

const TrueGain* run_of(const Truth& truth, std::string_view fix) {
  if (!truth.label) return nullptr;
  const auto& gains = truth.label->gains;
  const auto it =
      std::find_if(gains.begin(), gains.end(), [&](const TrueGain& g) { return g.fix == fix; });
  return it != gains.end() ? &*it : nullptr;
}

const TrueGain* best_of(const Truth& truth) {
  const TrueGain* best = nullptr;
  if (!truth.label) return best;
  for (const TrueGain& g : truth.label->gains) {
    if (g.gain && (best == nullptr || *g.gain > *best->gain)) best = &g;
  }
  return best;
}

std::string speed_text(double gain) { return fmt::format("{:.2f}x", gain); }

std::string ran(const TrueGain& run) {
  return fmt::format("run with {}, the speed is {}", intervention(run.fix).how,
                     speed_text(*run.gain));
}

/// "; graph_capture brings 1.41x", unless it is the one in question.
std::string beside_best(const Truth& truth, std::string_view fix) {
  const TrueGain* best = best_of(truth);
  if (best == nullptr || best->fix == fix || *best->gain < kWorthwhile) return "";
  return fmt::format("; {} brings {}", best->fix, speed_text(*best->gain));
}

std::string why_not(const TrueGain& run) {
  return fmt::format("{}: {}", intervention(run.fix).how, run.why_not);
}

/// Whether it is known that nothing comes of it because nothing can be changed.
bool cannot_be(const TrueGain& run) {
  const Intervention& change = intervention(run.fix);
  return !run.gain && change.overrides != nullptr && !change.assumed;
}

std::string_view improved(Resource resource) {
  switch (resource) {
    case Resource::matrix_rate:
      return "1 % more matrix rate";
    case Resource::hbm_bandwidth:
      return "1 % more HBM bandwidth";
    case Resource::launch_and_host:
      return "launches and host 1 % faster";
    case Resource::links:
      return "links 1 % faster";
    case Resource::kernels:
      return "kernels 1 % nearer to their floor";
    case Resource::capacity:
      return "1 % more KV blocks";
    case Resource::load:
      return "1 % more load";
  }
  return "";
}

/// An elasticity is the gain by so much of a per cent for one per cent.
std::string response(const Label& label, Resource resource) {
  const double percent = label[resource];
  return fmt::format("{} from {}",
                     std::abs(percent) < 0.005 ? "nothing" : fmt::format("{:.2f} %", percent),
                     improved(resource));
}

std::optional<Resource> resource_of(Regime regime) {
  switch (regime) {
    case Regime::compute_bound:
      return Resource::matrix_rate;
    case Regime::bandwidth_bound:
      return Resource::hbm_bandwidth;
    case Regime::capacity_bound:
      return Resource::capacity;
    case Regime::overhead_bound:
      return Resource::launch_and_host;
    case Regime::communication_bound:
      return Resource::links;
    case Regime::kernel_inefficiency:
      return Resource::kernels;
    case Regime::load_bound:
      return Resource::load;
    case Regime::transfer_bound:
    case Regime::mixed:
      break;
  }
  return std::nullopt;
}

/// The two of a step's own that the speed follows most.
std::vector<Resource> strongest(const Label& label) {
  std::vector<Resource> all;
  for (std::size_t i = 0; i < kResources; ++i) {
    const auto r = static_cast<Resource>(i);
    if (r != Resource::capacity && r != Resource::load) all.push_back(r);
  }
  std::stable_sort(all.begin(), all.end(),
                   [&](Resource a, Resource b) { return label[a] > label[b]; });
  all.resize(2);
  return all;
}

/// What the speed responds to: the right regime's resource, then the one that was answered, or the
/// strongest beside it.
std::string responses(const Label& label, Regime right, Regime answered) {
  std::vector<Resource> told;
  const auto tell = [&](Resource r) {
    if (std::find(told.begin(), told.end(), r) == told.end()) told.push_back(r);
  };
  for (const Regime regime : {right, answered}) {
    if (const auto resource = resource_of(regime)) tell(*resource);
  }
  const std::size_t enough = std::max<std::size_t>(told.size(), 2);
  for (const Resource r : strongest(label)) {
    if (told.size() < enough) tell(r);
  }
  std::string out = "its speed gains ";
  for (std::size_t i = 0; i < told.size(); ++i)
    out += (i == 0 ? "" : i + 1 < told.size() ? ", " : " and ") + response(label, told[i]);
  const auto concerns = [&](Regime regime) { return right == regime || answered == regime; };
  if (concerns(Regime::kernel_inefficiency)) {
    out += fmt::format(
        "; its kernels spend {} of their time at what the machine sustains, and below 40 % the "
        "kernels are what is wrong",
        diagnosis::percent_text(label.near_roof));
  }
  if (concerns(Regime::load_bound))
    out += fmt::format("; no step runs for {} of the time", diagnosis::percent_text(label.idle));
  if (right == Regime::capacity_bound)
    out += "; the blocks set how many sequences share a step, and all else follows";
  return out;
}

}  // namespace

std::optional<double> Truth::gain_of(std::string_view fix) const {
  const TrueGain* run = run_of(*this, fix);
  return run != nullptr ? run->gain : std::nullopt;
}

bool Truth::knows(std::string_view fix) const {
  if (find(fixes, fix) != nullptr || find(rejects, fix) != nullptr) return true;
  const TrueGain* run = run_of(*this, fix);
  return run != nullptr && (run->gain || cannot_be(*run));
}

Mark Truth::of_regime(Regime regime) const {
  const Regime right = regimes.front();
  const std::string reason = label ? responses(*label, right, regime) : why;
  if (regime == right) return {Verdict::right, reason};
  if (std::find(regimes.begin(), regimes.end(), regime) != regimes.end()) {
    return {Verdict::near_tie, fmt::format("as good as {}: {}", diagnosis::name_of(right), reason)};
  }
  return {Verdict::wrong, fmt::format("it is {}: {}", diagnosis::name_of(right), reason)};
}

Mark Truth::of_fix(std::string_view fix) const {
  if (const Listed* listed = find(rejects, fix)) return {Verdict::wrong, listed->why};
  if (const Listed* listed = find(fixes, fix)) return {Verdict::right, listed->why};
  const TrueGain* run = run_of(*this, fix);
  if (run == nullptr) return {Verdict::wrong, "nothing that is known of this server speaks for it"};
  if (!run->gain) return {Verdict::wrong, why_not(*run) + beside_best(*this, fix)};
  const double best = *best_of(*this)->gain;
  const bool good =
      *run->gain >= kWorthwhile && std::log(*run->gain) >= kNearlyAsGood * std::log(best);
  return {good ? Verdict::right : Verdict::wrong, ran(*run) + beside_best(*this, fix)};
}

Mark Truth::of_reject(std::string_view fix) const {
  if (const Listed* listed = find(fixes, fix)) return {Verdict::wrong, "it helps: " + listed->why};
  if (const Listed* listed = find(rejects, fix)) return {Verdict::right, listed->why};
  const TrueGain* run = run_of(*this, fix);
  if (run == nullptr)
    return {Verdict::wrong, "nothing that is known of this server speaks against it"};
  if (!run->gain) return {Verdict::right, why_not(*run)};
  return *run->gain < kWorthwhile
             ? Mark{Verdict::right, ran(*run) + ": less than 5 % is not worth its trouble"}
             : Mark{Verdict::wrong, ran(*run) + ": that is worth having"};
}

}  // namespace ridgeline::whatif
