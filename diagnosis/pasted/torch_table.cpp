// The PyTorch profiler's key_averages().table(). It lists operators and kernels together, and the
// time of a kernel is in the row of the operator that launched it once more. Kernels are the rows
// with device time and no host time. Of the device rows, annotations span kernels and are left out.

#include <algorithm>
#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/kernel_table.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 4> kMarkers{"Self CPU %", "Self CPU time total",
                                                   "Self CUDA time total", "Self CUDA %"};

bool is_annotation(std::string_view name) {
  return name.starts_with("ProfilerStep") || name.starts_with("execute_") ||
         name.starts_with("## Call") || name.starts_with("nccl:") ||
         name.starts_with("Torch-Compiled Region");
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    if (take_total(line, out.facts)) return true;
    if (contains(line.text, "Self CPU %")) return take_header(line, out);
    if (!table_.is_open()) return false;
    if (line.text.find_first_not_of("- ") == std::string_view::npos) return true;
    return take_row(line, out);
  }
  [[nodiscard]] bool is_open() const override { return table_.is_open(); }

  void finish(Findings& out) override {
    if (operators_ > 0 && kernels_ == 0 && out.kernels.empty())
      out.facts.note(
          "torch table: operators only; a table with the kernels needs ProfilerActivity.CUDA");
  }

 private:
  static bool take_total(const Line& line, Gathered& out) {
    const auto total = after(line.text, "Self CUDA time total:");
    if (total && seconds_of(*total)) {
      const auto number = number_at(*total);
      out.add("profile.kernel_time_total",
              number->digits + " " + std::string(word_at(number->rest)), line);
    }
    return total || contains(line.text, "Self CPU time total:");
  }

  bool take_header(const Line& line, Findings& out) {
    const auto columns = columns_of(line.text);
    header_.assign(columns.begin(), columns.end());
    const auto place = [&](std::string_view name) {
      const auto it = std::find(header_.begin(), header_.end(), name);
      return it == header_.end() ? kNone : static_cast<std::size_t>(it - header_.begin());
    };
    self_cpu_ = place("Self CPU");
    cpu_total_ = place("CPU total");
    self_device_ = place("Self CUDA");
    calls_ = place("# of Calls");
    if (header_.empty() || header_.front() != "Name" || calls_ == kNone || self_device_ == kNone) {
      table_.end();
      return true;  // a table without device time
    }
    table_.begin(line, out);
    return true;
  }

  bool take_row(const Line& line, Findings& out) {
    const auto cells = columns_of(line.text);
    if (cells.size() < header_.size()) {
      table_.end();
      return false;
    }
    // A name may have wide gaps too; the columns of numbers are counted from the right.
    const std::size_t shift = cells.size() - header_.size();
    const auto cell = [&](std::size_t i) { return cells[i + shift]; };
    const auto calls = number_at(cell(calls_));
    const auto device = seconds_of(cell(self_device_));
    if (!calls || !device) {
      table_.end();
      return false;
    }
    const auto is_zero = [&](std::size_t i) {
      return i == kNone || seconds_of(cell(i)).value_or(0.0) == 0.0;
    };
    if (!is_zero(self_cpu_) || !is_zero(cpu_total_)) {
      if (*device > 0.0) ++operators_;
      return true;
    }
    const std::string_view name(
        cells.front().data(),
        static_cast<std::size_t>(cells[shift].data() + cells[shift].size() - cells.front().data()));
    if (is_annotation(name)) return true;
    ++kernels_;
    table_.add(name, calls, device, line, out);
    return true;
  }

  static constexpr std::size_t kNone = SIZE_MAX;
  KernelTable table_;
  std::vector<std::string> header_;
  std::size_t self_cpu_ = kNone;
  std::size_t cpu_total_ = kNone;
  std::size_t self_device_ = kNone;
  std::size_t calls_ = kNone;
  std::size_t operators_ = 0;
  std::size_t kernels_ = 0;
};

}  // namespace

extern const PastedFormat kTorchTable{
    "torch table", "the PyTorch profiler's key_averages().table()", kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
