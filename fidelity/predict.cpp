#include "fidelity/predict.hpp"

#include <fmt/format.h>

#include <ostream>

#include "core/error.hpp"

namespace ridgeline::fidelity {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : "; ") + word;
  return out;
}

}  // namespace

std::size_t predict(const Operation& operation, const Table& table, Machines& machines,
                    std::ostream& out) {
  std::vector<std::string> header = table.header;
  header.insert(header.end(), {"predicted_us", "low_us", "high_us", "binds", "flags"});
  for (const std::string_view column : operation.required) {
    if (!column.empty()) static_cast<void>(table.required(column));
  }
  std::size_t predicted = 0;
  out << csv_line(header) << '\n';
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<std::string> cells = table.rows[i];
    try {
      const Prediction p = operation.predict(Row(table, i), machines);
      const auto us = [](double seconds) { return fmt::format("{:.4g}", seconds * 1e6); };
      cells.insert(cells.end(),
                   {us(p.seconds), us(p.low()), us(p.high()), p.binds, joined(p.flags)});
      ++predicted;
    } catch (const core::ConfigError& error) {
      cells.insert(cells.end(), {"", "", "", "", error.what()});
    } catch (const core::SimulationError& error) {
      cells.insert(cells.end(), {"", "", "", "", error.what()});
    }
    out << csv_line(cells) << '\n';
  }
  return predicted;
}

}  // namespace ridgeline::fidelity
