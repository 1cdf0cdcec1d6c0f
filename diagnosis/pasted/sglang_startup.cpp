// What SGLang says once when it starts: weights, KV cache, graph capture.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 6> kMarkers{"max_total_num_tokens=", "KV Cache is allocated",
                                                   "Load weight end",       "Load weight begin",
                                                   "Capture cuda graph",    "Capture target"};

struct Setting {
  std::string_view marker;
  std::string_view key;
};
constexpr std::array<Setting, 5> kSettings{
    {{"max_total_num_tokens=", "memory.kv_tokens"},
     {"chunked_prefill_size=", "engine.chunked_prefill_size"},
     {"max_prefill_tokens=", "engine.max_prefill_tokens"},
     {"max_running_requests=", "engine.max_num_seqs"},
     {"context_len=", "engine.max_model_len"}}};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    if (contains(text, "max_total_num_tokens=")) {
      for (const Setting& setting : kSettings) {
        if (const auto number = number_after(text, setting.marker))
          out.facts.add(setting.key, number->digits, line, Source::stated, Repeat::ranks);
      }
      return true;
    }
    if (const auto tokens = number_after(text, "#tokens:"); tokens && contains(text, "KV Cache")) {
      out.facts.add("memory.kv_tokens", tokens->digits, line, Source::implied, Repeat::ranks);
      return true;
    }
    if (contains(text, "Load weight")) {  // GB are 2^30 bytes there
      const auto usage = number_after(text, "mem usage=");
      if (usage && usage->rest.starts_with("GB"))
        out.facts.add("memory.weights", usage->digits + " GiB", line, Source::stated,
                      Repeat::ranks);
      return true;
    }
    if (contains(text, "Capture ")) {
      out.facts.add("engine.cuda_graphs", "true", line, Source::implied);
      const auto usage = number_after(text, "mem usage=");
      if (usage && usage->rest.starts_with("GB") && usage->value > 0.0 && contains(text, "end"))
        out.facts.add("memory.graphs", usage->digits + " GiB", line, Source::stated, Repeat::ranks);
      return true;
    }
    return contains(text, "KV Cache is allocated");
  }
};

}  // namespace

extern const PastedFormat kSglangStartup{
    "sglang startup", "what SGLang says when it starts: weights, KV cache tokens, graph capture",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
