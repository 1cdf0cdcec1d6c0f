#pragma once
// What the workload tests share beside tests/core/fixtures.hpp: YAML from a string, a model, a
// source drained.

#include <string>
#include <vector>

#include "core/document.hpp"
#include "core/reader.hpp"
#include "tests/core/fixtures.hpp"
#include "workloads/model_spec.hpp"
#include "workloads/workload_spec.hpp"

namespace ridgeline::tests {

/// The workload that YAML text describes, every key accounted for. Errors call the text "w.yaml".
inline workloads::WorkloadSpec workload(const std::string& yaml,
                                        const std::string& file = "w.yaml") {
  const core::Node node = core::parse_yaml(yaml, file);
  const core::Reader in(node);
  const workloads::WorkloadSpec spec = workloads::read_workload_spec(in);
  in.finish();
  return spec;
}

/// A model as a scenario would write it: a name, or a map.
inline workloads::ModelSpec model(const std::string& yaml) {
  core::Node reference = core::parse_yaml(yaml, "m.yaml");
  const core::Node node = shipped().resolve("models", reference, "model");
  const core::Reader in(node, "model");
  const workloads::ModelSpec spec = workloads::read_model_spec(in);
  in.finish();
  return spec;
}

/// Everything an open-loop source or a trace has to give.
inline std::vector<workloads::Request> drain(workloads::RequestSource& source) {
  std::vector<workloads::Request> out;
  while (source.next_arrival()) out.push_back(source.take());
  return out;
}

}  // namespace ridgeline::tests
