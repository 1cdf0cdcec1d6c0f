#pragma once
// The diagnosis' view of a model whose dimensions are known exactly.

#include "diagnosis/evidence.hpp"
#include "workloads/model_spec.hpp"

namespace ridgeline::diagnosis {

[[nodiscard]] Model model_facts(const workloads::ModelSpec& model, hw::Dtype kv_cache);

}  // namespace ridgeline::diagnosis
