#pragma once
// What one machine's attention kernels are like: tiles, rates and fixed times, each measured or
// fitted to measurements. hw/attention_cost.hpp says what the constants do. A phase without
// constants is priced by the neutral physics: FLOP over the sustained rate, bytes over the
// sustained bandwidth.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"
#include "core/units.hpp"

namespace ridgeline::hw {

/// What the constants of a phase were fitted to, and how well they fit.
struct AttentionAnchor {
  std::int64_t head_dim = 0;   // the only head dimension measured; 0 says nothing
  std::int64_t sequences = 0;  // up to so many sequences; 0 says nothing
  std::int64_t keys = 0;       // up to so many keys a sequence; 0 says nothing
  double spread = 0.0;         // standard deviation of ln(predicted / measured)
  bool operator==(const AttentionAnchor&) const = default;
};

/// A kernel that cuts its sequences into tiles: of query rows in the forward pass, of keys in the
/// backward pass.
struct AttentionTiles {
  std::int64_t rows = 128;  // of a tile
  std::int64_t step = 128;  // what a tile takes in at once of the other side
  bool paired = false;      // causal: a workgroup takes a long tile and a short one, so that all
                            // last equally long
  double rate = 1.0;        // of the peak matrix rate, every unit busy
  double throttle = 0.0;  // power: idle units let the others run busy^-throttle as fast; 1/3 where
                          // power goes with the cube of the clock, 0 where power is no limit
  double boost = 1.0;     // at most so much faster
  double tail = 0.0;  // unequal tiles: share of (longest - shortest) that the last ones stick out
  core::Seconds start{};  // of a tile: first loads, last store
  double exposed = 0.0;   // query tensors' worth of traffic, at peak bandwidth, under which no
                          // arithmetic runs
  core::Seconds fixed{};  // of the kernel
  // Backward: every step adds its part of the query gradient to memory, in elements of this size
  // ...
  core::Bytes accumulator{};
  core::BytesPerSecond accumulate{};  // ... at this rate, all units together; zero takes no time
  AttentionAnchor anchor;
  bool operator==(const AttentionTiles&) const = default;
};

/// A kernel of one new token a sequence against its KV cache.
struct AttentionDecode {
  std::int64_t rows = 64;      // the query heads of a KV head are padded to these
  std::int64_t step = 128;     // keys that a workgroup takes in at once
  double rate = 1.0;           // of the peak matrix rate
  double bandwidth = 1.0;      // of the peak HBM bandwidth, pages gathered
  double pull = 1.0;           // how many times its even share of that one workgroup can draw
  double target = 2.0;         // KV is split until there are so many workgroups for every unit
  std::int64_t partition = 0;  // or into pieces of so many keys, where that is above 0
  core::Seconds start{};       // of a workgroup
  core::Seconds combine{};     // adding the pieces up, when there are several
  core::Seconds pack{};  // copies that bring a group's query heads together, when there are several
                         // heads and sequences
  core::Seconds fixed{};  // of the kernel
  AttentionAnchor anchor;
  bool operator==(const AttentionDecode&) const = default;
};

/// One kernel for the prefills and the decodes of a step. Decodes get a prefill's tiles then: a
/// workgroup for every query head, unsplit.
struct AttentionTogether {
  core::Seconds empty{};  // of a workgroup that finds its tile beyond its sequence
  double resident = 0.8;  // KV heads up to this fraction of the last cache are read from HBM once
  AttentionAnchor anchor;
  bool operator==(const AttentionTogether&) const = default;
};

/// Another library's kernel, by how much slower its arithmetic is than the one that the constants
/// are of.
struct AttentionKernel {
  std::string word;  // in its name, lower case
  double rate = 1.0;
  bool operator==(const AttentionKernel&) const = default;
};

struct AttentionSpec {
  std::vector<AttentionKernel> kernels{};
  std::optional<AttentionTiles> prefill;
  std::optional<AttentionTiles> backward;
  std::optional<AttentionDecode> decode;
  std::optional<AttentionTogether> together;  // none: a step's prefills and decodes are two kernels
  double score = 0.0;  // elements of head dimension that scaling and exponentiating a score costs
  bool operator==(const AttentionSpec&) const = default;

  /// The first whose word stands in a kernel's name, whatever the case; null if none does.
  [[nodiscard]] const AttentionKernel* kernel_named(std::string_view name) const;
};

/// Reads the map `attention:` of a GPU; every part is optional. Errors as core/reader.hpp has them.
[[nodiscard]] AttentionSpec read_attention_spec(const core::Reader& in);

}  // namespace ridgeline::hw
