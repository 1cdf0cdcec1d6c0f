#include "timeline/periodicity.hpp"

#include <algorithm>
#include <set>

namespace ridgeline::timeline {
namespace {

constexpr double kAgreement = 0.9;       // steps differ in a kernel or two
constexpr double kOnceOnly = 0.01;       // of the time
constexpr std::size_t kCandidates = 24;  // periods tried; each is one pass

double agreement_at(const std::vector<std::uint32_t>& names, std::size_t period) {
  if (period == 0 || period >= names.size()) return 0.0;
  std::size_t same = 0;
  for (std::size_t i = period; i < names.size(); ++i) same += names[i] == names[i - period] ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(names.size() - period);
}

struct Marker {
  std::size_t length = 0;
  std::vector<std::size_t> at;
};

/// Names that stand at nearly equal distances, rarest first.
std::vector<Marker> evenly_spaced(const std::vector<std::vector<std::size_t>>& places) {
  std::vector<Marker> markers;
  for (const std::vector<std::size_t>& at : places) {
    if (at.size() < 2) continue;
    std::vector<std::size_t> distances;
    for (std::size_t i = 1; i < at.size(); ++i) distances.push_back(at[i] - at[i - 1]);
    std::nth_element(distances.begin(),
                     distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2),
                     distances.end());
    const std::size_t middle = distances[distances.size() / 2];
    const auto near = std::count_if(distances.begin(), distances.end(), [&](std::size_t d) {
      return 10 * d >= 9 * middle && 10 * d <= 11 * middle;
    });
    if (middle >= 2 && 10 * static_cast<std::size_t>(near) >= 9 * distances.size())
      markers.push_back({middle, at});
  }
  std::stable_sort(markers.begin(), markers.end(),
                   [](const Marker& a, const Marker& b) { return a.length > b.length; });
  return markers;
}

}  // namespace

std::optional<Period> find_period(const std::vector<std::uint32_t>& names,
                                  const std::vector<std::int64_t>& durations) {
  if (names.size() < 4) return std::nullopt;
  std::vector<std::vector<std::size_t>> places(*std::max_element(names.begin(), names.end()) +
                                               std::size_t{1});
  for (std::size_t i = 0; i < names.size(); ++i) places[names[i]].push_back(i);

  Period best;
  double top = 0.0;
  std::set<std::size_t> tried;
  for (const Marker& marker : evenly_spaced(places)) {
    if (tried.contains(marker.length)) continue;
    if (tried.size() == kCandidates) break;
    tried.insert(marker.length);
    const double agreement = agreement_at(names, marker.length);
    if (agreement < kAgreement) continue;
    // Longest first: a shorter one must be as good to the last kernel, as it is when the longer one
    // is a multiple of it.
    if (best.length == 0 || agreement > top - 0.002) best = {marker.length, agreement, marker.at};
    top = std::max(top, agreement);
  }
  if (best.length == 0) return std::nullopt;

  const std::size_t periods = names.size() / best.length;
  if (periods < 2) return std::nullopt;
  double all = 0.0;
  double rare = 0.0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    all += static_cast<double>(durations[i]);
    if (places[names[i]].size() * 2 < periods) rare += static_cast<double>(durations[i]);
  }
  if (rare > kOnceOnly * all) return std::nullopt;
  return best;
}

}  // namespace ridgeline::timeline
