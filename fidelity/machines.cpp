#include "fidelity/machines.hpp"

#include <exception>
#include <memory>

#include "core/error.hpp"
#include "core/spelling.hpp"
#include "workloads/model_reference.hpp"

namespace ridgeline::fidelity {

core::Node machine_document(const core::ConfigLibrary& library, const std::string& name) {
  core::Node reference;
  reference.kind = core::Node::Kind::scalar;
  reference.scalar = name;
  reference.position.file = std::make_shared<const std::string>("--hw");
  return library.resolve("hw", reference);
}

core::Node model_document(const core::ConfigLibrary& library, std::string name,
                          const std::string& place) {
  core::Node reference;
  reference.kind = core::Node::Kind::scalar;
  reference.position.file = std::make_shared<const std::string>(place);
  std::exception_ptr whole;  // what is wrong with the name as it stands
  while (true) {
    reference.scalar = name;
    try {
      return workloads::resolve_model(library, reference, "model");
    } catch (const core::ConfigError&) {
      if (!whole) whole = std::current_exception();
      // "-99.9", "-FP8": what follows the last hyphen may be no part of the name.
      const std::size_t hyphen = name.rfind('-');
      if (hyphen == std::string::npos) std::rethrow_exception(whole);
      name.erase(hyphen);
    }
  }
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
    const std::string architecture = core::plain(gpu.architecture);
    if (architecture.empty() || wanted.find(architecture) == std::string::npos) continue;
    if (gpu.borrowed || gpu.gemm.families.empty()) continue;
    if (wanted.find(std::to_string(gpu.compute_units) + "cu") != std::string::npos) return name;
    if (best.empty()) best = name;
  }
  return best;
}

const workloads::ModelSpec& Machines::model(const std::string& text, const std::string& place) {
  if (const auto it = models_.find(text); it != models_.end()) return it->second;
  core::Node node = model_document(library_, text, place);
  const core::Reader in(node, "model");
  workloads::ModelSpec spec = workloads::read_model_spec(in);
  in.finish();
  return models_.emplace(text, std::move(spec)).first->second;
}

const workloads::StackSpec& Machines::stack(const std::string& name, const std::string& place) {
  if (const auto it = stacks_.find(name); it != stacks_.end()) return it->second;
  core::Node reference;
  reference.kind = core::Node::Kind::scalar;
  reference.scalar = name;
  reference.position.file = std::make_shared<const std::string>(place);
  const core::Node node = library_.resolve("stacks", reference);
  workloads::StackSpec spec = workloads::read_stack_spec(core::Reader(node, "stack"));
  return stacks_.emplace(name, std::move(spec)).first->second;
}

const hw::GpuSpec* Machines::find(const std::string& text) {
  const std::string name = name_of(text);
  return name.empty() ? nullptr : &named(name);
}

std::string Machines::name_of(const std::string& text) {
  if (always_) return *always_;
  if (const auto it = found_.find(text); it != found_.end()) return it->second;
  if (!words_) words_.emplace(library_);
  std::string best = words_->in(text);
  if (best.empty()) best = by_architecture(core::plain(text));
  found_[text] = best;
  return best;
}

}  // namespace ridgeline::fidelity
