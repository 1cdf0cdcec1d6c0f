#include "core/error.hpp"

#include <algorithm>
#include <cctype>

namespace ridgeline::core {
namespace {

/// Typing slips between two words: a letter too many, one missing, a wrong one, or two neighbours
/// swapped.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [&](std::size_t i, std::size_t j) {
    return std::tolower(static_cast<unsigned char>(a[i - 1])) ==
           std::tolower(static_cast<unsigned char>(b[j - 1]));
  };
  std::vector<std::size_t> before;  // rows of the table of distances between the words' beginnings
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same(i, j) ? 0U : 1U)});
      if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestName = 200;  // beyond this nothing a person typed is meant
  if (typed.empty() || typed.size() > kLongestName) return "";
  std::string best;
  // A third of the word may be wrong, two letters of a short one, one of a very short one, but
  // never all of it.
  const std::size_t slips = typed.size() < 4 ? 1 : std::max<std::size_t>(2, typed.size() / 3);
  std::size_t best_distance = std::min(slips + 1, typed.size());
  for (const std::string& name : known) {
    // A name that holds the typed word whole (bandwidth, peak_bandwidth) is as near as one typing
    // slip.
    const bool holds = typed.size() >= 4 && (name.find(typed) != std::string::npos);
    const std::size_t distance = holds ? 1 : edit_distance(typed, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view typed, const std::vector<std::string>& known) {
  if (const std::string near = nearest_name(typed, known); !near.empty())
    return "; did you mean '" + near + "'?";
  if (known.empty()) return "";
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  return "; known: " + list;
}

}  // namespace ridgeline::core
