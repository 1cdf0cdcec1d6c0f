#include "fidelity/machines.hpp"

#include <algorithm>
#include <cctype>
#include <memory>

namespace ridgeline::fidelity {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Letters and digits only, lower case, a space where two numbers meet: "X300 (SXM)" and "x300_sxm"
/// meet, and "X300 80GB" stays apart from an X30080.
std::string plain(std::string_view text) {
  std::string out;
  bool apart = false;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) == 0) {
      apart = true;
      continue;
    }
    if (apart && is_digit(c) && !out.empty() && is_digit(out.back())) out += ' ';
    apart = false;
    out += static_cast<char>(std::tolower(u));
  }
  return out;
}

/// Where the word stands in the text, both plain. Not where its number goes on: X4 is not in X40.
std::size_t find_word(const std::string& text, const std::string& word) {
  std::size_t at = text.find(word);
  while (at != std::string::npos && !word.empty() && is_digit(word.back()) &&
         at + word.size() < text.size() && is_digit(text[at + word.size()]))
    at = text.find(word, at + 1);
  return at;
}

}  // namespace

core::Node machine_document(const core::ConfigLibrary& library, const std::string& name) {
  core::Node reference;
  reference.kind = core::Node::Kind::scalar;
  reference.scalar = name;
  reference.position.file = std::make_shared<const std::string>("--hw");
  return library.resolve("hw", reference);
}

Machines::Machines(const core::ConfigLibrary& library, std::optional<std::string> always)
    : library_(library), always_(std::move(always)), names_(library.names("hw")) {
  if (always_) static_cast<void>(named(*always_));
}

const hw::GpuSpec& Machines::named(const std::string& name) {
  if (const auto it = specs_.find(name); it != specs_.end()) return it->second;
  const core::Node node = machine_document(library_, name);
  const core::Reader in(node, "hw");
  hw::GpuSpec spec = hw::read_gpu_spec(in);
  in.finish();
  return specs_.emplace(name, std::move(spec)).first->second;
}

/// Of the machines of an architecture that the text names, the one with constants of its own that
/// has as many compute units as the text says, or the first that has.
std::string Machines::by_architecture(const std::string& wanted) {
  std::string best;
  for (const std::string& name : names_) {
    const hw::GpuSpec& gpu = named(name);
    const std::string architecture = plain(gpu.architecture);
    if (architecture.empty() || wanted.find(architecture) == std::string::npos) continue;
    if (gpu.borrowed || gpu.gemm.families.empty()) continue;
    if (wanted.find(std::to_string(gpu.compute_units) + "cu") != std::string::npos) return name;
    if (best.empty()) best = name;
  }
  return best;
}

/// The other names that a machine's own file gives it: those in the file that it builds on are
/// another machine's.
const std::vector<std::pair<std::string, std::string>>& Machines::words() {
  if (!words_.empty()) return words_;
  for (const std::string& name : names_) {
    words_.emplace_back(name, name);
    const core::Node own = core::load_yaml(library_.root() / "hw" / (name + ".yaml"));
    if (own.find("aliases") == nullptr) continue;
    for (const std::string& alias : named(name).aliases) words_.emplace_back(alias, name);
  }
  return words_;
}

const hw::GpuSpec* Machines::find(const std::string& text) {
  const std::string name = name_of(text);
  return name.empty() ? nullptr : &named(name);
}

std::string Machines::name_of(const std::string& text) {
  if (always_) return *always_;
  if (const auto it = found_.find(text); it != found_.end()) return it->second;
  const std::string wanted = plain(text);
  std::string best;
  std::size_t best_at = std::string::npos;
  std::size_t best_size = 0;
  // The machine named first; of two that begin there ("h100", "h100_pcie") the longer name.
  const auto consider = [&](const std::string& name, const std::string& word) {
    const std::size_t at = find_word(wanted, plain(word));
    if (at == std::string::npos) return;
    if (at < best_at || (at == best_at && word.size() > best_size)) {
      best = name;
      best_at = at;
      best_size = word.size();
    }
  };
  for (const auto& [word, name] : words()) consider(name, word);
  if (best.empty()) best = by_architecture(wanted);
  found_[text] = best;
  return best;
}

}  // namespace ridgeline::fidelity
