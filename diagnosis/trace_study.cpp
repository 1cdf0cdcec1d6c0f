#include "diagnosis/trace_study.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "hw/machine_names.hpp"
#include "timeline/readers/formats.hpp"
#include "workloads/model_reference.hpp"

namespace ridgeline::diagnosis {
namespace {

/// A reference as if somebody had written it into a document.
core::Node reference(const std::string& name, const std::string& option) {
  core::Node node;
  node.kind = core::Node::Kind::scalar;
  node.scalar = name;
  node.position.file = std::make_shared<const std::string>(option);
  return node;
}

}  // namespace

TraceStudy::TraceStudy(const std::filesystem::path& path)
    : recording(timeline::read_recording(path)),
      steps(timeline::find_steps(recording)),
      gates(timeline::check_integrity(recording, steps)),
      inspection(timeline::inspect(recording, steps)),
      timeline(recording, steps) {}

bool looks_like_trace(const std::filesystem::path& path) {
  if (path == "-") return true;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (std::filesystem::exists(path / "scenario.yaml", error)) return false;
    const std::filesystem::directory_iterator entries(path, error);
    return std::any_of(begin(entries), end(entries),
                       [](const auto& entry) { return entry.path().extension() == ".csv"; });
  }
  static constexpr std::array<std::string_view, 6> kEndings{".json", ".gz",  ".csv",
                                                            ".db",   ".rpd", ".sqlite"};
  return std::find(kEndings.begin(), kEndings.end(), path.extension().string()) != kEndings.end();
}

std::optional<hw::GpuSpec> gpu_named(const std::string& device_name,
                                     const core::ConfigLibrary& library) {
  const std::string best = hw::MachineNames(library).in(device_name);
  if (best.empty()) return std::nullopt;
  const core::Node node = library.resolve("hw", reference(best, "hw"));
  return hw::read_gpu_spec(core::Reader(node));
}

TraceContext trace_context(const TraceStudy& study, const std::string& hw, const std::string& model,
                           const core::ConfigLibrary& library) {
  TraceContext context;
  if (!hw.empty()) {
    const core::Node node = library.resolve("hw", reference(hw, "--hw"));
    const core::Reader in(node);
    context.gpu = hw::read_gpu_spec(in);
    in.finish();
  } else {
    context.gpu = gpu_named(study.timeline.device().name, library);
  }
  if (!model.empty()) {
    const core::Node node =
        workloads::resolve_model(library, reference(model, "--model"), "--model");
    const core::Reader in(node);
    context.model = workloads::read_model_spec(in);
    in.finish();
  }
  return context;
}

}  // namespace ridgeline::diagnosis
