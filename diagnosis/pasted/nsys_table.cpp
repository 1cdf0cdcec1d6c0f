// The text tables of `nsys stats`. That of kernels (cuda_gpu_kern_sum) has a column "Instances";
// those of API calls ("Num Calls") and of copies ("Count", "Operation") have other words and are
// known, so that their rows are not taken for kernels.

#include <algorithm>
#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/kernel_table.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 4> kMarkers{"Time (%)", "Time(%)", "Processing [", "_sum)"};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    if (text.starts_with("Time (%)  ") || text.starts_with("Time(%)  "))
      return take_header(line, out);
    if (text.starts_with("** ") || text.starts_with("Processing [")) return true;
    if (text.starts_with("Time (%),")) return false;  // comma-separated
    if (!is_open_) return false;
    if (text.find_first_not_of("- ") == std::string_view::npos) return true;
    if (take_row(line, out)) return true;
    is_open_ = false;
    return false;
  }
  [[nodiscard]] bool is_open() const override { return is_open_; }

 private:
  bool take_header(const Line& line, Findings& out) {
    const auto columns = columns_of(line.text);
    numbers_ = columns.size() - 1;  // the name stands last
    total_ = calls_ = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].starts_with("Total Time") || columns[i].starts_with("Total (")) total_ = i;
      if (columns[i] == "Instances") calls_ = i;
    }
    is_open_ = true;
    has_kernels_ = calls_ < numbers_ && total_ < numbers_ && columns.back() == "Name";
    if (!has_kernels_) return true;
    const auto unit = seconds_in_heading(columns[total_]);
    has_kernels_ = unit.has_value();
    unit_ = unit.value_or(0.0);
    if (has_kernels_) table_.begin(line, out);
    return true;
  }

  bool take_row(const Line& line, Findings& out) {
    std::string_view rest = line.text;
    std::optional<Number> total;
    std::optional<Number> calls;
    for (std::size_t i = 0; i < numbers_; ++i) {
      const auto number = number_at(rest);
      if (!number) return false;
      rest = number->rest;
      if (i == total_) total = number;
      if (i == calls_) calls = number;
    }
    if (has_kernels_ && total) table_.add(rest, calls, total->value * unit_, line, out);
    return true;
  }

  KernelTable table_;
  bool is_open_ = false;
  bool has_kernels_ = false;
  double unit_ = 0.0;
  std::size_t numbers_ = 0;
  std::size_t total_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace

extern const PastedFormat kNsysTable{"nsys table", "the text of `nsys stats` (cuda_gpu_kern_sum)",
                                     kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
