// nvidia-smi: its table, `--query-gpu ... --format=csv` with a header, and `dmon`. Without a header
// a column of per cent or MHz may be the GPU's or the memory's, and is not read.

#include <algorithm>
#include <array>

#include "diagnosis/pasted/device_samples.hpp"
#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 8> kMarkers{"NVIDIA-SMI",  "utilization.", "power.draw",
                                                   "memory.used", "clocks.",      "MiB / ",
                                                   "# gpu ",      "NVIDIA "};

struct Column {
  std::string_view name;
  std::string DeviceSample::*part;
  std::string_view unit;  // where the values have none, as with nounits
};
constexpr std::array<Column, 12> kColumns{{
    {"utilization.gpu", &DeviceSample::busy_fraction, "%"},
    {"power.draw", &DeviceSample::power, "W"},
    {"power.draw.instant", &DeviceSample::power, "W"},
    {"power.draw.average", &DeviceSample::power, "W"},
    {"power.limit", &DeviceSample::power_limit, "W"},
    {"enforced.power.limit", &DeviceSample::power_limit, "W"},
    {"clocks.sm", &DeviceSample::clock, "MHz"},
    {"clocks.current.sm", &DeviceSample::clock, "MHz"},
    {"clocks.mem", &DeviceSample::memory_clock, "MHz"},
    {"clocks.current.memory", &DeviceSample::memory_clock, "MHz"},
    {"memory.used", &DeviceSample::used, "MiB"},
    {"memory.total", &DeviceSample::total, "MiB"},
}};
constexpr std::array<Column, 4> kMonitorColumns{{
    {"pwr", &DeviceSample::power, "W"},
    {"sm", &DeviceSample::busy_fraction, "%"},
    {"pclk", &DeviceSample::clock, "MHz"},
    {"mclk", &DeviceSample::memory_clock, "MHz"},
}};

void set_busy(DeviceSample& sample) {
  if (const auto number = number_at(sample.busy_fraction)) sample.busy = number->value;
}

std::vector<std::string_view> blank_parted(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = trim(text)).empty()) {
    words.push_back(word_at(text));
    text.remove_prefix(words.back().size());
  }
  return words;
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    const bool was_open = is_open_;
    is_open_ = true;
    if (take_table(line, out) || take_csv(line, out) || take_monitor(line)) return true;
    if (contains(text, "NVIDIA-SMI") ||
        (was_open && (text.starts_with('|') || text.starts_with('+'))))
      return true;
    is_open_ = false;
    csv_.clear();
    monitor_.clear();
    return false;
  }
  [[nodiscard]] bool is_open() const override { return is_open_; }

  void finish(Findings& out) override { samples_.finish("nvidia-smi", out); }

 private:
  /// "| N/A   45C    P0             412W /  700W |   70000MiB / 81559MiB |     97%      Default |"
  bool take_table(const Line& line, Findings& out) {
    const auto cells = cells_of(line.text);
    if (cells.size() == 3 && contains(cells[1], "MiB /")) {
      DeviceSample sample;
      const auto used = number_at(cells[1]);
      const auto total = number_after(cells[1], "/");
      if (used && total) {
        sample.used = used->digits + " MiB";
        sample.total = total->digits + " MiB";
      }
      if (const std::size_t slash = cells[0].find("W /"); slash != std::string_view::npos) {
        const std::size_t blank = cells[0].rfind(' ', slash);
        const auto power =
            number_at(cells[0].substr(blank == std::string_view::npos ? 0 : blank + 1));
        const auto limit = number_after(cells[0], "W /");
        if (power) sample.power = power->digits + " W";
        if (limit && limit->rest.starts_with('W')) sample.power_limit = limit->digits + " W";
      }
      if (const auto busy = number_at(cells[2]); busy && busy->rest.starts_with('%')) {
        sample.busy_fraction = busy->digits + " %";
        sample.busy = busy->value;
      }
      samples_.add(sample, line);
      return true;
    }
    if (cells.size() == 3) {  // "|   0  NVIDIA L20    On  | 00000000:01:00.0 Off |    0 |"
      const auto columns = columns_of(cells[0]);
      if (columns.size() >= 2 && number_at(columns[0]) && columns[1].starts_with("NVIDIA ")) {
        std::string_view name = columns[1];
        if (name.ends_with("...")) name.remove_suffix(3);
        out.facts.add("machine.name", std::string(name), line);
        return true;
      }
    }
    return false;
  }

  /// "utilization.gpu [%], power.draw [W], memory.used [MiB]", then rows.
  bool take_csv(const Line& line, Findings& out) {
    const auto cells = csv_cells(line.text);
    const bool is_header = std::any_of(cells.begin(), cells.end(), [](const std::string& cell) {
      const std::string_view name = word_at(cell);
      return std::any_of(kColumns.begin(), kColumns.end(),
                         [&](const Column& c) { return c.name == name; });
    });
    if (is_header && !contains(line.text, "nvidia-smi")) {
      csv_ = cells;
      return true;
    }
    if (csv_.empty() || cells.size() != csv_.size()) return false;
    DeviceSample sample;
    bool any = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view name = word_at(csv_[i]);
      if (name == "name") {
        out.facts.add("machine.name", cells[i], line);
        any = true;
      }
      const auto number = number_at(cells[i]);
      const auto* const column = std::find_if(kColumns.begin(), kColumns.end(),
                                              [&](const Column& c) { return c.name == name; });
      if (!number || column == kColumns.end()) continue;
      if (!number->rest.empty() && number->rest != column->unit) continue;
      sample.*(column->part) = number->digits + " " + std::string(column->unit);
      any = true;
    }
    set_busy(sample);
    if (any) samples_.add(sample, line);
    return any;
  }

  /// "# gpu    pwr  gtemp  mtemp     sm    mem ...", a line of units, then rows.
  bool take_monitor(const Line& line) {
    if (line.text.starts_with("# gpu ")) {
      monitor_.clear();
      for (const std::string_view word : blank_parted(line.text.substr(2)))
        monitor_.emplace_back(word);
      return true;
    }
    if (line.text.starts_with("# Idx") && !monitor_.empty()) return true;
    const auto words = blank_parted(line.text);
    if (monitor_.empty() || words.size() != monitor_.size()) return false;
    DeviceSample sample;
    bool any = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto number = number_at(words[i]);
      if (!number || !number->rest.empty()) continue;
      for (const Column& column : kMonitorColumns) {
        if (column.name != monitor_[i]) continue;
        sample.*(column.part) = number->digits + " " + std::string(column.unit);
        any = true;
      }
    }
    set_busy(sample);
    if (any) samples_.add(sample, line);
    return any;
  }

  bool is_open_ = false;
  std::vector<std::string> csv_;      // header of the query
  std::vector<std::string> monitor_;  // header of dmon
  DeviceSamples samples_;
};

}  // namespace

extern const PastedFormat kNvidiaSmi{
    "nvidia-smi",
    "nvidia-smi's table, its --query-gpu CSV with a header, and dmon: use, power, clocks, memory",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
