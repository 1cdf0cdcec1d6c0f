#pragma once
// A page for whoever must decide: what to do in two sentences, the arithmetic, what it gains and
// costs, what not to do instead, and what is not known. GitHub's markdown.

#include <string>

#include "diagnosis/explain.hpp"

namespace ridgeline::diagnosis {

[[nodiscard]] std::string to_memo(const Diagnosis& diagnosis, const Explanation& explanation);

}  // namespace ridgeline::diagnosis
