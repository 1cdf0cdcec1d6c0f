#include "fidelity/launch_table.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <charconv>
#include <optional>

namespace ridgeline::fidelity {
namespace {

struct Source {
  std::string_view key;
  std::string_view what;
};
// Which row each figure is: timestamps of the profiler, so that none includes another.
constexpr Source kSources[] = {
    {"issue", "issue, torch operator"},
    {"doorbell", "launch call to kernel start, idle device"},
    {"dispatch", "gap between kernels, queued"},
    {"floor", "shortest kernel, queued"},
    {"graph_dispatch", "gap between kernels, in a graph"},
    {"graph_floor", "shortest kernel, in a graph"},
};

std::optional<double> seconds_of(const Row& row) {
  const auto value = row.maybe("value");
  if (!value || *value < 0.0 || row.text("unit") != "us") return std::nullopt;
  return *value * 1e-6;
}

/// N of "graph of N kernels, submit".
std::optional<double> submitted_nodes(std::string_view what) {
  constexpr std::string_view kHead = "graph of ";
  if (!what.starts_with(kHead) || !what.ends_with(" kernels, submit")) return std::nullopt;
  what.remove_prefix(kHead.size());
  double nodes = 0.0;
  const auto [end, error] = std::from_chars(what.data(), what.data() + what.size(), nodes);
  return error == std::errc{} && end != what.data() ? std::optional(nodes) : std::nullopt;
}

}  // namespace

bool is_launch_table(const Table& table) {
  return table.column("what") && table.column("value") && table.column("unit") &&
         !table.column("level");
}

std::vector<LaunchFigure> launch_figures(const Table& table) {
  std::vector<LaunchFigure> figures;
  std::vector<std::pair<double, double>> submissions;  // nodes, seconds
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    const auto seconds = seconds_of(row);
    if (!seconds) continue;
    for (const Source& source : kSources) {
      if (row.text("what") == source.what)
        figures.push_back({std::string(source.key), *seconds, std::string(source.what)});
    }
    if (const auto nodes = submitted_nodes(row.text("what")))
      submissions.emplace_back(*nodes, *seconds);
  }
  if (submissions.size() >= 3) {
    const auto n = static_cast<Eigen::Index>(submissions.size());
    Eigen::MatrixXd a(n, 2);
    Eigen::VectorXd b(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto& [nodes, seconds] = submissions[static_cast<std::size_t>(i)];
      a(i, 0) = 1.0;
      a(i, 1) = nodes;
      b[i] = seconds;
    }
    const Eigen::VectorXd line = a.colPivHouseholderQr().solve(b);
    const std::string from = fmt::format("{} submissions of graphs", submissions.size());
    if (line[0] >= 0.0) figures.push_back({"graph_submit", line[0], from});
    if (line[1] >= 0.0) figures.push_back({"graph_node", line[1], from});
  }
  return figures;
}

core::Node launch_overlay(const std::vector<LaunchFigure>& figures, const std::string& base) {
  core::Node out;
  out.kind = core::Node::Kind::map;
  core::set_path(out, "base", base, "measured");
  core::set_path(out, "name", "'" + base + ", launches as measured'", "measured");
  for (const LaunchFigure& figure : figures) {
    core::set_path(out, "launch." + figure.key, fmt::format("{:.4g} us", figure.seconds * 1e6),
                   "measured");
    core::set_path(out, "sources.launch_" + figure.key, "'" + figure.from + "'", "measured");
  }
  return out;
}

}  // namespace ridgeline::fidelity
