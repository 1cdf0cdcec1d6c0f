#include "hw/gemm_spec.hpp"

#include <algorithm>
#include <charconv>

namespace ridgeline::hw {
namespace {

/// The whole number that is all of `word`; -1 for anything else.
std::int64_t whole_number(std::string_view word) {
  std::int64_t value = 0;
  const char* end = word.data() + word.size();
  const auto [rest, bad] = std::from_chars(word.data(), end, value);
  return bad == std::errc{} && rest == end && value >= 0 ? value : -1;
}

/// "128x256"; zeros for anything else.
GemmTile parse_tile(std::string_view word) {
  const std::size_t x = word.find('x');
  if (x == std::string_view::npos) return {};
  const GemmTile tile{whole_number(word.substr(0, x)), whole_number(word.substr(x + 1))};
  return tile.m < 0 || tile.n < 0 ? GemmTile{} : tile;
}

std::vector<GemmTile> read_tiles(const core::Reader& in) {
  std::vector<GemmTile> tiles;
  for (const std::string& word : in.words("tiles")) {
    const GemmTile tile = parse_tile(word);
    if (tile.m < 1 || tile.n < 1 || tile.m > 4096 || tile.n > 4096) {
      in.reject("tiles", "expected tiles like 128x256, got '" + word + "'");
    }
    tiles.push_back(tile);
  }
  in.require(!tiles.empty(), "tiles", "at least one tile like 128x256");
  return tiles;
}

double constant(const core::Reader& in, std::string_view key) {
  const double value = in.get<double>(key);
  in.require(value >= 0.0 && value < 1e6, key, "a number from 0 to 1e6");
  return value;
}

core::Seconds short_time(const core::Reader& in, std::string_view key) {
  const auto value = in.get<core::Seconds>(key);
  in.require(value <= core::Seconds{1.0}, key, "a time of at most 1 s");
  return value;
}

GemmRange read_range(const core::Reader& in, std::string_view key) {
  const std::vector<std::string> ends = in.words(key);
  GemmRange range;
  if (ends.size() == 2) range = {whole_number(ends[0]), whole_number(ends[1])};
  in.require(ends.size() == 2 && range.low >= 1 && range.low <= range.high, key,
             "two sizes like [1, 4096]");
  return range;
}

GemmSpread read_spread(const core::Reader& in) {
  return {in.fraction("compute", 0.0, 2.0), in.fraction("memory", 0.0, 2.0),
          in.fraction("floor", 0.0, 2.0)};
}

GemmFamily read_family(const core::Reader& in, const GemmSpec& plain) {
  GemmFamily family;
  family.tiles = in.has("tiles") ? read_tiles(in) : plain.tiles;
  family.max_splits = in.has("max_splits") ? in.integer("max_splits", 1, 64) : plain.max_splits;
  if (in.has("rate")) family.rate = in.fraction("rate", 0.01, 1.0);
  if (in.has("tile_load")) family.tile_load = constant(in, "tile_load");
  family.extra_k = constant(in, "extra_k");
  family.split_cost = in.has("split_cost") ? short_time(in, "split_cost") : plain.split_cost;
  family.workgroup_bandwidth = in.get<core::BytesPerSecond>("workgroup_bandwidth");
  in.require(family.workgroup_bandwidth >= core::BytesPerSecond{1e6}, "workgroup_bandwidth",
             "a bandwidth of at least 1 MB/s");
  if (in.has("step_edge")) family.step_edge = constant(in, "step_edge");
  family.fixed = short_time(in, "fixed");
  if (in.has("overlap")) {
    family.overlap = in.get<double>("overlap");
    in.require(family.overlap >= 1.0 && family.overlap <= 100.0, "overlap",
               "a number from 1 to 100");
  }
  if (in.has("dequantize")) family.dequantize = constant(in, "dequantize");
  if (in.has("spread")) family.spread = read_spread(in.child("spread"));
  if (in.has("anchored")) {
    const core::Reader anchored = in.child("anchored");
    family.m = read_range(anchored, "m");
    family.n = read_range(anchored, "n");
    family.k = read_range(anchored, "k");
  }
  return family;
}

const GemmFamily* named(const std::vector<GemmFamily>& families, std::string_view name) {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const GemmFamily& family) { return family.name == name; });
  return found == families.end() ? nullptr : &*found;
}

/// The family called dtype_flavour, or just dtype when the flavour is empty.
const GemmFamily* named(const std::vector<GemmFamily>& families, Dtype math,
                        std::string_view flavour) {
  if (flavour.empty()) return named(families, name_of(math));
  for (const GemmFamily& family : families) {
    std::string_view rest = family.name;
    if (!rest.starts_with(name_of(math))) continue;
    rest.remove_prefix(name_of(math).size());
    if (rest.starts_with('_') && rest.substr(1) == flavour) return &family;
  }
  return nullptr;
}

/// Later families may say `like: int8` and change some of its keys; only the whole set may be
/// another's, because single constants of a fit mean little apart.
void read_families(const core::Reader& in, GemmSpec& gemm) {
  for (const std::string& name : in.keys()) {
    const core::Reader entry = in.child(name);
    GemmFamily family;
    if (entry.has("like")) {
      const auto other = entry.get<std::string>("like");
      const GemmFamily* model = named(gemm.families, other);
      entry.require(model != nullptr, "like", "a family further up");
      family = *model;
      family.borrowed = entry.get("borrowed", true);
      if (entry.has("max_splits")) family.max_splits = entry.integer("max_splits", 1, 64);
    } else {
      family = read_family(entry, gemm);
    }
    family.name = name;
    gemm.families.push_back(std::move(family));
  }
}

}  // namespace

const GemmFamily* GemmSpec::family(Dtype math, std::string_view flavour) const {
  if (families.empty()) return nullptr;
  const auto of = [&](Dtype dtype) {
    const GemmFamily* exact = named(families, dtype, flavour);
    return exact != nullptr ? exact : named(families, dtype, {});
  };
  const GemmFamily* found = of(math);
  if (found == nullptr && math == Dtype::fp16) found = of(Dtype::bf16);
  if (found == nullptr && math == Dtype::bf16) found = of(Dtype::fp16);
  return found != nullptr ? found : named(families, "default");
}

GemmSpec read_gemm_spec(const core::Reader& in, bool calibrated) {
  GemmSpec gemm;
  gemm.tiles = read_tiles(in);
  gemm.tile_load = constant(in, "tile_load");
  gemm.extra_k = constant(in, "extra_k");
  gemm.max_splits = in.integer("max_splits", 1, 64);
  gemm.split_cost = short_time(in, "split_cost");
  if (in.has("families")) {
    if (calibrated) {
      read_families(in.child("families"), gemm);
    } else {
      static_cast<void>(in.raw("families"));
    }
  }
  return gemm;
}

}  // namespace ridgeline::hw
