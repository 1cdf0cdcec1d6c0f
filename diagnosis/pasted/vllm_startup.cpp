// What vLLM says once when it starts: memory of weights, KV cache and graphs, its version.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 14> kMarkers{"GPU KV cache size:",
                                                    "GPU blocks:",
                                                    "cuda blocks:",
                                                    "Maximum concurrency for",
                                                    "Model loading took",
                                                    "Loading model weights took",
                                                    "Available KV cache memory:",
                                                    "Graph capturing finished",
                                                    "Capturing CUDA graph",
                                                    "Capturing the model for CUDA graphs",
                                                    "Capturing cudagraphs",
                                                    "udagraph is disabled under eager",
                                                    "LLM API server version",
                                                    "vLLM API server version"};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    Gathered& facts = out.facts;
    const auto size = [&](std::string_view key, std::string_view marker) {
      const auto number = number_after(text, marker);
      if (!number) return false;
      if (number->rest.starts_with("GiB")) {
        facts.add(key, number->digits + " GiB", line, Source::stated, Repeat::ranks);
      } else if (number->rest.starts_with("GB")) {  // model_runner.py divides by 2^30 and prints GB
        facts.add(key, number->digits + " GiB", line, Source::stated, Repeat::ranks);
        facts.note(fmt::format("{}: vLLM's 'GB' here are 2^30 bytes", key));
      }
      return true;
    };
    if (size("memory.weights", "Model loading took") ||
        size("memory.weights", "Loading model weights took") ||
        size("memory.kv_bytes", "Available KV cache memory:"))
      return true;
    if (const auto tokens = number_after(text, "GPU KV cache size:")) {
      facts.add("memory.kv_tokens", tokens->digits, line, Source::stated, Repeat::ranks);
      return true;
    }
    for (const std::string_view marker : {"GPU blocks:", "cuda blocks:"}) {
      if (const auto blocks = number_after(text, marker)) {
        facts.add("memory.kv_blocks", blocks->digits, line, Source::stated, Repeat::ranks);
        return true;
      }
    }
    if (contains(text, "Maximum concurrency for")) return take_concurrency(line, facts);
    if (contains(text, "Graph capturing finished")) {
      facts.add("engine.cuda_graphs", "true", line, Source::implied);
      const auto took = number_after(text, "took");
      if (took && took->rest.starts_with("GiB"))
        facts.add("memory.graphs", took->digits + " GiB", line, Source::stated, Repeat::ranks);
      return true;
    }
    if (contains(text, "disabled under eager")) {
      facts.add("engine.enforce_eager", "true", line);
      return true;
    }
    if (const auto version = after(text, "LLM API server version"); version && !version->empty()) {
      const std::string_view number =
          version->starts_with(':') ? trim(version->substr(1)) : *version;
      facts.add("engine.version", std::string(word_at(number)), line);
      return true;
    }
    if (contains(text, "apturing")) {
      facts.add("engine.cuda_graphs", "true", line, Source::implied);
      return true;
    }
    return false;
  }

 private:
  /// "Maximum concurrency for 2,048 tokens per request: 10.79x": the KV cache holds their product.
  static bool take_concurrency(const Line& line, Gathered& facts) {
    const auto tokens = number_after(line.text, "Maximum concurrency for");
    const auto times = number_after(line.text, "per request:");
    if (!tokens || !times || !times->rest.starts_with('x')) return false;
    facts.add("engine.max_model_len", tokens->digits, line);
    constexpr double kHalfOfLastDigit = 0.005;  // two decimals are printed
    facts.add(
        "memory.kv_tokens",
        fmt::format("{:.0f}-{:.0f}", std::floor(tokens->value * (times->value - kHalfOfLastDigit)),
                    std::ceil(tokens->value * (times->value + kHalfOfLastDigit))),
        line, Source::implied, Repeat::ranks);
    return true;
  }
};

}  // namespace

extern const PastedFormat kVllmStartup{
    "vllm startup", "what vLLM says when it starts: weights, KV cache size, blocks, graph capture",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
