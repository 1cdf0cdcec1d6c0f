// The tables that rocprofv3 prints with --summary: of every domain, of which KERNEL_DISPATCH is
// kernels.

#include <algorithm>
#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/kernel_table.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 2> kMarkers{"DURATION (", "ROCPROFV3 "};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const auto cells = cells_of(line.text);
    if (cells.size() < 4) {
      header_.clear();
      table_.end();
      return contains(line.text, "ROCPROFV3 ") && contains(line.text, "SUMMARY");
    }
    if (cells.front() == "NAME") {
      header_.assign(cells.begin(), cells.end());
      has_begun_ = false;
      return true;
    }
    if (header_.size() != cells.size()) return false;
    const auto cell = [&](std::string_view beginning) {
      const auto it = std::find_if(header_.begin(), header_.end(),
                                   [&](const std::string& h) { return h.starts_with(beginning); });
      return static_cast<std::size_t>(it - header_.begin());
    };
    const std::size_t domain = cell("DOMAIN");
    const std::size_t calls = cell("CALLS");
    const std::size_t duration = cell("DURATION");
    if (std::max({domain, calls, duration}) >= cells.size()) return true;
    if (cells[domain] != "KERNEL_DISPATCH") return true;
    if (!has_begun_) table_.begin(line, out);
    has_begun_ = true;
    const auto unit = seconds_in_heading(header_[duration]);
    const auto time = number_at(cells[duration]);
    if (unit && time)
      table_.add(cells.front(), number_at(cells[calls]), time->value * *unit, line, out);
    return true;
  }
  [[nodiscard]] bool is_open() const override { return !header_.empty(); }

 private:
  KernelTable table_;
  std::vector<std::string> header_;
  bool has_begun_ = false;
};

}  // namespace

extern const PastedFormat kRocprofSummary{
    "rocprofv3 summary", "the tables of `rocprofv3 --summary`", kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
