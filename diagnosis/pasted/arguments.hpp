#pragma once
// Arguments of servers and their benchmarks, as a command line and as the dump in a log have them.
// One table for both: a name with its aliases, the key it becomes, and for whose programs it holds,
// because --batch-size is a chunk of prompt in llama.cpp and a batch of requests in a benchmark.

#include <cstdint>
#include <string_view>

#include "diagnosis/pasted/gathered.hpp"

namespace ridgeline::diagnosis::pasted {

/// Whose arguments they are; bits.
enum Owner : std::uint8_t {
  kServer = 1,   // vLLM, SGLang, TensorRT-LLM, TGI
  kClient = 2,   // benchmarks against a server
  kOffline = 4,  // benchmarks that run the engine themselves
  kLlama = 8,    // llama.cpp
};

enum class ArgumentKind : std::uint8_t { text, flag, off_flag };

struct Argument {
  std::string_view name;  // as vLLM writes it, with underscores
  std::string_view key;
  ArgumentKind kind;
  unsigned owners;
};

/// The argument called `name` ("max-num-seqs", "max_num_seqs", "tp") among those of `owner`; null
/// if it is of no use.
[[nodiscard]] const Argument* find_argument(std::string_view name, Owner owner);

/// Adds it with its value ("true" for a flag that is merely there). Values that mean "as usual"
/// (None, auto, -1) say nothing.
void take_argument(const Argument& argument, std::string_view value, Owner owner, const Line& line,
                   Gathered& out);

}  // namespace ridgeline::diagnosis::pasted
