// SGLang's bench_one_batch: one static batch, first a warm-up, then after "Benchmark ..." the run.
// Total throughput counts prompts and is not read.

#include <array>
#include <map>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/rows.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 5> kMarkers{"Prefill. latency:", "Decode. ", "Decode ",
                                                   "Total. latency:", "Benchmark ..."};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& /*out*/) override {
    std::string_view body = line.body;
    if (body.starts_with("# ")) body = trim(body.substr(2));
    if (body.starts_with("Benchmark ...")) {
      had_warm_up_ = had_warm_up_ || !found_.empty();
      found_.clear();
      return true;
    }
    if (body.starts_with("Prefill. latency:")) {
      keep("measured.ttft", number_after(body, "latency:"), " s", line);
      keep("measured.prompt_throughput", number_after(body, "throughput:"), " /s", line);
      return true;
    }
    if (body.starts_with("Decode.") && contains(body, "median latency:")) {
      keep("measured.step_time", number_after(body, "median latency:"), " s", line);
      keep("measured.throughput", number_after(body, "median throughput:"), " /s", line);
      return true;
    }
    if (body.starts_with("Total. latency:")) return true;
    if (!body.starts_with("Decode") || !contains(body, "latency:") ||
        !contains(body, "throughput:"))
      return false;
    keep("serving.concurrency", number_after(body, "Batch size:"), "", line);
    return true;
  }

  void finish(Findings& out) override {
    if (had_warm_up_)
      out.facts.note("sglang one batch: the warm-up before 'Benchmark ...' is left out");
    for (const Found& f : found_) {
      Line line;
      line.text = f.line;
      line.number = f.number;
      out.facts.add(f.key, f.value, line);
    }
  }

 private:
  struct Found {
    std::string_view key;
    std::string value;
    std::string line;
    int number;
  };

  void keep(std::string_view key, const std::optional<Number>& number, std::string_view unit,
            const Line& line) {
    if (!number) return;
    std::string value = number->digits + std::string(unit);
    if (key == "serving.concurrency" && !found_.empty() && found_.back().key == key &&
        found_.back().value == value)
      return;  // as in the step before
    found_.push_back({key, std::move(value), std::string(line.text), line.number});
  }

  bool had_warm_up_ = false;
  std::vector<Found> found_;
};

}  // namespace

extern const PastedFormat kSglangOneBatch{
    "sglang one batch", "SGLang's bench_one_batch: times of one static batch, its warm-up left out",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
