// The arguments that an engine or a benchmark repeats in its log: vLLM's "with config: model='...',
// dtype=torch.bfloat16, ..." and "non-default args: {...}", SGLang's "server_args=ServerArgs(...)",
// Python's "Namespace(...)".

#include <array>

#include "diagnosis/pasted/arguments.hpp"
#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 5> kMarkers{
    "LLM engine (", "non-default args:", "ServerArgs(", "Namespace(", "engine with config:"};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/// The value at the front: up to the comma that ends it, whatever brackets and quotes it holds.
std::string_view value_at(std::string_view text) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth < 0) return trim(text.substr(0, i));
    } else if (c == ',' && depth == 0) {
      return trim(text.substr(0, i));
    }
  }
  return trim(text);
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view text = line.text;
    if (const auto version = after(text, "LLM engine ("))
      out.facts.add("engine.version", std::string(word_at(*version, ")")), line);
    std::size_t begin = std::string_view::npos;
    for (const std::string_view marker :
         {"with config:", "non-default args:", "ServerArgs(", "Namespace("}) {
      const std::size_t at = text.find(marker);
      if (at != std::string_view::npos && at + marker.size() < begin) begin = at + marker.size();
    }
    if (begin == std::string_view::npos) return false;
    const std::string_view list = text.substr(begin);
    const bool is_client = contains(list, "request_rate=") || contains(list, "max_concurrency=");
    const bool is_bench =
        is_client || contains(list, "num_prompts=") || contains(list, "num_iters=");
    // The defaults of other data sets are in the list too.
    const bool has_lengths = contains(list, "dataset_name='random'");
    take_list(list,
              is_client  ? kClient
              : is_bench ? kOffline
                         : kServer,
              has_lengths, line, out.facts);
    return true;
  }

 private:
  static void take_list(std::string_view list, Owner owner, bool has_lengths, const Line& line,
                        Gathered& out) {
    std::size_t i = 0;
    while (i < list.size()) {
      while (i < list.size() && !is_name(list[i])) ++i;
      const std::size_t begin = i;
      while (i < list.size() && is_name(list[i])) ++i;
      const std::string_view name = list.substr(begin, i - begin);
      while (i < list.size() && (list[i] == '\'' || list[i] == '"')) ++i;
      if (i >= list.size() || (list[i] != '=' && list[i] != ':')) continue;
      ++i;
      const Argument* argument = find_argument(name, owner);
      if (argument == nullptr) continue;  // what is in its value may be of use
      const std::string_view value = value_at(list.substr(i));
      if (has_lengths || !name.starts_with("random_"))
        take_argument(*argument, value, owner, line, out);
      i += value.size();
    }
  }
};

}  // namespace

extern const PastedFormat kEngineConfig{
    "engine config", "the arguments an engine or a benchmark repeats in its log (vLLM, SGLang)",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
