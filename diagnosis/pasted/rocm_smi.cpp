// rocm-smi: its concise table and the lines of --showuse, --showpower, --showclocks and -i; and
// `amd-smi monitor`.

#include <array>

#include "core/lower.hpp"
#include "diagnosis/pasted/device_samples.hpp"
#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 6> kMarkers{"ROCm S",  "PwrCap", "GPU[",
                                                   "GFX_CLK", "(DID,",  "End of ROCm"};

struct Unit {
  std::string_view written;
  std::string_view meant;
};
constexpr std::array<Unit, 6> kUnits{
    {{"W", "W"}, {"Mhz", "MHz"}, {"MHz", "MHz"}, {"%", "%"}, {"MB", "MB"}, {"GB", "GB"}}};

/// "412.0W" as "412.0 W"; empty for another unit.
std::string with_unit(std::string_view word, std::string_view unit) {
  const auto number = number_at(word);
  if (!number) return {};
  for (const Unit& u : kUnits) {
    if (number->rest == u.written && u.meant == unit)
      return number->digits + " " + std::string(unit);
  }
  return {};
}

void set_busy(DeviceSample& sample) {
  if (const auto number = number_at(sample.busy_fraction)) sample.busy = number->value;
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    if (contains(text, "ROCm System Management") || contains(text, "ROCm SMI Log") ||
        contains(text, "Concise Info") || text.starts_with("(DID,"))
      return true;
    if (text.starts_with("GPU[")) return take_detail(line, out);
    if (contains(text, "PwrCap") && contains(text, "GPU%")) return open(Table::concise);
    if (text.starts_with("GPU ") && contains(text, "GFX_CLK") && contains(text, "POWER")) {
      header_.clear();
      for (std::string_view rest = text; !rest.empty();
           rest = trim(rest.substr(header_.back().size())))
        header_.emplace_back(word_at(rest));
      return open(Table::monitor);
    }
    if (table_ == Table::none) return false;
    if (text.find_first_not_of("= -") == std::string_view::npos) return true;
    if (!is_digit(text.front())) {
      table_ = Table::none;
      return false;
    }
    if (table_ == Table::concise) {
      take_concise(line);
    } else {
      take_monitor(line);
    }
    return true;
  }
  [[nodiscard]] bool is_open() const override { return table_ != Table::none; }

  void finish(Findings& out) override {
    samples_.finish("rocm-smi", out);
    details_.finish("rocm-smi details", out);
  }

 private:
  enum class Table : std::uint8_t { none, concise, monitor };
  bool open(Table table) {
    table_ = table;
    return true;
  }

  /// "0  2  0x74a1, 8554  42.0 C  131.0W  NPS1, SPX, 0  145Mhz  900Mhz  0%  auto  750.0W  0%  97%":
  /// cells are told apart by their units, and within a unit by their order.
  void take_concise(const Line& line) {
    DeviceSample sample;
    std::vector<std::string> percents;
    for (std::string_view rest = line.text; !rest.empty();) {
      const std::string_view word = word_at(rest);
      if (std::string power = with_unit(word, "W"); !power.empty()) {
        (sample.power.empty() ? sample.power : sample.power_limit) = power;
      } else if (std::string clock = with_unit(word, "MHz"); !clock.empty()) {
        (sample.clock.empty() ? sample.clock : sample.memory_clock) = clock;
      } else if (std::string percent = with_unit(word, "%"); !percent.empty()) {
        percents.push_back(percent);
      }
      rest = trim(rest.substr(word.size()));
    }
    if (percents.size() >= 2 && line.text.ends_with('%')) {  // fan, memory, GPU
      sample.busy_fraction = percents.back();
      sample.used_fraction = percents[percents.size() - 2];
    }
    set_busy(sample);
    samples_.add(sample, line);
  }

  /// "0  414 W  52 C  40 C  2100 MHz  97 %  ...", a unit behind each value.
  void take_monitor(const Line& line) {
    std::vector<std::string> cells;
    for (std::string_view rest = line.text; !rest.empty();) {
      const std::string_view word = word_at(rest);
      rest = trim(rest.substr(word.size()));
      const bool is_value = is_digit(word.front()) || word == "N/A";
      if (!is_value && !cells.empty()) {
        cells.back() += " " + std::string(word);
      } else {
        cells.emplace_back(word);
      }
    }
    if (cells.size() != header_.size()) return;
    DeviceSample sample;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (header_[i] == "POWER") sample.power = with_unit(cells[i], "W");
      if (header_[i] == "GFX_CLK") sample.clock = with_unit(cells[i], "MHz");
      if (header_[i] == "GFX%") sample.busy_fraction = with_unit(cells[i], "%");
      if (header_[i] == "MEM_CLOCK") sample.memory_clock = with_unit(cells[i], "MHz");
      if (header_[i] == "VRAM_USED") sample.used = with_unit(cells[i], "MB");
      if (header_[i] == "VRAM_TOTAL") sample.total = with_unit(cells[i], "MB");
    }
    set_busy(sample);
    samples_.add(sample, line);
  }

  /// "GPU[0] : GPU use (%): 97"
  bool take_detail(const Line& line, Findings& out) {
    const auto rest = after(line.text, "]");
    if (!rest || !rest->starts_with(':')) return false;
    const std::string_view what = trim(rest->substr(1));
    const std::size_t colon = what.find(':');
    if (colon == std::string_view::npos) return true;
    const std::string_view label = what.substr(0, colon);
    const std::string_view value = trim(what.substr(colon + 1));
    const auto number = number_at(value);
    DeviceSample sample;
    if (label == "GPU use (%)" && number) {
      sample.busy_fraction = number->digits + " %";
    } else if (label.ends_with("Power (W)") && number) {
      (contains(label, "Max") ? sample.power_limit : sample.power) = number->digits + " W";
    } else if (label == "GPU Memory Allocated (VRAM%)" && number) {
      sample.used_fraction = number->digits + " %";
    } else if (label == "sclk clock level") {
      if (const auto clock = number_after(value, "(")) sample.clock = clock->digits + " MHz";
    } else if (label == "mclk clock level") {
      if (const auto clock = number_after(value, "(")) sample.memory_clock = clock->digits + " MHz";
    } else if (label == "VRAM Total Used Memory (B)" && number) {
      sample.used = number->digits + " B";
    } else if (label == "VRAM Total Memory (B)" && number) {
      sample.total = number->digits + " B";
    } else if ((label == "Device Name" || label == "Card Series" || label == "Card series") &&
               value != "N/A") {
      out.facts.add("machine.name", std::string(value), line);
      return true;
    } else {
      return true;
    }
    set_busy(sample);
    details_.add(sample, line);
    return true;
  }

  Table table_ = Table::none;
  std::vector<std::string> header_;  // of amd-smi monitor
  DeviceSamples samples_;
  DeviceSamples details_;
};

}  // namespace

extern const PastedFormat kRocmSmi{
    "rocm-smi",
    "rocm-smi's table and detail lines, and `amd-smi monitor`: use, power, clocks, memory",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
