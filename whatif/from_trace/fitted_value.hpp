#pragma once
// One number that was fitted to a trace, and from what.

#include <cstdint>
#include <string>

namespace ridgeline::whatif {

struct FittedValue {
  std::string key;
  std::string before;  // as the stack has it
  std::string after;
  std::string from;        // what it was read from, in words
  std::int64_t count = 0;  // so many `of`
  std::string of;          // "kernels", "steps", "launches"
  std::string bound;       // what kept it from going further; empty: nothing
};

}  // namespace ridgeline::whatif
