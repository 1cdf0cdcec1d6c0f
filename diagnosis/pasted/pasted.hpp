#pragma once
// Evidence from text that people paste: a benchmark's summary, an engine's log, a table of kernels,
// what a GPU tool shows, the command the server was started with; all of it in one piece, in any
// order, with whatever else stood around it.
//
// Nothing is guessed. A number whose unit or meaning the text does not say, and two lines that
// contradict one another, become a note. Numbers keep the digits they were printed with, because
// the digits are their precision. What a fact means for a diagnosis is not decided here, nor is the
// class of a kernel (timeline/classify.hpp).
//
// Left out: JSON and other files that tools write for programs, and figures in running prose.
//
// Keys; those marked * have no field in evidence YAML (diagnosis/evidence.hpp).
//
//   measured.throughput             output tokens per second of all sequences
//   measured.throughput_per_sequence   of one
//   measured.total_throughput *     prompt and output tokens per second
//   measured.prompt_throughput *    prompt tokens per second
//   measured.peak_throughput *      output tokens in the best second
//   measured.requests_per_second *
//   measured.ttft, itl, tpot *, e2e *   means; with _median, _p90, _p99 ... behind them
//                                   tpot: (end to end - ttft) / (output - 1) of a request;
//                                   itl: gaps between tokens, pooled
//   measured.step_time              one decode step of a static batch
//   measured.queue_time *           of a request
//   measured.duration *             of the whole benchmark
//   serving.concurrency             sequences served together
//   serving.max_concurrency *       the client's limit
//   serving.peak_concurrency *      most that were in flight
//   serving.arrivals                one_at_a_time, open or saturated
//   serving.request_rate *          that the client offers
//   serving.requests *, failed_requests *
//   serving.prompt_tokens, output_tokens     of a request, mean
//   serving.total_prompt_tokens *, total_output_tokens *
//   serving.kv_usage, waiting, preemptions
//   serving.prefix_cache_hit_rate * share of the prompt tokens
//   serving.acceptance_length *     tokens a speculative step yields
//   engine.version *, and engine.X * for an argument X of vLLM (max_num_seqs, enforce_eager, ...)
//   engine.X * for an argument X that only SGLang or llama.cpp has (n_gpu_layers, ...)
//   engine.offloaded_layers *       "0 of 33"
//   engine.cuda_graphs *            whether decode steps are replayed as graphs
//   engine.attention_backend *, moe_backend *
//   engine.moe_config *             "default": no tuned configuration was found
//   engine.untuned_gemms *          shapes for which no tuned kernel was found
//   environment.NAME *              a variable set for the server
//   memory.kv_tokens *, kv_blocks *, kv_bytes *   what the KV cache holds, of one device
//   memory.weights *                of one device; weights_on_host *: those left in host memory
//   memory.graphs *, used *, total *, used_fraction *   of one device
//   model.name, parameters, weight_bytes, layers, hidden, heads, kv_heads
//   machine.name; power *, power_limit *, clock *, memory_clock *   as a GPU tool showed them
//   devices                         tensor times pipeline parallel
//   profile.busy_fraction *         share of the time in which some kernel ran
//   profile.kernel_time_total *     all kernels of a table, together

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::diagnosis {

/// One thing that the text says.
struct PastedFact {
  std::string key;    // dotted: "measured.throughput"
  std::string value;  // as evidence YAML has it: "1234.56 /s", "91.2 %", "true"
  std::string line;   // where it was read, cleaned
  int line_number = 0;
  std::string format;  // whose words these are: "vllm log"
};

/// One row of a table of kernels.
struct PastedKernel {
  std::string name;  // may be cut, as the table cut it
  std::int64_t calls = 0;
  double seconds = 0.0;  // all calls together
  std::string line;
  int line_number = 0;
};

struct Pasted {
  std::vector<PastedFact> facts;  // one a key, in the order of their lines
  std::vector<PastedKernel> kernels;
  std::vector<std::string> unread;  // lines that are of no known format
  std::vector<std::string> notes;   // sentences: what was chosen, what was ambiguous
};

/// Reads whatever it knows; never throws for what the text holds. Time is linear in its length.
[[nodiscard]] Pasted read_pasted(std::string_view text);

/// A format that is read: its name, and a sentence for documentation.
struct PastedFormatInfo {
  std::string_view name;
  std::string_view reads;
};
[[nodiscard]] std::vector<PastedFormatInfo> pasted_formats();

}  // namespace ridgeline::diagnosis
