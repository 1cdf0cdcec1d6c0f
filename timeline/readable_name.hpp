#pragma once
// Kernel names for sentences: "aiter::add_rmsnorm_quant_kernel" instead of 120 mangled characters.
// Tables for machines keep the name as the file has it.

#include <string>
#include <string_view>

namespace ridgeline::timeline {

/// Namespace and function without return type, template arguments and parameters; of a Tensile
/// kernel its macro tile. A name that is neither stays as it is.
[[nodiscard]] std::string readable_name(std::string_view kernel_name);

}  // namespace ridgeline::timeline
