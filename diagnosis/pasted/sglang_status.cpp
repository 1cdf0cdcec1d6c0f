// SGLang's lines for decode batches, and those for prefill batches beside them.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/series.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 2> kMarkers{"Decode batch", "Prefill batch"};

struct Field {
  std::string_view marker;
  std::string_view key;
  std::string_view unit;
};
constexpr std::array<Field, 5> kFields{{
    {"#running-req:", "serving.concurrency", ""},
    {"token usage:", "serving.kv_usage", ""},  // a fraction; the first one is of full attention
    {"gen throughput (token/s):", "measured.throughput", " /s"},
    {"#queue-req:", "serving.waiting", ""},
    {"accept len:", "serving.acceptance_length", ""},
}};
constexpr std::size_t kGraph = kFields.size();  // one more, which is a word

/// "True" behind "cuda graph:".
std::optional<bool> graph_in(std::string_view text) {
  const auto word = after(text, "cuda graph:");
  if (!word) return std::nullopt;
  if (word->starts_with("True")) return true;
  if (word->starts_with("False")) return false;
  return std::nullopt;
}

/// "DP1" of "[2026-07-04 05:01:33 DP1 TP0]"; empty where there is one engine.
std::string_view rank_in(std::string_view text) {
  const std::string_view head = text.substr(0, text.find(" batch"));
  const std::size_t at = head.find(" DP");
  if (at == std::string_view::npos || at + 3 >= head.size() || !is_digit(head[at + 3])) return {};
  return word_at(head.substr(at + 1), "]");
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& /*out*/) override {
    if (!contains(line.text, "#running-req:") && !contains(line.text, "#new-seq:")) return false;
    if (contains(line.text, "Prefill batch")) return true;
    Series<kGraph + 1>::Values values{};
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const auto number = number_after(line.text, kFields[i].marker);
      values[i] = number ? number->value : kAbsent;
    }
    const auto graph = graph_in(line.text);
    values[kGraph] = graph ? static_cast<double>(*graph) : kAbsent;
    status_.add(line, values, values[0] == 0.0, rank_in(line.text));
    return true;
  }

  void finish(Findings& out) override {
    status_.finish("sglang log", out, [&](std::size_t i, const Line& line) {
      if (i == kGraph) {
        out.facts.add("engine.cuda_graphs", *graph_in(line.text) ? "true" : "false", line,
                      Source::sampled);
        return;
      }
      const auto number = number_after(line.text, kFields[i].marker);
      if (!number || (number->value == 0.0 && kFields[i].unit == " /s")) return;
      out.facts.add(kFields[i].key, number->digits + std::string(kFields[i].unit), line,
                    Source::sampled);
    });
  }

 private:
  Series<kGraph + 1> status_;
};

}  // namespace

extern const PastedFormat kSglangStatus{
    "sglang log",
    "SGLang's lines for decode batches: throughput, running and queued requests, token usage",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
