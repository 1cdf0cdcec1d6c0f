// Requests that were thrown out of a full KV cache: preempted by vLLM, retracted by SGLang.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 3> kMarkers{"is preempted by", "Preempting request",
                                                   "#retracted_reqs"};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    // V0 counts itself, and warns only at every fiftieth.
    if (const auto total = number_after(line.text, "total_num_cumulative_preemption=")) {
      out.facts.add("serving.preemptions", total->digits, line, Source::stated,
                    Repeat::running_total);
      return true;
    }
    const auto retracted = number_after(line.text, "#retracted_reqs:");
    events_ += retracted ? retracted->value : 1.0;
    last_text_ = line.text;
    last_number_ = line.number;
    return true;
  }

  void finish(Findings& out) override {
    if (events_ == 0.0) return;
    Line line;
    line.text = last_text_;
    line.number = last_number_;
    out.facts.add("serving.preemptions", whole_text(events_), line, Source::sampled);
  }

 private:
  double events_ = 0.0;
  std::string last_text_;
  int last_number_ = 0;
};

}  // namespace

extern const PastedFormat kPreemptions{
    "preemptions", "warnings that requests were preempted (vLLM) or retracted (SGLang)", kMarkers,
    make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
