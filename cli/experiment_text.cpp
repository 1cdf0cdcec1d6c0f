#include "cli/experiment_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/cause_words.hpp"
#include "cli/table.hpp"
#include "diagnosis/prose.hpp"
#include "whatif/figures.hpp"

namespace ridgeline::cli {
namespace {

using whatif::Experiment;
using whatif::Variant;

constexpr std::array kCompared{"request_throughput",
                               "output_throughput",
                               "output_throughput_per_gpu",
                               "training_throughput",
                               "median_ttft_ms",
                               "p99_ttft_ms",
                               "median_tpot_ms",
                               "p99_itl_ms",
                               "mean_e2el_ms",
                               "mean_step_ms",
                               "mean_batch",
                               "preemptions",
                               "weight_bytes",
                               "kv_cache_tokens",
                               "peak_kv_usage",
                               "usd_per_million_output_tokens",
                               "joules_per_output_token"};

/// A name as people read it, with its unit: "median ttft", "ms".
std::string label_of(const whatif::Figure& figure) {
  std::string name(figure.name);
  std::replace(name.begin(), name.end(), '_', ' ');
  if (name.ends_with(" ms")) name.resize(name.size() - 3);
  return figure.unit == "1" ? name : fmt::format("{} [{}]", name, figure.unit);
}

std::string factor(double after, double before) {
  if (before == 0.0 || !std::isfinite(after / before)) return "";
  const double ratio = after / before;
  return std::abs(ratio - 1.0) < 0.005 ? "=" : fmt::format("{:.2f}x", ratio);
}

/// The columns that can be shown: those that ran.
std::vector<const Variant*> shown(const Experiment& e) {
  std::vector<const Variant*> out;
  for (const Variant& v : e.variants) {
    if (v.ran()) out.push_back(&v);
  }
  return out;
}

Table table_for(const std::vector<const Variant*>& columns, std::string first) {
  std::vector<std::string> header{std::move(first), columns.front()->name};
  for (std::size_t i = 1; i < columns.size(); ++i) {
    header.push_back(columns[i]->name);
    header.emplace_back("");
  }
  return Table(std::move(header));
}

std::string text_of(const Table& table, std::size_t columns) {
  std::vector<std::size_t> right;
  for (std::size_t i = 1; i < 2 * columns; ++i) right.push_back(i);
  return table.text(right);
}

std::string figures_text(const std::vector<const Variant*>& columns, bool all) {
  Table table = table_for(columns, "");
  const auto figures = whatif::figures();
  for (std::size_t f = 0; f < figures.size(); ++f) {
    const bool wanted =
        all || std::find(kCompared.begin(), kCompared.end(), figures[f].name) != kCompared.end();
    const auto there = [f](const Variant* v) { return v->figures[f].has_value(); };
    if (!wanted || std::none_of(columns.begin(), columns.end(), there)) continue;
    const std::optional<double> before = columns.front()->figures[f];
    std::vector<std::string> row{label_of(figures[f]), before ? number(*before) : "-"};
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const std::optional<double> after = columns[i]->figures[f];
      row.push_back(after ? number(*after) : "-");
      row.push_back(after && before ? factor(*after, *before) : "");
    }
    table.add(std::move(row));
  }
  return text_of(table, columns.size());
}

/// Seconds of a cause that one unit of output took; the last "cause" is idling.
double seconds_each(const Variant& v, std::size_t cause) {
  const core::Nanoseconds time = cause < hw::kCauses ? v.ledger.by_cause[cause] : v.idle;
  return time.seconds().value() / v.units;
}

std::string ledger_text(const Experiment& e, const std::vector<const Variant*>& columns) {
  const bool training = e.objective == whatif::Objective::training_rate;
  Table table = table_for(columns, training ? "time of a step" : "time an output token");
  double whole = 0.0;
  for (std::size_t c = 0; c <= hw::kCauses; ++c) whole += seconds_each(*columns.front(), c);
  constexpr double kWorthALine = 0.005;  // of the whole, where it stands or by which it moved
  std::vector<std::pair<double, std::vector<std::string>>> rows;
  for (std::size_t c = 0; c <= hw::kCauses; ++c) {
    const double before = seconds_each(*columns.front(), c);
    double most = before;
    double moved = 0.0;
    const std::string_view words = c < hw::kCauses ? kCauseWords[c] : kIdleWords;
    std::vector<std::string> row{std::string(words), duration(before)};
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const double after = seconds_each(*columns[i], c);
      most = std::max(most, after);
      moved = std::max(moved, std::abs(after - before));
      const double points = 100.0 * (after - before) / whole;
      row.push_back(duration(after));
      row.push_back(std::abs(points) < 0.05 ? "=" : fmt::format("{:+.1f} %", points));
    }
    if (most >= kWorthALine * whole) rows.emplace_back(moved, std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [moved, row] : rows) table.add(std::move(row));
  return text_of(table, columns.size());
}

std::string bound_by(const Variant& v) {
  if (!v.diagnosis) return "nothing ran";
  return fmt::format("{} / {} ({:.0f} %)", name_of(v.diagnosis->regime),
                     name_of(v.diagnosis->phase), 100.0 * v.diagnosis->confidence);
}

std::string range(const core::Interval& i) {
  return fmt::format("{:.2f}x to {:.2f}x", i.low, i.high);
}

std::string verdict(const whatif::Prediction& p) {
  if (!p.judged) return "-";
  const double percent = 100.0 * std::abs(p.miss());
  if (percent < 0.5) return "as predicted";
  return fmt::format("{:.0f} % {}", percent, p.miss() > 0.0 ? "more" : "less");
}

std::string predictions_text(const Experiment& e) {
  if (e.predictions.empty()) return "";
  Table table({"what the diagnosis had said", "", "predicted", "measured", ""});
  std::string notes;
  for (const whatif::Prediction& p : e.predictions) {
    table.add({p.fix, p.place, range(p.speedup),
               p.measured ? fmt::format("{:.2f}x", *p.measured) : "not run", verdict(p)});
    if (!p.note.empty()) notes += diagnosis::wrapped(fmt::format("  {}: {}", p.fix, p.note), 4);
  }
  return "\n" + table.text({2, 3}) + notes;
}

std::string objective_words(whatif::Objective objective) {
  switch (objective) {
    case whatif::Objective::output_rate:
      return "output tokens a second";
    case whatif::Objective::first_token:
      return "time to first token";
    case whatif::Objective::latency:
      return "time to the last token";
    case whatif::Objective::training_rate:
      return "tokens trained on a second";
  }
  return "";
}

}  // namespace

std::string to_text(const Experiment& e, bool all) {
  const auto columns = shown(e);
  std::string out = fmt::format("{}, by {}\n\n", e.scenario, objective_words(e.objective));
  for (const Variant& v : e.variants) {
    if (!v.ran()) {
      out += diagnosis::wrapped(fmt::format("{}: cannot run: {}", v.name, v.cannot_run), 4) + "\n";
      continue;
    }
    if (&v == &e.variants.front()) continue;
    for (const whatif::NamedChange& change : v.changes) {
      if (change.effect.overrides.empty())
        out += fmt::format("  {}: changes nothing here: it is so already, or cannot be\n",
                           change.name);
    }
  }
  out += figures_text(columns, all) + "\n";
  out += ledger_text(e, columns) + "\n";
  Table bound({"", "speed", "binds"});
  for (const Variant* v : columns)
    bound.add({v->name, v == columns.front() ? "" : fmt::format("{:.2f}x", v->gain), bound_by(*v)});
  return out + bound.text({1}) + predictions_text(e);
}

}  // namespace ridgeline::cli
