// The status line of vLLM's engine, V0 and V1.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/series.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 1> kMarkers{"Avg generation throughput:"};

struct Field {
  std::string_view marker;
  std::string_view key;
  std::string_view unit;
};
constexpr std::array<Field, 6> kFields{{
    {"Avg prompt throughput:", "measured.prompt_throughput", " /s"},
    {"Avg generation throughput:", "measured.throughput", " /s"},
    {"Running:", "serving.concurrency", ""},
    {"Waiting:", "serving.waiting", ""},  // V0 says "Pending:"
    {"GPU KV cache usage:", "serving.kv_usage", " %"},
    {"Prefix cache hit rate:", "serving.prefix_cache_hit_rate", " %"},
}};

std::optional<Number> number_of(std::string_view text, std::size_t field) {
  if (field == 3 && contains(text, "Pending:")) return number_after(text, "Pending:");
  auto number = number_after(text, kFields[field].marker);
  if (number && kFields[field].unit == " %" && !number->rest.starts_with('%')) return std::nullopt;
  return number;
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& /*out*/) override {
    Series<kFields.size()>::Values values{};
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const auto number = number_of(line.text, i);
      values[i] = number ? number->value : kAbsent;
    }
    const bool idle = values[0] == 0.0 && values[1] == 0.0 && values[2] == 0.0;
    const auto engine = after(line.text, "Engine ");
    status_.add(line, values, idle, engine ? word_at(*engine, ":") : std::string_view{});
    return true;
  }

  void finish(Findings& out) override {
    status_.finish("vllm log", out, [&](std::size_t i, const Line& line) {
      const auto number = number_of(line.text, i);
      // A later half without prompts or answers has no rate to tell.
      if (!number || (number->value == 0.0 && kFields[i].unit == " /s")) return;
      out.facts.add(kFields[i].key, number->digits + std::string(kFields[i].unit), line,
                    Source::sampled);
    });
  }

 private:
  Series<kFields.size()> status_;
};

}  // namespace

extern const PastedFormat kVllmStatus{
    "vllm log", "vLLM's status lines: throughput, running and waiting requests, KV cache usage",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
