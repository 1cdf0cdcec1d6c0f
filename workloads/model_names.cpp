#include "workloads/model_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/spelling.hpp"

namespace ridgeline::workloads {
namespace {

/// How a model was tuned, and in which format its weights are stored: neither changes its shape.
constexpr std::array<std::string_view, 48> kBehind{
    "instruct", "chat",  "it",      "hf",   "base",      "dpo",     "sft",    "gguf",
    "fp8",      "fp16",  "bf16",    "fp4",  "nvfp4",     "mxfp4",   "int4",   "int8",
    "awq",      "gptq",  "bnb",     "4bit", "8bit",      "w4a16",   "w8a8",   "w8a16",
    "w4a8",     "g128",  "dynamic", "kv",   "quantized", "autofp8", "marlin", "sym",
    "ptpc",     "block", "q2",      "q3",   "q4",        "q5",      "q6",     "q8",
    "k",        "m",     "s",       "l",    "xl",        "0",       "1",      "safetensors"};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) == 0) {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    out.back() += static_cast<char>(std::tolower(u));
  }
  return out;
}

/// Parts of a path, the last first; "models--org--name" is how a hub's cache writes one.
std::vector<std::string> parts_of(std::string_view path) {
  std::string text(path);
  for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at))
    text.replace(at, 2, "/");
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of("/\\:", begin), text.size());
    if (end > begin) parts.insert(parts.begin(), text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The words of `part` behind `word`, which stands at its front; nothing where it does not.
std::optional<std::vector<std::string>> behind(const std::string& part, const std::string& word) {
  const core::Spelling spelling(part);
  if (word.empty() || !spelling.text.starts_with(word)) return std::nullopt;
  const bool whole = spelling.text.size() == word.size() || spelling.begins[word.size()] ||
                     spelling.text[word.size()] == ' ';
  if (!whole) return std::nullopt;
  // The same words, as they were parted: those that begin behind `word`.
  std::vector<std::string> out = words(part);
  std::size_t letters = 0;
  const auto front = std::find_if(out.begin(), out.end(), [&](const std::string& w) {
    if (letters >= static_cast<std::size_t>(
                       std::count_if(word.begin(), word.end(), [](char c) { return c != ' '; })))
      return true;
    letters += w.size();
    return false;
  });
  out.erase(out.begin(), front);
  return out;
}

bool harmless(const std::vector<std::string>& rest) {
  return std::all_of(rest.begin(), rest.end(), [](const std::string& word) {
    return std::find(kBehind.begin(), kBehind.end(), word) != kBehind.end();
  });
}

}  // namespace

ModelNames::ModelNames(const core::ConfigLibrary& library) {
  for (const auto& [word, name] : library.words("models"))
    words_.emplace_back(core::plain(word), name);
  // The longer name is the more exact one.
  std::stable_sort(words_.begin(), words_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::optional<NamedModel> ModelNames::in(std::string_view path) const {
  for (const std::string& part : parts_of(path)) {
    for (const auto& [word, name] : words_) {
      const auto rest = behind(part, word);
      if (rest && harmless(*rest)) return NamedModel{name, *rest};
    }
  }
  return std::nullopt;
}

std::vector<std::string> words_of_checkpoint(std::string_view path) {
  const std::vector<std::string> parts = parts_of(path);
  return parts.empty() ? std::vector<std::string>{} : words(parts.front());
}

}  // namespace ridgeline::workloads
