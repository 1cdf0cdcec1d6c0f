#pragma once
// What the name of a step annotation says of the step: how many sequences decode and prefill, over
// how many tokens. The forms are those of vLLM, SGLang, ATOM and the PyTorch profiler.
//
//     execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)    vLLM,
//     detailed execute_context_1(888_788544)_generation_0(0) vLLM; the second number, q k, is not
//     always there step[DECODE bs=64]   step[EXTEND bs=2 toks=14721 c_sq=… c_sk=… c_sqsq=…
//     c_sqsk=…]   SGLang prefill[bs=2 tok=1200 ctx=[512, 688]]   decode[bs=117/128 tok=117 d=117]
//     ATOM ProfilerStep#12

#include <cstdint>
#include <optional>
#include <string_view>

#include "timeline/span.hpp"

namespace ridgeline::timeline {

struct StepAnnotation {
  enum class Form : std::uint8_t {
    profiler_step,
    atom,
    sglang,
    vllm,
    sglang_detailed,
    vllm_detailed
  };  // least to most informative
  Form form = Form::profiler_step;
  StepSpan shape;  // its sums; index and times are not set
};
[[nodiscard]] std::string_view name_of(StepAnnotation::Form form);

/// Nothing for a name of any other form. Sums that the form does not give stay zero.
[[nodiscard]] std::optional<StepAnnotation> read_step_annotation(std::string_view name);

}  // namespace ridgeline::timeline
