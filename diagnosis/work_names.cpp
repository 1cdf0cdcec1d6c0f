#include "diagnosis/work_names.hpp"

#include <array>

namespace ridgeline::diagnosis {

std::span<const WorkName> work_names() {
  using core::Dimension;
  static constexpr std::array kNames{
      WorkName{&Work::bandwidth, "HBM bandwidth", Dimension::bytes_per_second},
      WorkName{&Work::peak, "peak FLOP rate", Dimension::flop_per_second},
      WorkName{&Work::parameters, "parameters a token passes through", Dimension::none},
      WorkName{&Work::weight_bytes, "weight bytes", Dimension::bytes},
      WorkName{&Work::weights_read, "weight bytes read", Dimension::bytes},
      WorkName{&Work::kv_per_token, "KV bytes of a token", Dimension::bytes},
      WorkName{&Work::context, "context of a sequence", Dimension::none},
      WorkName{&Work::kv_expected, "KV bytes as stated", Dimension::bytes},
      WorkName{&Work::kv_read, "KV bytes read", Dimension::bytes},
      WorkName{&Work::bytes, "bytes read", Dimension::bytes},
      WorkName{&Work::sequences, "sequences", Dimension::none},
      WorkName{&Work::tokens, "tokens", Dimension::none},
      WorkName{&Work::tokens_implied, "tokens that the FLOP counter accounts for", Dimension::none},
      WorkName{&Work::riding, "prompt tokens that ride along", Dimension::none},
      WorkName{&Work::linear_flop, "FLOP of the linear layers", Dimension::flop},
      WorkName{&Work::attention_flop, "FLOP of attention", Dimension::flop},
      WorkName{&Work::attention_flop_square, "FLOP of attention without its mask", Dimension::flop},
      WorkName{&Work::flop, "useful FLOP", Dimension::flop},
      WorkName{&Work::flop_expected, "share of the peak FLOP rate, as stated", Dimension::fraction},
      WorkName{&Work::hbm_expected, "share of HBM bandwidth, as stated", Dimension::fraction},
      WorkName{&Work::score_bytes, "bytes of a layer's score matrix", Dimension::bytes},
  };
  return kNames;
}

}  // namespace ridgeline::diagnosis
