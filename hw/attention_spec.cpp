#include "hw/attention_spec.hpp"

#include <algorithm>

#include "core/lower.hpp"

namespace ridgeline::hw {
namespace {

core::Seconds short_time(const core::Reader& in, std::string_view key) {
  const auto value = in.get<core::Seconds>(key, core::Seconds{});
  in.require(value >= core::Seconds{} && value <= core::Seconds{1.0}, key, "a time of at most 1 s");
  return value;
}

double number(const core::Reader& in, std::string_view key, double fallback, double low,
              double high, const std::string& what) {
  const double value = in.get(key, fallback);
  in.require(value >= low && value <= high, key, what);
  return value;
}

std::int64_t whole(const core::Reader& in, std::string_view key, std::int64_t fallback,
                   std::int64_t low, std::int64_t high) {
  return in.has(key) ? in.integer(key, low, high) : fallback;
}

AttentionAnchor read_anchor(const core::Reader& in) {
  AttentionAnchor anchor;
  anchor.spread = number(in, "spread", 0.0, 0.0, 3.0, "a number from 0 to 3");
  if (!in.has("anchored")) return anchor;
  const core::Reader range = in.child("anchored");
  constexpr std::int64_t kMost = 1'000'000'000;
  anchor.head_dim = whole(range, "head_dim", 0, 1, kMost);
  anchor.sequences = whole(range, "sequences", 0, 1, kMost);
  anchor.keys = whole(range, "keys", 0, 1, kMost);
  return anchor;
}

AttentionTiles read_tiles(const core::Reader& in) {
  AttentionTiles tiles;
  tiles.rows = whole(in, "rows", tiles.rows, 1, 65536);
  tiles.step = whole(in, "step", tiles.step, 1, 65536);
  tiles.paired = in.get("paired", tiles.paired);
  tiles.rate = in.fraction("rate", 0.001, 1.0);
  if (in.has("throttle")) tiles.throttle = in.fraction("throttle");
  tiles.boost = number(in, "boost", tiles.boost, 1.0, 10.0, "a number from 1 to 10");
  in.require(tiles.rate * tiles.boost <= 1.0, "boost",
             "a number that keeps rate x boost within the peak");
  if (in.has("tail")) tiles.tail = in.fraction("tail");
  tiles.start = short_time(in, "start");
  tiles.exposed = number(in, "exposed", tiles.exposed, 0.0, 100.0, "a number from 0 to 100");
  tiles.fixed = short_time(in, "fixed");
  if (in.has("accumulate")) {
    tiles.accumulate = in.get<core::BytesPerSecond>("accumulate");
    in.require(tiles.accumulate >= core::BytesPerSecond{1e6}, "accumulate",
               "a bandwidth of at least 1 MB/s");
    tiles.accumulator = in.get<core::Bytes>("accumulator");
    in.require(tiles.accumulator <= core::Bytes{16.0}, "accumulator",
               "the size of one element, at most 16 B");
  }
  tiles.anchor = read_anchor(in);
  return tiles;
}

AttentionDecode read_decode(const core::Reader& in) {
  AttentionDecode decode;
  decode.rows = whole(in, "rows", decode.rows, 1, 65536);
  decode.step = whole(in, "step", decode.step, 1, 65536);
  decode.rate = in.fraction("rate", 0.001, 1.0);
  decode.bandwidth = in.fraction("bandwidth", 0.001, 1.0);
  decode.pull = number(in, "pull", decode.pull, 1.0, 1000.0, "a number from 1 to 1000");
  decode.target = number(in, "target", decode.target, 0.01, 1000.0, "a number from 0.01 to 1000");
  decode.partition = whole(in, "partition", decode.partition, 0, 1'000'000'000);
  decode.start = short_time(in, "start");
  decode.combine = short_time(in, "combine");
  decode.pack = short_time(in, "pack");
  decode.fixed = short_time(in, "fixed");
  decode.anchor = read_anchor(in);
  return decode;
}

AttentionTogether read_together(const core::Reader& in) {
  AttentionTogether together;
  together.empty = short_time(in, "empty");
  if (in.has("resident")) together.resident = in.fraction("resident", 0.001, 1.0);
  together.anchor = read_anchor(in);
  return together;
}

}  // namespace

const AttentionKernel* AttentionSpec::kernel_named(std::string_view name) const {
  const std::string lower = core::lower(name);
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const AttentionKernel& k) {
    return lower.find(k.word) != std::string::npos;
  });
  return found == kernels.end() ? nullptr : &*found;
}

AttentionSpec read_attention_spec(const core::Reader& in) {
  AttentionSpec spec;
  if (in.has("prefill")) spec.prefill = read_tiles(in.child("prefill"));
  if (in.has("backward")) spec.backward = read_tiles(in.child("backward"));
  if (in.has("decode")) spec.decode = read_decode(in.child("decode"));
  if (in.has("together")) {
    in.require(spec.prefill.has_value(), "together", "a prefill section beside it");
    spec.together = read_together(in.child("together"));
  }
  if (in.has("kernels")) {
    const core::Reader kernels = in.child("kernels");
    for (const std::string& word : kernels.keys())
      spec.kernels.push_back({word, kernels.fraction(word, 0.01, 1.0)});
  }
  spec.score = number(in, "score", 0.0, 0.0, 1e4, "a number from 0 to 10000");
  return spec;
}

}  // namespace ridgeline::hw
