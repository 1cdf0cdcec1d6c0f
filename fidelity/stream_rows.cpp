// Streams through HBM, as scripts/measure_gpu.py writes them: "mul, 8192 B" with a rate, whose time
// is the bytes over the rate.

#include <algorithm>
#include <charconv>

#include "fidelity/operation.hpp"
#include "hw/hbm.hpp"

namespace ridgeline::fidelity {
namespace {

/// The bytes that a test moved, after its last comma; nothing where it does not say.
std::optional<double> bytes_of(std::string_view test) {
  const std::size_t comma = test.rfind(',');
  if (comma == std::string_view::npos || !test.ends_with(" B")) return std::nullopt;
  std::string_view number = test.substr(comma + 1);
  number.remove_prefix(std::min(number.find_first_not_of(' '), number.size()));
  double bytes = 0.0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bytes);
  if (error != std::errc{} || end == number.data() || bytes <= 0.0) return std::nullopt;
  return bytes;
}

bool through_hbm(const Row& row) {
  return row.text("level") == "HBM" && row.text("unit") == "TB/s" &&
         bytes_of(row.text("test")).has_value();
}

Prediction predict_stream(const Row& row, Machines& machines) {
  const hw::GpuSpec& gpu = machine_of(row, machines);
  const auto bytes = bytes_of(row.text("test"));
  if (!bytes) row.fail("test", "what was done and the bytes it moved, like 'mul, 8192 B'");
  const core::Bytes moved{*bytes};
  Prediction p;
  p.seconds = hw::time_to_move(moved, gpu.hbm, 1.0, 1.0).value();
  p.floor = (moved / gpu.hbm.bandwidth).value();
  p.binds = gpu.hbm.ramp.value() > 0.5 * p.seconds ? "floor" : "memory";
  return p;
}

std::optional<double> measured_stream(const Row& row) {
  const auto rate = row.maybe("value");
  if (!through_hbm(row) || !rate || *rate <= 0.0) return std::nullopt;
  return *bytes_of(row.text("test")) / (*rate * 1e12);
}

std::string group_of_stream(const Row& row) {
  const std::string_view test = row.text("test");
  return std::string(row.text("hw")) + " " + std::string(test.substr(0, test.rfind(',')));
}

std::string constants_of_stream(const Row&, const hw::GpuSpec&) { return "hbm"; }

}  // namespace

const Operation kStream{"stream",
                        "hw, level, test ('mul, 8192 B'), value, unit (TB/s)",
                        {"level", "test", "value", "unit"},
                        predict_stream,
                        measured_stream,
                        group_of_stream,
                        constants_of_stream};

}  // namespace ridgeline::fidelity
