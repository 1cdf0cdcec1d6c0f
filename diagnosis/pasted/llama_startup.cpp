// What llama.cpp says while it loads a model: how much of it the GPU got, and the model's shape.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 9> kMarkers{
    "layers to GPU",  "load_print_meta:",  "print_info:",  "new_context_with_model:",
    "llama_context:", "model buffer size", "KV self size", "ggml_cuda_init",
    "Device 0:"};

struct Setting {
  std::string_view name;
  std::string_view key;
};
constexpr std::array<Setting, 10> kSettings{{{"n_layer", "model.layers"},
                                             {"n_embd", "model.hidden"},
                                             {"n_head", "model.heads"},
                                             {"n_head_kv", "model.kv_heads"},
                                             {"n_ctx", "engine.n_ctx"},
                                             {"n_batch", "engine.n_batch"},
                                             {"n_ubatch", "engine.n_ubatch"},
                                             {"flash_attn", "engine.flash_attn"},
                                             {"general.name", "model.name"},
                                             {"n_seq_max", "engine.n_parallel"}}};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    if (const auto layers = number_after(text, "offloaded ")) {
      const auto of =
          layers->rest.starts_with('/') ? number_at(layers->rest.substr(1)) : std::nullopt;
      if (of && of->rest.starts_with("layers to GPU"))
        out.facts.add("engine.offloaded_layers", layers->digits + " of " + of->digits, line);
      return true;
    }
    if (contains(text, "layers to GPU") || contains(text, "ggml_cuda_init")) return true;
    if (const auto device = after(text, "Device 0:")) {
      const std::string_view name = trim(device->substr(0, device->find(',')));
      if (!contains(text, "compute capability") && !contains(text, "Wave Size")) return false;
      out.facts.add("machine.name", std::string(name), line);
      return true;
    }
    if (take_buffer(line, out.facts)) return true;
    return take_setting(line, out.facts);
  }

 private:
  /// "load_tensors:        CUDA0 model buffer size =  4155.99 MiB"
  static bool take_buffer(const Line& line, Gathered& out) {
    const auto size = number_after(line.text, "buffer size =");
    if (!size || !contains(line.text, "model buffer size")) return false;
    const bool on_host = contains(line.text, "CPU") || contains(line.text, "_Host");
    if (size->rest == "MiB" && size->value > 0.0) {
      out.add(on_host ? "memory.weights_on_host" : "memory.weights", size->digits + " MiB", line,
              Source::stated, Repeat::ranks);
    }
    return true;
  }

  /// "print_info: n_layer          = 32"
  static bool take_setting(const Line& line, Gathered& out) {
    const std::size_t colon = line.text.find(": ");
    const auto equals = line.text.find(" = ");
    if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon)
      return false;
    const std::string_view name = trim(line.text.substr(colon + 2, equals - colon - 2));
    const std::string_view value = trim(line.text.substr(equals + 3));
    if (name == "model params") {
      if (const auto number = number_at(value); number && number->rest == "B")
        out.add("model.parameters", number->digits + "e9", line);
    } else if (name == "model size" || name == "file size") {
      if (const auto number = number_at(value); number && number->rest.starts_with("GiB"))
        out.add("model.weight_bytes", number->digits + " GiB", line);
    }
    for (const Setting& setting : kSettings) {
      if (setting.name != name) continue;
      const auto number = number_at(value);
      if (setting.key == "model.name") {
        if (value != ".") out.add(setting.key, std::string(value), line);
      } else if (setting.key == "engine.flash_attn") {
        if (value != "auto") out.add(setting.key, truth_text(value), line);
      } else if (number && number->rest.empty()) {
        out.add(setting.key, number->digits, line);
      }
    }
    return true;
  }
};

}  // namespace

extern const PastedFormat kLlamaStartup{
    "llama.cpp startup",
    "what llama.cpp says while it loads: layers on the GPU, buffers, the model's shape", kMarkers,
    make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
