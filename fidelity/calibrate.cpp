#include "fidelity/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/error.hpp"
#include "fidelity/validate_files.hpp"

namespace ridgeline::fidelity {
namespace {

constexpr std::size_t kMostRows = 1500;  // of one place: more say nothing new about six constants

constexpr double kImpossible = 5.0;  // residual: a factor of 150

/// Constants that a fit may move, by the last part of their path. What is assumed stays.
struct Movable {
  std::string_view key;
  bool fraction;  // never above 1
};
constexpr Movable kMovable[] = {
    {"rate", true},
    {"sustained", true},
    {"ramp", false},
    {"extra_k", false},
    {"workgroup_bandwidth", false},
    {"fixed", false},
    {"split_cost", false},
    {"step_edge", false},
    {"exposed", false},
    {"throttle", true},
    {"accumulate", false},
    {"bandwidth", true},
    {"link_efficiency", true},
    {"per_peer", false},
    {"fill_share", false},
    {"fill_piece", false},
    {"local_rate", false},
    {"codec_fixed", false},
    {"codec_rate", false},
    {"tile_load", false},
    {"stream", true},
    {"combine", false},
    {"pack", false},
    {"tail", true},
};

/// "67.2 GB/s" as 67.2 and " GB/s".
struct Written {
  double number = 0.0;
  std::string unit;
};
std::optional<Written> written(const std::string& text) {
  Written w;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), w.number);
  if (error != std::errc{} || !std::isfinite(w.number)) return std::nullopt;
  w.unit.assign(end, text.data() + text.size());
  return w;
}

const core::Node* at(const core::Node& root, const std::string& path) {
  const core::Node* node = &root;
  for (std::size_t begin = 0; node != nullptr && begin <= path.size();) {
    const std::size_t dot = std::min(path.find('.', begin), path.size());
    node = node->find(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return node;
}

std::string text_of(double value, const std::string& unit) {
  return fmt::format("{:.4g}{}", value, unit);
}

/// As YAML has text that may hold anything.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

struct Moved {
  std::string path;
  std::string unit;
  Constant constant;
};

/// The movable constants of a place: those that are written there, above zero; a map of them (rates
/// by dtype) is one each.
void collect(const core::Node& node, const std::string& path, std::vector<Moved>& out) {
  constexpr double kRange = 20.0;  // either way from where the fit starts
  for (const Movable& movable : kMovable) {
    const core::Node* value = node.find(movable.key);
    if (value == nullptr) continue;
    const std::string where = path + "." + std::string(movable.key);
    const auto take = [&](const core::Node& scalar, const std::string& at_path) {
      const auto w = written(scalar.scalar);
      if (!w || w->number <= 0.0) return;
      double high = w->number * kRange;
      if (movable.fraction) high = std::max(1.0, w->number);
      if (w->number >= high) return;  // at its bound, by choice
      out.push_back({at_path, w->unit, {at_path, w->number, w->number / kRange, high}});
    };
    if (value->kind == core::Node::Kind::map) {
      for (const auto& [key, entry] : value->entries) take(entry, where + "." + key);
    } else {
      take(*value, where);
    }
  }
}

}  // namespace

Calibrator::Calibrator(const core::ConfigLibrary& library, std::string hw, bool every_row)
    : library_(library), hw_(std::move(hw)), every_row_(every_row) {
  document_ = machine_document(library_, hw_);
}

void Calibrator::add(const Operation& operation, Table table) {
  operations_.push_back(&operation);
  tables_.push_back(std::move(table));
}

void Calibrator::add_files(const std::vector<std::filesystem::path>& data) {
  bool any = false;
  for (const std::filesystem::path& path : data) {
    for (const std::filesystem::path& file : tables_in(path)) {
      Table table = load_table(file);
      const Operation* operation = recognize(table);
      if (operation == nullptr) continue;
      add(*operation, std::move(table));
      any = true;
    }
  }
  if (!any) throw core::ConfigError(no_table(data));
}

std::vector<Calibration> Calibrator::run(const std::string& only) {
  Machines machines(library_, every_row_ ? std::optional<std::string>(hw_) : std::nullopt);
  const hw::GpuSpec& mine = machines.named(hw_);
  std::vector<std::string> order;
  std::vector<std::string> passed_over;  // places that `only` does not name
  std::map<std::string, std::vector<Sample>> places;
  bool spoken_of = false;  // by a row of no use
  std::string why_not;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    for (std::size_t i = 0; i < tables_[t].rows.size(); ++i) {
      const Row row(tables_[t], i);
      try {
        const auto measured = operations_[t]->measured(row);
        if (&machine_of(row, machines) != &mine) continue;
        spoken_of = true;
        if (!measured || !(*measured > 0.0)) continue;
        // Nothing to learn from what takes no time, like a collective of one GPU.
        if (operations_[t]->predict(row, machines).seconds <= 0.0) continue;
        const std::string place = operations_[t]->constants(row, mine);
        if (place.find(only) == std::string::npos) {
          if (std::find(passed_over.begin(), passed_over.end(), place) == passed_over.end())
            passed_over.push_back(place);
          continue;
        }
        auto& samples = places[place];
        if (samples.empty()) order.push_back(place);
        samples.push_back({operations_[t], t, i, *measured, held_back(row.cells())});
      } catch (const core::ConfigError& error) {  // of another kind, or one nobody can predict
        if (spoken_of && why_not.empty()) why_not = error.what();
      }
    }
  }
  if (order.empty() && passed_over.empty() && spoken_of)
    throw core::ConfigError("rows speak of " + hw_ + ", but none has a measured time above 0" +
                            (why_not.empty() ? "" : "; the first: " + why_not));
  if (order.empty() && passed_over.empty())
    throw core::ConfigError("no row speaks of " + hw_ +
                            "; --every-row takes all rows for this machine's");
  if (order.empty())
    throw core::ConfigError(
        fmt::format("--only: no place that prices a row has '{}' in its name; "
                    "there are {}",
                    only, fmt::join(passed_over, ", ")));
  std::vector<Calibration> out;
  for (const std::string& place : order) out.push_back(fit_place(place, places[place]));
  return out;
}

Calibration Calibrator::fit_place(const std::string& place, const std::vector<Sample>& samples) {
  Calibration result;
  result.place = place;
  result.operation = std::string(samples.front().operation->name);
  const core::Node* node = at(document_, place);
  std::vector<Moved> moved;
  if (node != nullptr && node->kind == core::Node::Kind::map) collect(*node, place, moved);

  const auto machine = [&](const core::Node& document) {
    const core::Reader in(document, "hw");
    return hw::read_gpu_spec(in);
  };
  Machines machines(library_, hw_);
  const auto ratios = [&](const core::Node& document, bool held) {
    machines.replace(hw_, machine(document));
    std::vector<double> r;
    for (const Sample& s : samples) {
      if (s.held_back == held)
        r.push_back(s.operation->predict(Row(tables_[s.table], s.row), machines).seconds /
                    s.measured);
    }
    return summarize_errors(r);
  };
  result.before = ratios(document_, false);
  result.held_before = ratios(document_, true);
  result.after = result.before;
  result.held_after = result.held_before;

  std::vector<const Sample*> fitted;
  for (const Sample& s : samples) {
    if (!s.held_back) fitted.push_back(&s);
  }
  if (const std::size_t stride = (fitted.size() + kMostRows - 1) / kMostRows; stride > 1) {
    std::vector<const Sample*> thinned;
    for (std::size_t i = 0; i < fitted.size(); i += stride) thinned.push_back(fitted[i]);
    fitted = std::move(thinned);
  }
  result.fitted_rows = fitted.size();
  if (moved.empty()) {
    result.why_not = "the machine's file has no constants there";
    return result;
  }
  if (fitted.size() < moved.size() + 2) {
    result.why_not = fmt::format("{} rows for {} constants", fitted.size(), moved.size());
    return result;
  }

  std::vector<Constant> constants;
  for (const Moved& m : moved) constants.push_back(m.constant);
  const auto with = [&](const std::vector<double>& values) {
    core::Node document = document_;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      core::set_path(document, moved[i].path, fmt::format("{:.9g}{}", values[i], moved[i].unit),
                     "fit");
    }
    return document;
  };
  const FitResult best =
      fit(constants, fitted.size(),
          [&](const std::vector<double>& values, std::vector<double>& residuals) {
            try {
              machines.replace(hw_, machine(with(values)));
            } catch (const core::ConfigError&) {  // constants that make no machine
              std::fill(residuals.begin(), residuals.end(), kImpossible);
              return;
            }
            for (std::size_t i = 0; i < fitted.size(); ++i) {
              const Sample& s = *fitted[i];
              const Prediction p = s.operation->predict(Row(tables_[s.table], s.row), machines);
              residuals[i] = std::log(p.seconds / s.measured);
            }
          });
  std::vector<double> values;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const Fitted& f = best.constants[i];
    values.push_back(f.value);
    result.constants.push_back({moved[i].path, text_of(moved[i].constant.start, moved[i].unit),
                                text_of(f.value, moved[i].unit), f.error, f.at_bound});
  }
  const core::Node document = with(values);
  result.after = ratios(document, false);
  result.held_after = ratios(document, true);
  document_ = document;
  return result;
}

core::Node Calibrator::overlay(const std::vector<Calibration>& calibrations) const {
  core::Node out;
  out.kind = core::Node::Kind::map;
  // A path is relative to the file that says it, and nobody knows yet where this one will stand.
  const std::string base =
      core::is_path(hw_) ? std::filesystem::absolute(hw_).lexically_normal().string() : hw_;
  core::set_path(out, "base", in_quotes(base), "fit");
  const bool moved = std::any_of(calibrations.begin(), calibrations.end(),
                                 [](const Calibration& c) { return !c.constants.empty(); });
  if (const core::Node* name = document_.find("name"); name != nullptr && moved)
    core::set_path(out, "name", in_quotes(name->scalar + ", fitted"), "fit");
  for (const Calibration& c : calibrations) {
    for (const Recalibrated& constant : c.constants)
      core::set_path(out, constant.path, constant.fitted, "fit");
    if (c.constants.empty()) continue;
    std::string source = fmt::format("{} rows, median {:.1f} %, p90 {:.1f} %", c.fitted_rows,
                                     100.0 * c.after.median, 100.0 * c.after.p90);
    if (c.held_after.rows > 0)
      source += fmt::format("; {} held back, {:.1f} %, {:.1f} %", c.held_after.rows,
                            100.0 * c.held_after.median, 100.0 * c.held_after.p90);
    std::string key = c.place;
    std::replace(key.begin(), key.end(), '.', '_');
    core::set_path(out, "sources.fitted_" + key, in_quotes(source), "fit");
  }
  return out;
}

nlohmann::json to_json(const std::vector<Calibration>& calibrations) {
  nlohmann::json out = nlohmann::json::array();
  for (const Calibration& c : calibrations) {
    nlohmann::json constants = nlohmann::json::array();
    for (const Recalibrated& constant : c.constants) {
      constants.push_back(
          {{"path", constant.path},
           {"shipped", constant.shipped},
           {"fitted", constant.fitted},
           {"relative_error",
            std::isfinite(constant.error) ? nlohmann::json(constant.error) : nlohmann::json()},
           {"at_bound", constant.at_bound}});
    }
    nlohmann::json entry{{"place", c.place},
                         {"operation", c.operation},
                         {"fitted_rows", c.fitted_rows},
                         {"constants", std::move(constants)},
                         {"shipped", to_json(c.before)},
                         {"fitted", to_json(c.after)},
                         {"shipped_held_back", to_json(c.held_before)},
                         {"fitted_held_back", to_json(c.held_after)}};
    if (!c.why_not.empty()) entry["why_not"] = c.why_not;
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace ridgeline::fidelity
