// Which kernels an engine chose, and for which it found no tuned configuration.

#include <fmt/format.h>

#include <array>
#include <set>

#include "core/lower.hpp"
#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 8> kMarkers{" backend",
                                                   "default MoE",
                                                   "MoE kernel config",
                                                   "not found tuned config",
                                                   "using default solution",
                                                   "no tuned config",
                                                   "Fallback to triton version",
                                                   "MoE config"};

constexpr std::array<std::string_view, 9> kAttentionWords{
    "attention", "attn", "flash", "mla", "xformers", "sdpa", "triton", "aiter", "tokenspeed"};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    if (contains(text, "not found tuned config") || contains(text, "no tuned config") ||
        contains(text, "using default solution")) {
      const auto shape = after(text, "shape is ");
      const std::string_view what =
          shape ? shape->substr(0, shape->find(", not found")) : line.body;
      if (shapes_.empty()) {
        first_text_ = text;
        first_number_ = line.number;
      }
      shapes_.emplace(what.substr(0, 200));
      return true;
    }
    if (contains(text, "MoE") && contains(text, "config")) return take_moe_config(line, out.facts);
    return take_backend(line, out.facts);
  }

  void finish(Findings& out) override {
    if (shapes_.empty()) return;
    Line line;
    line.text = first_text_;
    line.number = first_number_;
    out.facts.add("engine.untuned_gemms", fmt::format("{}", shapes_.size()), line);
  }

 private:
  static bool take_moe_config(const Line& line, Gathered& out) {
    const bool is_default =
        contains(line.text, "default MoE") || contains(line.text, "Config file not found");
    if (is_default) out.add("engine.moe_config", "default", line);
    // The file's name has the part in it: "...,device_name=NVIDIA_L20,dtype=fp8_w8a8.json".
    if (const auto device = after(line.text, "device_name=")) {
      std::string name(word_at(*device, ",)\"'"));
      if (const std::size_t end = name.find(".json"); end != std::string::npos) name.resize(end);
      if (name.ends_with("_down")) name.resize(name.size() - 5);
      for (char& c : name) {
        if (c == '_') c = ' ';
      }
      out.add("machine.name", name, line, Source::implied);
    }
    return is_default || contains(line.text, "MoE kernel config");
  }

  /// "Using Flash Attention backend on V1 engine.", "Use triton backend by default."
  static bool take_backend(const Line& line, Gathered& out) {
    constexpr std::size_t kLongestName = 40;
    for (const std::string_view verb : {"Using ", "Use "}) {
      const auto rest = after(line.body, verb);
      if (!rest) continue;
      const std::size_t end = rest->find(" backend");
      if (end == std::string_view::npos || end > kLongestName) continue;
      std::string_view name = rest->substr(0, end);
      while (name.starts_with('\'') || name.starts_with('"')) name.remove_prefix(1);
      const std::string lower = core::lower(name);
      if (contains(lower, "moe")) {
        out.add("engine.moe_backend", std::string(name), line);
        return true;
      }
      if (contains(lower, "vit") || contains(lower, "encoder")) return false;  // of pictures
      for (const std::string_view word : kAttentionWords) {
        if (!contains(lower, word)) continue;
        if (name.ends_with(" attention")) name.remove_suffix(10);
        out.add("engine.attention_backend", std::string(name), line);
        return true;
      }
    }
    return false;
  }

  std::set<std::string, std::less<>> shapes_;
  std::string first_text_;
  int first_number_ = 0;
};

}  // namespace

extern const PastedFormat kKernelChoice{"kernel choice",
                                        "which attention and MoE backends an engine took, and for "
                                        "which shapes it found no tuned kernel",
                                        kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
