#pragma once
// A format: how its lines are known, and who reads them. A reader is made anew for every text and
// may remember what it saw (the columns of a table, the totals of a summary, a series of equal
// lines).

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "diagnosis/pasted/gathered.hpp"
#include "diagnosis/pasted/line.hpp"

namespace ridgeline::diagnosis::pasted {

/// Where what is read goes.
struct Findings {
  Gathered& facts;
  std::vector<PastedKernel>& kernels;
};

class LineReader {
 public:
  LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  virtual ~LineReader() = default;

  /// True if the line is of this format, whether or not it says anything of use.
  virtual bool read(const Line& line, Findings& out) = 0;
  /// Whether it wants the next line first, whatever that holds: it is within a table or a command.
  [[nodiscard]] virtual bool is_open() const { return false; }
  /// After the last line.
  virtual void finish(Findings& /*out*/) {}
};

struct PastedFormat {
  std::string_view name;
  std::string_view reads;  // a sentence for documentation
  // A line without one of these is not offered to the reader, unless it is open. Each has at least
  // three bytes.
  std::span<const std::string_view> markers;
  std::unique_ptr<LineReader> (*make)();
};

/// All formats, in the order in which they are offered a line.
[[nodiscard]] std::span<const PastedFormat* const> all_formats();

template <typename Reader>
std::unique_ptr<LineReader> make_reader() {
  return std::make_unique<Reader>();
}

}  // namespace ridgeline::diagnosis::pasted
