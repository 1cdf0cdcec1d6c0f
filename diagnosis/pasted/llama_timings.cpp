// llama.cpp's timings of a request, from llama-cli and llama-server, and Ollama's of `--verbose`.
// They are of one request: what a server does for all of them together is not in them.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/rows.hpp"
#include "diagnosis/pasted/series.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 8> kMarkers{
    "eval time =",  "load time =", "sample time =", "sampling time =",
    "total time =", "eval rate:",  "eval count:",   "print_timing"};

struct Timing {
  Number milliseconds;
  Number tokens;
  Number milliseconds_each;
  Number rate;
};

/// "=  14085.85 ms /   178 runs   (   79.13 ms per token,    12.64 tokens per second)"
std::optional<Timing> timing_in(std::string_view text) {
  const auto milliseconds = number_after(text, "time =");
  if (!milliseconds || !milliseconds->rest.starts_with("ms /")) return std::nullopt;
  const auto tokens = number_after(milliseconds->rest, "/");
  if (!tokens || tokens->value < 1.0) return std::nullopt;
  const auto each = number_after(tokens->rest, "(");
  if (!each || !each->rest.starts_with("ms per token")) return std::nullopt;
  const auto rate = number_after(each->rest, ",");
  if (!rate) return std::nullopt;
  return Timing{*milliseconds, *tokens, *each, *rate};
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    if (contains(text, "eval time =")) {
      const bool prompt = contains(text, "prompt eval time =");
      if (const auto timing = timing_in(text)) {
        (prompt ? prompts_ : evals_)
            .add(line,
                 {timing->milliseconds.value, timing->tokens.value, timing->milliseconds_each.value,
                  timing->rate.value},
                 false);
      }
      return true;
    }
    if (contains(text, "time =") || contains(text, "print_timing")) return true;
    const auto row = row_of(line.body);
    constexpr std::array<RowRule, 4> kRows{{
        {"prompt eval count", "serving.prompt_tokens", Kind::count},
        {"eval count", "serving.output_tokens", Kind::count},
        {"prompt eval rate", "measured.prompt_throughput", Kind::rate},
        {"eval rate", "measured.throughput_per_sequence", Kind::rate},
    }};
    if (!row) return false;
    Row plain = *row;  // "1119 token(s)" is a count
    if (plain.value.ends_with(" token(s)")) plain.value.remove_suffix(9);
    return take_row(plain, kRows, line, out.facts);
  }

  void finish(Findings& out) override {
    prompts_.finish("llama.cpp prompts", out, [&](std::size_t i, const Line& line) {
      const auto timing = timing_in(line.text);
      if (!timing) return;
      if (i == 0) add("measured.ttft", timing->milliseconds.digits + " ms", line, out);
      if (i == 1) add("serving.prompt_tokens", timing->tokens.digits, line, out);
      if (i == 3) add("measured.prompt_throughput", timing->rate.digits + " /s", line, out);
    });
    evals_.finish("llama.cpp generation", out, [&](std::size_t i, const Line& line) {
      const auto timing = timing_in(line.text);
      if (!timing) return;
      if (i == 1) add("serving.output_tokens", timing->tokens.digits, line, out);
      if (i == 2) add("measured.tpot", timing->milliseconds_each.digits + " ms", line, out);
      if (i == 3) add("measured.throughput_per_sequence", timing->rate.digits + " /s", line, out);
    });
  }

 private:
  static void add(std::string_view key, std::string value, const Line& line, Findings& out) {
    out.facts.add(key, std::move(value), line, Source::sampled);
  }

  Series<4> prompts_;
  Series<4> evals_;
};

}  // namespace

extern const PastedFormat kLlamaTimings{
    "llama.cpp timings",
    "the timings of a request that llama.cpp prints, and Ollama's of `--verbose`", kMarkers,
    make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
