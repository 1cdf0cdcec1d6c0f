// trtllm-bench's report: request details, world, performance overview. Rates per user and per GPU
// stand beside those of the whole; only the label tells them apart.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/rows.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<RowRule, 40> kRows{{
    {"model", "model.name", Kind::word},
    {"model path", "", Kind::silent},
    {"tensorrt-llm version", "engine.version", Kind::word},
    {"dtype", "engine.dtype", Kind::lower_word},
    {"kv cache dtype", "engine.kv_cache_dtype", Kind::lower_word},
    {"quantization", "engine.quantization", Kind::lower_word},
    {"number of requests", "serving.requests", Kind::count},
    {"number of concurrent requests", "serving.concurrency", Kind::count, Source::implied},
    {"average input length", "serving.prompt_tokens", Kind::count},
    {"average output length", "serving.output_tokens", Kind::count},
    {"tp size", "engine.tensor_parallel_size", Kind::count},
    {"pp size", "engine.pipeline_parallel_size", Kind::count},
    {"ep size", "engine.expert_parallel_size", Kind::count},
    {"max runtime batch size", "engine.max_num_seqs", Kind::count},
    {"max runtime tokens", "engine.max_num_batched_tokens", Kind::count},
    {"max input length", "", Kind::silent},
    {"max sequence length", "engine.max_model_len", Kind::count},
    {"scheduling policy", "engine.scheduling_policy", Kind::word},
    {"kv memory percentage", "engine.kv_memory_fraction", Kind::fraction},
    {"issue rate", "", Kind::silent},  // how fast requests were handed over, not how they arrive
    {"request throughput", "measured.requests_per_second", Kind::rate},
    {"total output throughput", "measured.throughput", Kind::rate},
    {"total token throughput", "measured.total_throughput", Kind::rate},
    {"total latency", "measured.duration", Kind::time},
    {"average request latency", "measured.e2e", Kind::time},
    {"per user output throughput [w/ ctx]", "", Kind::silent},  // prefill included
    {"per user output throughput", "", Kind::silent},
    {"per user output throughput (tokens/sec/user)", "", Kind::silent},
    {"per gpu output throughput", "", Kind::silent},
    {"per gpu output throughput (tokens/sec/gpu)", "", Kind::silent},
    {"per gpu output throughput (tps/gpu)", "", Kind::silent},
    {"per user output speed", "measured.throughput_per_sequence", Kind::rate},
    {"per user output speed [1/tpot] (tokens/sec/user)", "", Kind::silent},
    {"average time-to-first-token [ttft]", "measured.ttft", Kind::time},
    {"average time-per-output-token [tpot]", "measured.tpot", Kind::time},
    {"cpu", "", Kind::silent},
    {"max runtime seq length", "", Kind::silent},
    {"request latency", "", Kind::silent},
    {"engine directory", "", Kind::silent},
    {"kv cache percentage", "engine.kv_memory_fraction", Kind::fraction},
}};

constexpr std::array<std::string_view, 13> kMarkers{"PYTORCH BACKEND",
                                                    "ENGINE DETAILS",
                                                    "REQUEST DETAILS",
                                                    "RUNTIME INFORMATION",
                                                    "PERFORMANCE OVERVIEW",
                                                    "Total Output Throughput",
                                                    "Per User Output",
                                                    "Per GPU Output",
                                                    "[TTFT]",
                                                    "[TPOT]",
                                                    "[GTPS]",
                                                    "[Latency]",
                                                    "Average request latency"};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view body = line.body;
    const bool was_open = is_open_;
    is_open_ = true;
    if (body.starts_with("= ") ||
        (was_open && (body.starts_with("====") || body.starts_with("-- "))))
      return true;
    if (body.starts_with('[')) {  // a row of a breakdown: "[TTFT] P99    : 106563.4497"
      if (take_percentile(body, line, out.facts)) return true;
    } else if (const auto row = row_of(body); row && take_row(*row, kRows, line, out.facts)) {
      return true;
    }
    is_open_ = false;
    return false;
  }
  [[nodiscard]] bool is_open() const override { return is_open_; }

 private:
  /// All of them are milliseconds, as the line above the breakdown says.
  static bool take_percentile(std::string_view body, const Line& line, Gathered& out) {
    const bool ttft = body.starts_with("[TTFT] ");
    if (!ttft && !body.starts_with("[TPOT] "))
      return body.starts_with("[GTPS] ") || body.starts_with("[Latency] ");
    const std::string_view rest = body.substr(7);
    const auto percent = rest.starts_with('P') ? number_at(rest.substr(1)) : std::nullopt;
    const auto value = number_after(rest, ":");
    if (percent && value) {
      out.add((ttft ? "measured.ttft_p" : "measured.tpot_p") + percent->digits,
              value->digits + " ms", line);
    }
    return true;
  }

  bool is_open_ = false;
};

}  // namespace

extern const PastedFormat kTrtllmBench{"trtllm-bench", "the report of trtllm-bench (TensorRT-LLM)",
                                       kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
