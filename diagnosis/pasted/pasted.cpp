#include "diagnosis/pasted/pasted.hpp"

#include <bit>
#include <memory>

#include "diagnosis/pasted/derive.hpp"
#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/marker_index.hpp"

namespace ridgeline::diagnosis {
namespace {

using namespace pasted;

/// The readers of all formats, and who of them gets a line.
class Dispatcher {
 public:
  explicit Dispatcher(Findings findings) : findings_(findings), readers_(all_formats().size()) {}

  /// False if nobody knew the line.
  bool read(const Line& line) {
    if (open_ != kNone) {
      const std::size_t open = open_;
      open_ = kNone;
      if (offer(open, line)) return true;
    }
    static const MarkerIndex index(all_formats());
    for (std::uint64_t left = index.formats_in(line.text); left != 0; left &= left - 1) {
      if (offer(static_cast<std::size_t>(std::countr_zero(left)), line)) return true;
    }
    return false;
  }

  void finish() {
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      findings_.facts.set_format(all_formats()[i]->name);
      if (readers_[i]) readers_[i]->finish(findings_);
    }
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  bool offer(std::size_t i, const Line& line) {
    findings_.facts.set_format(all_formats()[i]->name);
    if (!readers_[i]) readers_[i] = all_formats()[i]->make();
    const bool known = readers_[i]->read(line, findings_);
    if (readers_[i]->is_open()) open_ = i;
    return known;
  }

  Findings findings_;
  std::vector<std::unique_ptr<LineReader>> readers_;  // made when first needed
  std::size_t open_ = kNone;
};

}  // namespace

Pasted read_pasted(std::string_view text) {
  Pasted out;
  Gathered facts(out.notes);
  Dispatcher dispatcher({facts, out.kernels});
  Lines lines(text);
  for (Line line; lines.next(line);) {
    if (!line.text.empty() && !dispatcher.read(line)) out.unread.emplace_back(line.text);
  }
  dispatcher.finish();
  out.facts = facts.settled();
  derive(out.facts);
  return out;
}

std::vector<PastedFormatInfo> pasted_formats() {
  std::vector<PastedFormatInfo> out;
  for (const PastedFormat* format : all_formats()) out.push_back({format->name, format->reads});
  return out;
}

}  // namespace ridgeline::diagnosis
