#include "fidelity/validate.hpp"

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace ridgeline::fidelity {
nlohmann::json to_json(const ErrorSummary& s) {
  return {{"rows", s.rows},
          {"median_error", s.median},
          {"p90_error", s.p90},
          {"bias", s.bias},
          {"beyond_twice", s.beyond_twice}};
}

ErrorSummary Group::errors(bool held) const {
  std::vector<double> ratios;
  for (const Compared& row : rows) {
    if (row.held_back == held) ratios.push_back(row.ratio());
  }
  return summarize_errors(ratios);
}

double Group::share_inside() const {
  if (rows.empty()) return 0.0;
  const auto inside =
      std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.inside; });
  return static_cast<double>(inside) / static_cast<double>(rows.size());
}

std::size_t Group::below_floor() const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.below_floor; }));
}

const Operation* recognize(const Table& table) {
  const auto found =
      std::find_if(operations().begin(), operations().end(), [&](const Operation& operation) {
        return std::all_of(operation.required.begin(), operation.required.end(),
                           [&](std::string_view c) { return c.empty() || table.column(c); });
      });
  return found == operations().end() ? nullptr : &*found;
}

std::vector<Group> validate(const Operation& operation, const Table& table, Machines& machines) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    std::optional<double> measured;
    try {
      measured = operation.measured(row);
    } catch (const core::ConfigError&) {  // a row of another kind, without the shape
    }
    if (!measured || *measured <= 0.0) continue;
    const std::string name = operation.group(row);
    const auto [it, fresh] = index.try_emplace(name, groups.size());
    if (fresh) groups.push_back({std::string(operation.name), name, {}, 0, {}});
    Group& group = groups[it->second];
    try {
      const Prediction p = operation.predict(row, machines);
      Compared compared;
      compared.place = row.place();
      compared.measured = *measured;
      compared.predicted = p.seconds;
      compared.held_back = held_back(row.cells());
      compared.inside = *measured >= p.low() && *measured <= p.high();
      constexpr double kRounding = 1e-9;
      compared.below_floor = p.seconds < p.floor * (1.0 - kRounding);
      compared.extrapolated =
          std::find(p.flags.begin(), p.flags.end(), "extrapolated") != p.flags.end();
      group.rows.push_back(std::move(compared));
    } catch (const std::exception& error) {
      if (group.not_predicted++ == 0) group.why_not = error.what();
    }
  }
  return groups;
}

std::vector<std::filesystem::path> tables_in(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(path)) return {path};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    const auto extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".csv" || extension == ".jsonl"))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

nlohmann::json to_json(const std::vector<Group>& groups) {
  nlohmann::json out = nlohmann::json::array();
  for (const Group& group : groups) {
    nlohmann::json entry{{"set", group.set},
                         {"group", group.name},
                         {"fitted", to_json(group.errors(false))},
                         {"held_back", to_json(group.errors(true))},
                         {"inside_interval", group.share_inside()},
                         {"below_floor", group.below_floor()},
                         {"not_predicted", group.not_predicted}};
    if (!group.why_not.empty()) entry["why_not"] = group.why_not;
    nlohmann::json misses = nlohmann::json::array();
    for (const Compared& row : group.rows) {
      if (row.ratio() > 2.0 || row.ratio() < 0.5) {
        misses.push_back(
            {{"place", row.place}, {"measured", row.measured}, {"predicted", row.predicted}});
      }
    }
    entry["misses_beyond_twice"] = std::move(misses);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace ridgeline::fidelity
