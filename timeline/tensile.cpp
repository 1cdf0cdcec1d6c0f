#include "timeline/tensile.hpp"

#include <array>
#include <charconv>
#include <vector>

namespace ridgeline::timeline {
namespace {

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// "GSU4" after "GSU": 4. Nothing when something else than digits follows the prefix, as in GSUAMB.
std::optional<std::int64_t> number_after(std::string_view part, std::string_view prefix) {
  if (!part.starts_with(prefix)) return std::nullopt;
  part.remove_prefix(prefix.size());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
  return value;
}

/// "256x48x64" as three sizes, of which the third may be missing; digits at the end may be followed
/// by letters ("256u2").
std::optional<std::array<std::int64_t, 3>> sizes(std::string_view part) {
  std::array<std::int64_t, 3> out{};
  std::size_t found = 0;
  const char* at = part.data();
  const char* const end = at + part.size();
  while (found < 3) {
    const auto [next, error] = std::from_chars(at, end, out[found]);
    if (error != std::errc{} || out[found] <= 0) return std::nullopt;
    ++found;
    at = next;
    if (at == end || *at != 'x') break;
    ++at;
  }
  if (found < 2) return std::nullopt;
  return out;
}

/// Tensile's letters: the first is that of the inputs.
std::string dtype_of(std::string_view letters) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kLetters{{
      {"F8", "fp8"},
      {"B8", "fp8"},
      {"F4", "fp4"},
      {"I8", "int8"},
      {"I4", "int4"},
      {"B", "bf16"},
      {"H", "fp16"},
      {"S_BSS", "tf32"},
      {"S", "fp32"},
      {"D", "fp64"},
  }};
  for (const auto& [start, name] : kLetters) {
    if (letters.starts_with(start)) return std::string(name);
  }
  return {};
}

std::optional<GemmTile> tensile_tile(std::string_view name) {
  // Cijk_Alik_Bljk_BBS_BH_..._MT256x48x64_MI16x16x1_..._GSU2_..._SK3_...
  const std::vector<std::string_view> parts = parts_of(name, '_');
  if (parts.size() < 5) return std::nullopt;
  GemmTile tile;
  tile.a_transposed = parts[1] == "Alik";
  tile.b_transposed = parts[2] == "Bjlk";
  tile.dtype = dtype_of(parts[3] == "S" && parts[4].starts_with("BSS") ? std::string_view{"S_BSS"}
                                                                       : parts[3]);
  for (const std::string_view part : parts) {
    if (part.starts_with("MT") && tile.n == 0) {
      if (const auto mt = sizes(part.substr(2))) {
        tile.n = (*mt)[0];
        tile.m = (*mt)[1];
        tile.k = (*mt)[2];
      }
    } else if (part.starts_with("MI") && tile.instruction_n == 0) {
      if (const auto mi = sizes(part.substr(2))) {
        tile.instruction_n = (*mi)[0];
        tile.instruction_m = (*mi)[1];
      }
    } else if (const auto splits = number_after(part, "GSU"); splits && *splits > 0) {
      tile.splits = *splits;
    } else if (const auto workers = number_after(part, "SK")) {
      tile.stream_k = *workers > 0;
    }
  }
  if (tile.n == 0) return std::nullopt;
  return tile;
}

struct Spelling {
  std::string_view word;
  std::string_view dtype;
};

/// The first that occurs wins.
std::string spelled_dtype(std::string_view name, std::initializer_list<Spelling> spellings) {
  for (const Spelling& s : spellings) {
    if (name.find(s.word) != std::string_view::npos) return std::string(s.dtype);
  }
  return {};
}

/// Where the tile stands in the names of the CUDA libraries and of Triton's matmul.
std::optional<GemmTile> plain_tile(std::string_view name) {
  GemmTile tile;
  const auto find = [&](std::string_view word) { return name.find(word); };
  const auto take = [&](std::string_view text, bool tokens_first) {
    const auto found = sizes(text);
    if (!found) return false;
    tile.n = (*found)[tokens_first ? 1 : 0];
    tile.m = (*found)[tokens_first ? 0 : 1];
    tile.k = (*found)[2];
    return true;
  };
  if (find("implicit_gemm") != std::string_view::npos || find("fprop") != std::string_view::npos)
    return std::nullopt;
  if (name.starts_with("nvjet_")) {
    // nvjet_tst_144x128_64x6_2x1_v_bz_TNN: tile, then depth x stages.
    const auto parts = parts_of(name, '_');
    if (parts.size() < 4 || !take(parts[2], false)) return std::nullopt;
    if (const auto depth = sizes(parts[3])) tile.k = (*depth)[0];
    constexpr std::array<Spelling, 7> kFormats{{{"qqtst", "fp8"},
                                                {"ootst", "fp4"},
                                                {"tst", "bf16"},
                                                {"tss", "bf16"},
                                                {"hsh", "fp16"},
                                                {"hss", "fp16"},
                                                {"sss", "fp32"}}};
    for (const Spelling& f : kFormats) {
      if (parts[1] == f.word) tile.dtype = f.dtype;
    }
    if (parts.back().size() == 3) {
      tile.a_transposed = parts.back()[0] == 'T';
      tile.b_transposed = parts.back()[1] == 'T';
    }
    return tile;
  }
  if (name.starts_with("_matmul_ogs_")) {
    // _matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1: tokens, features, depth, splits.
    const auto parts = parts_of(name.substr(1), '_');
    if (parts.size() < 5 || !take(parts[4], true)) return std::nullopt;
    const std::string_view all = parts[4];
    if (const auto split = number_after(all.substr(all.rfind('x')), "x"); split && *split > 0)
      tile.splits = *split;
    tile.dtype = std::string(parts[3].substr(0, parts[3].find('x')));
    return tile;
  }
  if (name.starts_with("bmm_")) {
    const std::size_t at = find("_t");
    if (at == std::string_view::npos || !take(name.substr(at + 2), false)) return std::nullopt;
    tile.dtype = spelled_dtype(name, {{"bmm_MxE4m3", "fp8"},
                                      {"bmm_E4m3", "fp8"},
                                      {"bmm_Bfloat16", "bf16"},
                                      {"bmm_Fp16", "fp16"}});
    return tile;
  }
  // sm90_xmma_gemm_bf16bf16_…_tn_n_tilesize64x64x64_…
  if (const std::size_t at = find("tilesize"); at != std::string_view::npos) {
    if (!take(name.substr(at + 8), false)) return std::nullopt;
  } else {
    // cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn, ampere_sgemm_128x64_nn: the
    // first pair after "gemm".
    const std::size_t after = find("gemm_");
    if (after == std::string_view::npos) return std::nullopt;
    const auto parts = parts_of(name.substr(after), '_');
    std::size_t i = 1;
    while (i < parts.size() && !take(parts[i], false)) ++i;
    if (i >= parts.size()) return std::nullopt;
    // Depth x stages come next, or after "stages".
    for (++i; i < parts.size() && tile.k == 0; ++i) {
      if (const auto depth = sizes(parts[i])) tile.k = (*depth)[0];
    }
  }
  tile.a_transposed =
      find("_tn") != std::string_view::npos || find("_tt") != std::string_view::npos;
  tile.b_transposed =
      find("_nt") != std::string_view::npos || find("_tt") != std::string_view::npos;
  tile.dtype = spelled_dtype(name, {{"e4m3", "fp8"},
                                    {"bf16", "bf16"},
                                    {"tf32", "tf32"},
                                    {"f16", "fp16"},
                                    {"h884", "fp16"},
                                    {"sgemm", "fp32"},
                                    {"dgemm", "fp64"},
                                    {"s8", "int8"}});
  return tile;
}

std::int64_t tiles_along(std::int64_t size, std::int64_t tile) { return (size + tile - 1) / tile; }

/// The sizes that need exactly `tiles` tiles.
core::Interval sizes_of(std::int64_t tiles, std::int64_t tile) {
  return {static_cast<double>((tiles - 1) * tile + 1), static_cast<double>(tiles * tile)};
}

/// Tiles of the result; 0 where the grid does not tell.
std::int64_t tiles_of(const GemmTile& tile, std::int64_t workgroups) {
  if (tile.stream_k || workgroups <= 0 || tile.m <= 0 || tile.n <= 0 ||
      workgroups % tile.splits != 0)
    return 0;
  return workgroups / tile.splits;
}

std::optional<core::Interval> other_side(std::int64_t tiles, std::int64_t known,
                                         std::int64_t known_tile, std::int64_t tile) {
  if (tiles == 0 || known <= 0) return std::nullopt;
  const std::int64_t along = tiles_along(known, known_tile);
  if (tiles % along != 0) return std::nullopt;
  return sizes_of(tiles / along, tile);
}

}  // namespace

std::optional<GemmTile> gemm_tile(std::string_view kernel_name) {
  return kernel_name.starts_with("Cijk_") ? tensile_tile(kernel_name) : plain_tile(kernel_name);
}

std::optional<GemmBounds> gemm_bounds(const GemmTile& tile, std::int64_t workgroups) {
  // One tile wide one way is the widest the other way, and both divisions exist for every count of
  // tiles.
  const std::int64_t tiles = tiles_of(tile, workgroups);
  if (tiles == 0) return std::nullopt;
  return GemmBounds{{1.0, static_cast<double>(tiles * tile.m)},
                    {1.0, static_cast<double>(tiles * tile.n)}};
}

std::optional<core::Interval> tokens_given_features(const GemmTile& tile, std::int64_t workgroups,
                                                    std::int64_t n) {
  return other_side(tiles_of(tile, workgroups), n, tile.n, tile.m);
}

std::optional<core::Interval> features_given_tokens(const GemmTile& tile, std::int64_t workgroups,
                                                    std::int64_t m) {
  return other_side(tiles_of(tile, workgroups), m, tile.m, tile.n);
}

}  // namespace ridgeline::timeline
