#include "hw/attention_cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "hw/hbm.hpp"

namespace ridgeline::hw {
namespace {

using core::Bytes;
using core::BytesPerSecond;
using core::Flop;
using core::FlopPerSecond;
using core::Seconds;

struct Traffic {
  Bytes read{};
  Bytes written{};
  Bytes cached{};
  [[nodiscard]] Bytes hbm() const { return read + written; }
};

Traffic traffic_of(const AttentionQuery& query, const CacheSpec& cache) {
  Traffic traffic;
  traffic.read = query.kv_read;
  for (const Bytes tensor : {query.q_bytes, query.kv_activations})
    (stays_in_cache(tensor, cache) ? traffic.cached : traffic.read) += tensor;
  (stays_in_cache(query.o_bytes, cache) ? traffic.cached : traffic.written) += query.o_bytes;
  return traffic;
}

/// Rounds up, but not because of rounding errors just above a whole number.
double whole_up(double x) { return std::ceil(x - 1e-9); }

/// Sum of floor((a i + b) / m) over i = 0 .. n - 1, in as many rounds as Euclid takes for (a, m).
/// Arguments are not negative, m is above zero. In doubles, exact below 2^53.
double floor_sum(double n, double m, double a, double b) {
  double sum = 0.0;
  while (n > 0.0) {
    sum += n * (n - 1.0) / 2.0 * std::floor(a / m);
    a = std::fmod(a, m);
    sum += n * std::floor(b / m);
    b = std::fmod(b, m);
    const double last = a * n + b;
    if (last < m) break;
    n = std::floor(last / m);
    b = std::fmod(last, m);
    std::swap(m, a);
  }
  return sum;
}

/// The tiles of one head of one sequence, in steps.
struct Tiles {
  double count = 0.0;
  double steps = 0.0;  // summed
  double longest = 0.0;
  double shortest = 0.0;
};

/// `q` new tokens that end at context `k`, both whole.
Tiles tiles_of(double q, double k, const AttentionTiles& kernel, bool causal, double window) {
  const auto rows = static_cast<double>(kernel.rows);
  const auto step = static_cast<double>(kernel.step);
  Tiles tiles;
  tiles.count = whole_up(q / rows);
  if (!causal) {
    tiles.longest = tiles.shortest = whole_up(k / step);
    tiles.steps = tiles.count * tiles.longest;
    return tiles;
  }
  const double before = k - q;
  const auto steps_to = [&](double tile) {  // ... from the first key to the last that it sees
    return std::ceil((before + std::min((tile + 1.0) * rows, q)) / step);
  };
  const double last = tiles.count - 1.0;
  // Tiles whose first row the window does not cut see every key before them.
  const double uncut =
      window > 0.0 ? std::clamp(std::floor((window - 1.0 - before) / rows) + 1.0, 0.0, tiles.count)
                   : tiles.count;
  const double whole_tiles = std::min(uncut, last);  // the last one ends with the sequence
  tiles.steps = floor_sum(whole_tiles, step, rows, before + rows + step - 1.0);
  if (uncut > last) tiles.steps += steps_to(last);
  const double cut = std::ceil((window - 1.0 + std::min(rows, q)) / step);
  tiles.steps += (tiles.count - uncut) * cut;
  tiles.longest = uncut < tiles.count ? cut : steps_to(last);
  tiles.shortest = uncut > 0.0 ? std::min(steps_to(0.0), tiles.longest) : cut;
  return tiles;
}

/// Workgroups waiting for units.
struct Load {
  double workgroups = 0.0;
  double full = 0.0;  // as many of them as last `longest`, when they come in equal pairs; else all
  Seconds total{};
  Seconds longest{};
  Seconds shortest{};
};

Seconds makespan(const Load& load, double units, bool equal, const AttentionTiles& kernel) {
  const Seconds even = load.total / units;
  const double waves = whole_up(load.full / units);
  Seconds time = load.longest;
  if (equal) {
    time = std::max(even, load.longest * waves);
  } else if (load.full > units) {
    time = std::max(time, even + load.shortest * (waves - load.full / units) +
                              (load.longest - load.shortest) * kernel.tail);
  }
  if (kernel.throttle <= 0.0 || time <= Seconds{}) return time;
  const double busy = std::min(1.0, even / time);
  return time * std::max(std::pow(busy, kernel.throttle), 1.0 / kernel.boost);
}

/// The sequences of a query as equal ones: `count` sequences of q tokens that end at k have the
/// same sums of q, q q and q k. What is left of the number of sequences are tiles of next to no
/// tokens.
struct EqualSequences {
  double count = 0.0;
  double q = 1.0;
  double k = 1.0;
  double crumbs = 0.0;
};

EqualSequences equal_sequences(const AttentionQuery& query) {
  EqualSequences equal;
  if (query.new_tokens <= 0.0) return equal;
  const double q = query.qq / query.new_tokens;
  equal.count = query.new_tokens / q;
  equal.q = std::max(1.0, std::round(q));
  // Causal: a token sees itself and what stands before it.
  equal.k = std::max(query.causal ? equal.q : 1.0, std::round(query.qk / query.new_tokens));
  equal.crumbs = std::max(0.0, query.sequences - equal.count);
  return equal;
}

class Pricing {
 public:
  Pricing(const GpuSpec& gpu, const AttentionSpec& spec, const AttentionEfficiency& efficiency)
      : gpu_(gpu),
        spec_(spec),
        efficiency_(efficiency),
        units_(static_cast<double>(gpu.compute_units)) {}

  [[nodiscard]] AttentionCost neutral(const AttentionQuery& query) const {
    const Traffic traffic = traffic_of(query, gpu_.cache);
    AttentionCost cost = begin(traffic);
    cost.issued = std::max(query.issued, query.useful);
    if (cost.issued.value() > 0.0) {
      const FlopPerSecond rate =
          gpu_.peak[query.math] * (gpu_.sustained[query.math] * efficiency_.compute);
      cost.compute = cost.issued / rate;
    }
    cost.memory = std::max(time_to_move(traffic.hbm(), gpu_.hbm, efficiency_.bandwidth,
                                        filled(query.workgroups, gpu_)),
                           traffic.cached / gpu_.cache.bandwidth);
    cost.workgroups = query.workgroups;
    cost.spread = kUnmeasuredSpread;
    cost.extrapolated = true;
    return cost;
  }

  [[nodiscard]] AttentionCost tiled(const AttentionQuery& query,
                                    const AttentionTiles& kernel) const {
    const Traffic traffic = traffic_of(query, gpu_.cache);
    AttentionCost cost = begin(traffic);
    double steps = 0.0;
    const Load load = tile_load(query, kernel, steps);
    const bool equal = !query.causal || (kernel.paired && query.longest <= 0.0);
    cost.workgroups = load.workgroups;
    cost.issued = issued(query, kernel, steps);
    cost.fixed = kernel.fixed;
    cost.compute = kernel.fixed + makespan(load, units_, equal, kernel) + exposed(query, kernel);
    cost.memory = kernel.fixed + kernel.start * (load.workgroups / units_) +
                  moved(traffic, prefill_bandwidth());
    anchor(cost, kernel.anchor, query, most_keys(query));
    return floored(cost, query.math, query.useful);
  }

  [[nodiscard]] AttentionCost decode(const AttentionQuery& query,
                                     const AttentionDecode& kernel) const {
    const Traffic traffic = traffic_of(query, gpu_.cache);
    AttentionCost cost = begin(traffic);
    // Several tokens of a sequence read the same keys and fill a tile as its query heads do.
    const double group = static_cast<double>(query.heads) / static_cast<double>(query.kv_heads) *
                         std::max(1.0, query.new_tokens / std::max(1.0, query.sequences));
    const double keys = seen(query.context / std::max(1.0, query.sequences), query.window);
    const double steps = std::max(1.0, whole_up(keys / static_cast<double>(kernel.step)));
    const double row_tiles = whole_up(group / static_cast<double>(kernel.rows));
    const double unsplit = query.sequences * static_cast<double>(query.kv_heads) * row_tiles;
    const double splits = query.kv_split ? splits_of(unsplit, steps, kernel) : 1.0;
    const double per_split = whole_up(steps / splits);
    cost.splits = splits;
    cost.workgroups = unsplit * splits;
    cost.issued = Flop{unsplit * steps * static_cast<double>(kernel.rows * kernel.step) *
                       flop_of_pair(query)};

    const double waves = std::max(1.0, whole_up(cost.workgroups / units_));
    const Seconds step = step_time(query, kernel.rows, kernel.step, kernel.rate);
    Seconds fixed = kernel.fixed;
    if (splits > 1.0) fixed += kernel.combine;
    if (query.sequences > 1.0 && group > 1.0) fixed += kernel.pack;
    cost.fixed = fixed;
    cost.compute = fixed + (kernel.start + step * per_split) * waves;

    const BytesPerSecond bandwidth =
        gpu_.hbm.bandwidth * (kernel.bandwidth * efficiency_.bandwidth);
    // Pieces are whole steps: the kernel lasts as long as its fullest workgroup takes to pull its
    // keys, so that a step more never makes it shorter.
    const double fullest = std::min(keys, per_split * static_cast<double>(kernel.step));
    Traffic of_fullest = traffic;
    of_fullest.read += query.kv_read * (fullest * splits / std::max(1.0, keys) - 1.0);
    cost.memory = fixed + kernel.start * waves +
                  std::max(moved(traffic, bandwidth),
                           moved(of_fullest, bandwidth * (kernel.pull * cost.workgroups / units_)));
    if (query.longest > 0.0 && query.context > 0.0) {
      // The longest sequence is split as if all were as long, and each piece draws what one can.
      const double longest = seen(query.longest, query.window);
      const double all_steps = std::max(1.0, whole_up(longest / static_cast<double>(kernel.step)));
      const double pieces = query.kv_split ? splits_of(unsplit, all_steps, kernel) : 1.0;
      const double longest_steps = whole_up(all_steps / pieces);
      const Bytes of_workgroup =
          query.kv_read *
          (longest / (keys * query.sequences * pieces * static_cast<double>(query.kv_heads)));
      cost.compute = std::max(cost.compute, fixed + kernel.start + step * longest_steps);
      cost.memory = std::max(
          cost.memory,
          fixed + kernel.start + of_workgroup / (bandwidth * std::min(1.0, kernel.pull / units_)));
    }
    anchor(cost, kernel.anchor, query, std::max(keys, query.longest));
    return floored(cost, query.math, query.useful);
  }

  [[nodiscard]] AttentionCost together(const AttentionQuery& prefill, const AttentionQuery& decode,
                                       const AttentionTiles& kernel,
                                       const AttentionTogether& constants) const {
    double steps = 0.0;
    Load load = tile_load(prefill, kernel, steps);
    const EqualSequences equal = equal_sequences(prefill);

    const double keys = seen(decode.context / decode.sequences, decode.window);
    const double step_count = std::max(1.0, whole_up(keys / static_cast<double>(kernel.step)));
    const double longest_count = std::max(step_count, whole_up(seen(decode.longest, decode.window) /
                                                               static_cast<double>(kernel.step)));
    const Seconds step = step_time(decode, kernel.rows, kernel.step, kernel.rate);
    const double each = std::max(1.0, decode.new_tokens / decode.sequences);
    const double decode_tiles = decode.sequences * static_cast<double>(decode.heads) *
                                whole_up(each / static_cast<double>(kernel.rows));
    load.workgroups += decode_tiles;
    load.full += decode_tiles;
    load.total += (kernel.start + step * step_count) * decode_tiles;
    load.longest = std::max(load.longest, kernel.start + step * longest_count);
    load.shortest = std::min(load.shortest, kernel.start + step * step_count);

    const double rows_of_grid = whole_up(equal.q / static_cast<double>(kernel.rows));
    const Seconds empty = constants.empty * (decode_tiles * (rows_of_grid - 1.0) / units_);

    // The query heads of a KV head that run side by side share what is read; the next ones find it
    // in the cache as long as the keys of one head, of all sequences, fit there.
    const double group = static_cast<double>(decode.heads) / static_cast<double>(decode.kv_heads);
    const double side_by_side = std::clamp(std::floor(units_ / decode.sequences), 1.0, group);
    const double of_cache = decode.kv_read / static_cast<double>(decode.kv_heads) /
                            (gpu_.cache.capacity * constants.resident);
    const double missed = std::clamp(of_cache - 1.0, 0.0, 1.0);
    Traffic traffic = traffic_of(prefill, gpu_.cache);
    const Traffic of_decode = traffic_of(decode, gpu_.cache);
    traffic.read += of_decode.read + decode.kv_read * ((group / side_by_side - 1.0) * missed);
    traffic.written += of_decode.written;
    traffic.cached += of_decode.cached;

    AttentionCost cost = begin(traffic);
    cost.workgroups = load.workgroups;
    cost.issued = issued(prefill, kernel, steps) +
                  Flop{decode_tiles * step_count * static_cast<double>(kernel.rows * kernel.step) *
                       flop_of_pair(decode)};
    const Seconds fixed = kernel.fixed + empty;
    cost.fixed = fixed;
    cost.compute = fixed + makespan(load, units_, false, kernel) + exposed(prefill, kernel);
    cost.memory =
        fixed + kernel.start * (load.workgroups / units_) + moved(traffic, prefill_bandwidth());
    anchor(cost, constants.anchor, decode, std::max({keys, decode.longest, most_keys(prefill)}));
    return floored(cost, prefill.math, prefill.useful + decode.useful);
  }

 private:
  [[nodiscard]] static double seen(double keys, std::int64_t window) {
    return window > 0 ? std::min(keys, static_cast<double>(window)) : keys;
  }

  [[nodiscard]] static AttentionCost begin(const Traffic& traffic) {
    AttentionCost cost;
    cost.hbm_read = traffic.read;
    cost.hbm_written = traffic.written;
    return cost;
  }

  /// Two products forward, five backward: S = Q K, dP = dO V, dV = P dO, dQ = dS K, dK = dS Q.
  [[nodiscard]] static double flop_of_pair(const AttentionQuery& query) {
    const auto d = static_cast<double>(query.head_dim);
    const auto v = static_cast<double>(query.v_head_dim);
    return query.phase == AttentionPhase::backward ? 6.0 * d + 4.0 * v : 2.0 * (d + v);
  }

  /// Time of one unit for `rows` x `step` pairs. Scaling and exponentiating a score costs the same
  /// at every head dimension, so that short heads run at a lower rate than the one measured.
  [[nodiscard]] Seconds step_time(const AttentionQuery& query, std::int64_t rows, std::int64_t step,
                                  double rate) const {
    const AttentionAnchor& measured = query.phase == AttentionPhase::backward && spec_.backward
                                          ? spec_.backward->anchor
                                      : spec_.prefill ? spec_.prefill->anchor
                                                      : AttentionAnchor{};
    const double mean = 0.5 * static_cast<double>(query.head_dim + query.v_head_dim);
    const double scores = measured.head_dim > 0
                              ? (1.0 + spec_.score / mean) /
                                    (1.0 + spec_.score / static_cast<double>(measured.head_dim))
                              : 1.0;
    const FlopPerSecond of_unit = gpu_.peak[query.math] * (rate * efficiency_.compute / units_);
    return Flop{static_cast<double>(rows * step) * flop_of_pair(query) * scores} / of_unit;
  }

  /// What one step of the backward pass adds to the query gradient, at a unit's share of the rate.
  [[nodiscard]] Seconds accumulation(const AttentionQuery& query,
                                     const AttentionTiles& kernel) const {
    if (kernel.accumulate.value() <= 0.0) return Seconds{};
    return kernel.accumulator * static_cast<double>(kernel.step * query.head_dim) /
           (kernel.accumulate / units_);
  }

  /// The tiles of all heads and sequences; `steps` is their number of steps.
  [[nodiscard]] Load tile_load(const AttentionQuery& query, const AttentionTiles& kernel,
                               double& steps) const {
    const EqualSequences equal = equal_sequences(query);
    const auto heads = static_cast<double>(query.heads);
    const Tiles tiles =
        tiles_of(equal.q, equal.k, kernel, query.causal, static_cast<double>(query.window));
    const double crumbs = equal.crumbs * heads;
    steps = heads * equal.count * tiles.steps + crumbs;
    const Seconds step =
        step_time(query, kernel.rows, kernel.step, kernel.rate) + accumulation(query, kernel);

    Load load;
    load.total = kernel.start * (heads * equal.count * tiles.count + crumbs) + step * steps;
    load.longest = kernel.start + step * tiles.longest;
    load.shortest = kernel.start + step * tiles.shortest;
    if (query.longest > 0.0) {
      const double keys = seen(query.longest, query.window);
      load.longest = std::max(
          load.longest, kernel.start + step * whole_up(keys / static_cast<double>(kernel.step)));
    }
    double per_head = tiles.count;
    double full = tiles.count;
    if (query.causal && kernel.paired && tiles.count > 1.0) {
      per_head = std::ceil(tiles.count / 2.0);
      full = std::floor(tiles.count / 2.0);  // an odd one in the middle fits in somewhere
      load.longest += load.shortest;
      load.shortest = load.longest;
    }
    load.workgroups = heads * equal.count * per_head + crumbs;
    load.full = heads * equal.count * full;
    return load;
  }

  [[nodiscard]] static Flop issued(const AttentionQuery& query, const AttentionTiles& kernel,
                                   double steps) {
    return Flop{steps * static_cast<double>(kernel.rows * kernel.step) * flop_of_pair(query)};
  }

  [[nodiscard]] Seconds exposed(const AttentionQuery& query, const AttentionTiles& kernel) const {
    const Bytes tensor = bytes_of(query.math) *
                         (query.new_tokens * static_cast<double>(query.heads * query.head_dim));
    return tensor * kernel.exposed / (gpu_.hbm.bandwidth * efficiency_.bandwidth);
  }

  /// FA-style kernels gather pages in prefill as they do in decode; without decode constants the
  /// sustained bandwidth is all that is known.
  [[nodiscard]] BytesPerSecond prefill_bandwidth() const {
    const double fraction = spec_.decode ? spec_.decode->bandwidth : gpu_.hbm.sustained;
    return gpu_.hbm.bandwidth * (fraction * efficiency_.bandwidth);
  }

  [[nodiscard]] Seconds moved(const Traffic& traffic, BytesPerSecond bandwidth) const {
    return std::max(traffic.hbm() / bandwidth, traffic.cached / gpu_.cache.bandwidth);
  }

  /// Pieces of equally many steps, none empty: as many as fill the machine, one when there are
  /// nearly enough workgroups without (flash decoding), or of a fixed length.
  [[nodiscard]] double splits_of(double workgroups, double steps,
                                 const AttentionDecode& kernel) const {
    constexpr double kMostSplits = 128.0;
    constexpr double kNearlyEnough = 0.8;
    double per_split = steps;
    if (kernel.partition > 0) {
      per_split = std::max(1.0, static_cast<double>(kernel.partition / kernel.step));
    } else {
      const double wanted = kernel.target * units_;
      if (workgroups >= kNearlyEnough * wanted) return 1.0;
      const double most = std::max(1.0, std::floor(wanted / std::max(1.0, workgroups)));
      per_split = whole_up(steps / std::min({steps, kMostSplits, most}));
    }
    return whole_up(steps / per_split);
  }

  [[nodiscard]] static double most_keys(const AttentionQuery& query) {
    if (query.longest > 0.0) return query.longest;
    return query.sequences > 0.0 ? query.context / query.sequences : 0.0;
  }

  static void anchor(AttentionCost& cost, const AttentionAnchor& measured,
                     const AttentionQuery& query, double keys) {
    const auto beyond = [](double value, std::int64_t most) {
      return most > 0 && value > static_cast<double>(most);
    };
    cost.extrapolated = beyond(query.sequences, measured.sequences) ||
                        beyond(keys, measured.keys) ||
                        (measured.head_dim > 0 && query.head_dim != measured.head_dim);
    cost.spread = measured.spread * (cost.extrapolated ? 2.0 : 1.0);
  }

  [[nodiscard]] AttentionCost floored(AttentionCost cost, Dtype math, Flop useful) const {
    cost.issued = std::max(cost.issued, useful);
    cost.compute = std::max(cost.compute, useful / gpu_.peak[math]);
    cost.memory = std::max(cost.memory, (cost.hbm_read + cost.hbm_written) / gpu_.hbm.bandwidth);
    return cost;
  }

  const GpuSpec& gpu_;
  const AttentionSpec& spec_;
  const AttentionEfficiency& efficiency_;
  double units_;
};

void require_rate(const GpuSpec& gpu, Dtype math) {
  if (!gpu.supports(math))
    throw core::InvariantError(gpu.name + " has no matrix rate for " + std::string(name_of(math)));
}

}  // namespace

AttentionCost attention_cost(const AttentionQuery& query, const GpuSpec& gpu,
                             const AttentionSpec& spec, const AttentionEfficiency& efficiency) {
  require_rate(gpu, query.math);
  const Pricing pricing(gpu, spec, efficiency);
  switch (query.phase) {
    case AttentionPhase::prefill:
      return spec.prefill ? pricing.tiled(query, *spec.prefill) : pricing.neutral(query);
    case AttentionPhase::backward:
      return spec.backward ? pricing.tiled(query, *spec.backward) : pricing.neutral(query);
    case AttentionPhase::decode:
      return spec.decode ? pricing.decode(query, *spec.decode) : pricing.neutral(query);
  }
  return {};
}

AttentionCost attention_cost_together(const AttentionQuery& prefill, const AttentionQuery& decode,
                                      const GpuSpec& gpu, const AttentionSpec& spec,
                                      const AttentionEfficiency& efficiency) {
  require_rate(gpu, prefill.math);
  if (!spec.prefill || !spec.together || decode.sequences <= 0.0) {
    throw core::InvariantError(gpu.name +
                               " has no attention kernel for prefills and decodes together");
  }
  return Pricing(gpu, spec, efficiency).together(prefill, decode, *spec.prefill, *spec.together);
}

}  // namespace ridgeline::hw
