#include "hw/kernel_work.hpp"

namespace ridgeline::hw {

const std::vector<core::Choice<KernelKind>>& kernel_kind_names() {
  static const std::vector<core::Choice<KernelKind>> names{
      {"gemm", KernelKind::gemm},
      {"attention_prefill", KernelKind::attention_prefill},
      {"attention_backward", KernelKind::attention_backward},
      {"attention_decode", KernelKind::attention_decode},
      {"attention_scores", KernelKind::attention_scores},
      {"softmax", KernelKind::softmax},
      {"attention_values", KernelKind::attention_values},
      {"norm", KernelKind::norm},
      {"elementwise", KernelKind::elementwise},
      {"rope", KernelKind::rope},
      {"cache_write", KernelKind::cache_write},
      {"cast", KernelKind::cast},
      {"embedding", KernelKind::embedding},
      {"sampling", KernelKind::sampling},
      {"loss", KernelKind::loss},
      {"quantize", KernelKind::quantize},
      {"routing", KernelKind::routing},
      {"experts", KernelKind::experts},
      {"collective", KernelKind::collective},
      {"copy", KernelKind::copy},
  };
  return names;
}

std::string_view name_of(KernelKind kind) {
  return kernel_kind_names()[static_cast<std::size_t>(kind)].name;
}

}  // namespace ridgeline::hw
