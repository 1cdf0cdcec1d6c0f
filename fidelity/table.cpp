#include "fidelity/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <regex>

#include "core/error.hpp"
#include "timeline/readers/input.hpp"
#include "timeline/readers/profiler_csv.hpp"

namespace ridgeline::fidelity {

std::optional<std::size_t> Table::column(std::string_view wanted) const {
  const auto it = std::find(header.begin(), header.end(), wanted);
  if (it == header.end()) return std::nullopt;
  return static_cast<std::size_t>(it - header.begin());
}

std::size_t Table::required(std::string_view wanted) const {
  if (const auto found = column(wanted)) return *found;
  throw core::ConfigError(name + ": no column '" + std::string(wanted) + "'" +
                          core::suggestion(std::string(wanted), header));
}

Table parse_table(std::string_view text, const std::string& name) {
  Table table;
  table.name = name;
  timeline::ProfilerCsv csv(table.name, text);
  for (const std::string_view h : csv.header()) table.header.emplace_back(h);
  const std::size_t width = table.header.size();
  static_cast<void>(csv.for_each_row([&] {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (std::size_t i = 0; i < width; ++i) cells.emplace_back(csv.text(i));
  }));
  return table;
}

void Table::require_known(std::string_view wanted) const {
  if (beside.find(wanted) == beside.end()) static_cast<void>(required(wanted));
}

namespace {

/// Engines' layers are profiled into a folder a machine, model and split:
/// "RTX4090_Llama-3.1-8B_tp1" (LLMServingSim's layout).
void read_folder(const std::filesystem::path& file, Table& table) {
  const auto has = [&](std::string_view column) { return table.column(column).has_value(); };
  if (!has("layer") && !has("prefill_chunk") && !has("activated_experts")) return;
  static const std::regex layout("([^_]+)_(.+)_tp([0-9]+)");
  const std::string folder =
      std::filesystem::absolute(file).lexically_normal().parent_path().filename().string();
  std::smatch parts;
  if (!std::regex_match(folder, parts, layout)) return;
  table.beside = {{"hw", parts[1]}, {"model", parts[2]}, {"tp", parts[3]}};
}

}  // namespace

Table load_table(const std::filesystem::path& path) {
  const std::string name = path == "-" ? "standard input" : path.string();
  Table table = parse_table(timeline::load_input(path, name).view(), name);
  if (path != "-") read_folder(path, table);
  return table;
}

bool Row::says(std::string_view column) const {
  const auto i = table_.column(column);
  return i && !table_.rows[index_][*i].empty();
}

std::string_view Row::text(std::string_view column) const {
  if (const auto i = table_.column(column)) return table_.rows[index_][*i];
  const auto beside = table_.beside.find(column);
  return beside != table_.beside.end() ? std::string_view(beside->second) : std::string_view{};
}

std::optional<double> Row::maybe(std::string_view column) const {
  const std::string_view cell = text(column);
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

double Row::number(std::string_view column, double least) const {
  table_.require_known(column);
  const auto value = maybe(column);
  if (!value || *value < least) fail(column, "a number of at least " + std::to_string(least));
  return *value;
}

std::int64_t Row::count(std::string_view column, std::int64_t least) const {
  table_.require_known(column);
  const auto value = maybe(column);
  constexpr double kMost =
      1e12;  // far above any shape, far below where a double loses whole numbers
  if (!value || *value < static_cast<double>(least) || *value > kMost ||
      *value != std::floor(*value))
    fail(column, "a whole number of at least " + std::to_string(least));
  return static_cast<std::int64_t>(*value);
}

void Row::fail(std::string_view column, const std::string& expected) const {
  throw core::ConfigError(place() + ": " + std::string(column) + ": expected " + expected +
                          ", got '" + std::string(text(column)) + "'");
}

std::string Row::place() const { return table_.name + ": row " + std::to_string(index_ + 1); }

bool held_back(const std::vector<std::string>& cells) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto take = [&hash](unsigned char byte) { hash = (hash ^ byte) * 1099511628211ULL; };
  take('1');
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) take('\x1f');
    for (const char c : cells[i]) take(static_cast<unsigned char>(c));
  }
  return hash % 4 == 0;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    const std::string& cell = cells[i];
    // Readers trim what is not quoted, and skip lines with nothing on them.
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    const bool plain =
        cell.find_first_of(",\"\r\n") == std::string::npos &&
        (cell.empty() ? cells.size() > 1 : !blank(cell.front()) && !blank(cell.back()));
    if (plain) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line;
}

}  // namespace ridgeline::fidelity
