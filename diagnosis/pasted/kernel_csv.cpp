// Kernels as comma-separated values: rocprofv3's *_kernel_stats.csv, rocprof's *.stats.csv, and
// `nsys stats --format csv`.

#include <algorithm>
#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/kernel_table.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 3> kMarkers{"TotalDurationNs", "Time (%),", "Time(%),"};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const auto cells = csv_cells(line.text);
    if (take_header(cells)) {
      table_.begin(line, out);
      return true;
    }
    if (!table_.is_open()) return false;
    const bool fits = cells.size() == columns_;
    const auto total = fits ? number_at(cells[total_]) : std::nullopt;
    const auto calls = fits ? number_at(cells[calls_]) : std::nullopt;
    if (!total || !calls) {
      table_.end();
      return false;
    }
    table_.add(cells[name_], calls, total->value * unit_, line, out);
    return true;
  }
  [[nodiscard]] bool is_open() const override { return table_.is_open(); }

 private:
  bool take_header(const std::vector<std::string>& cells) {
    const auto place = [&](std::initializer_list<std::string_view> names) {
      const auto it = std::find_if(cells.begin(), cells.end(), [&](const std::string& cell) {
        return std::find(names.begin(), names.end(), cell) != names.end();
      });
      return static_cast<std::size_t>(it - cells.begin());
    };
    const std::size_t name = place({"Name", "Kernel_Name", "KernelName"});
    const std::size_t calls = place({"Calls", "Instances"});
    const std::size_t total =
        place({"TotalDurationNs", "Total Time (ns)", "Total Time (us)", "Total Time (ms)"});
    if (std::max({name, calls, total}) >= cells.size()) return false;
    const auto unit = seconds_in_heading(cells[total]);
    if (!unit) return false;
    unit_ = *unit;
    name_ = name;
    calls_ = calls;
    total_ = total;
    columns_ = cells.size();
    return true;
  }

  KernelTable table_;
  double unit_ = 0.0;
  std::size_t name_ = 0;
  std::size_t calls_ = 0;
  std::size_t total_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace

extern const PastedFormat kKernelCsv{
    "kernel csv",
    "kernel statistics as CSV: rocprofv3's *_kernel_stats.csv, rocprof's *.stats.csv, nsys",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
