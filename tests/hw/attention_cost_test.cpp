#include "hw/attention_cost.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/document.hpp"
#include "core/random.hpp"
#include "hw/hbm.hpp"
#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Bytes;
using ridgeline::core::BytesPerSecond;
using ridgeline::core::Flop;
using ridgeline::core::FlopPerSecond;
using ridgeline::core::InvariantError;
using ridgeline::core::RandomStream;
using ridgeline::core::Seconds;
using ridgeline::tests::easy_gpu;
using ridgeline::tests::error_of;

double us(Seconds time) { return time.value() * 1e6; }

/// `sequences` equal ones of `q` new tokens that end at context `k`; 64 elements a head.
AttentionQuery query_of(AttentionPhase phase, double sequences, double q, double k,
                        std::int64_t heads, std::int64_t kv_heads) {
  AttentionQuery query;
  query.phase = phase;
  query.heads = heads;
  query.kv_heads = kv_heads;
  query.head_dim = query.v_head_dim = 64;
  query.sequences = sequences;
  query.new_tokens = sequences * q;
  query.qk = sequences * q * k;
  query.qq = sequences * q * q;
  query.context = sequences * k;
  query.causal = phase != AttentionPhase::prefill;
  return query;
}

/// On the easy machine a step of 16 rows by 125 keys takes one unit 1 us:
/// 16 x 125 x 4 x 64 FLOP at 0.512 TFLOP/s.
AttentionTiles easy_tiles() {
  AttentionTiles tiles;
  tiles.rows = 16;
  tiles.step = 125;
  tiles.start = Seconds{0.5e-6};
  tiles.fixed = Seconds{3e-6};
  return tiles;
}

AttentionDecode easy_decode() {
  AttentionDecode decode;
  decode.rows = 16;
  decode.step = 125;
  decode.target = 1.0;
  decode.start = Seconds{0.5e-6};
  decode.combine = Seconds{2e-6};
  decode.pack = Seconds{4e-6};
  decode.fixed = Seconds{3e-6};
  return decode;
}

AttentionSpec easy_spec() {
  AttentionSpec spec;
  spec.prefill = spec.backward = easy_tiles();
  spec.decode = easy_decode();
  spec.together = AttentionTogether{Seconds{1e-6}, 0.5, {}};
  return spec;
}

AttentionCost cost(const AttentionQuery& query, const AttentionSpec& spec = easy_spec()) {
  return attention_cost(query, easy_gpu(), spec);
}

TEST_CASE("Without constants attention costs what its FLOP and bytes say", "[hw][attention]") {
  const RandomStream random(7, "neutral attention");
  const GpuSpec gpu = ridgeline::tests::shipped_gpu("mi300x_datasheet");
  for (std::uint64_t i = 0; i < 300; ++i) {
    AttentionQuery query = query_of(AttentionPhase::decode, 4, 1, 1000, 8, 2);
    query.math = Dtype::bf16;
    query.useful = Flop{random.uniform(8 * i) * 1e12};
    query.issued = Flop{random.uniform(8 * i + 1) * 1e12};
    query.kv_read = Bytes{random.uniform(8 * i + 2) * 1e9};
    query.q_bytes = Bytes{random.uniform(8 * i + 3) * 3e8};
    query.kv_activations = Bytes{random.uniform(8 * i + 4) * 3e8};
    query.o_bytes = Bytes{random.uniform(8 * i + 5) * 3e8};
    query.workgroups = std::floor(random.uniform(8 * i + 6) * 600.0);
    const AttentionEfficiency efficiency{0.72, 0.66};
    const AttentionCost priced = attention_cost(query, gpu, {}, efficiency);

    Bytes read = query.kv_read;
    Bytes cached{};
    for (const Bytes tensor : {query.q_bytes, query.kv_activations})
      (stays_in_cache(tensor, gpu.cache) ? cached : read) += tensor;
    Bytes written{};
    (stays_in_cache(query.o_bytes, gpu.cache) ? cached : written) += query.o_bytes;
    const Flop issued = std::max(query.issued, query.useful);
    const FlopPerSecond rate =
        gpu.peak[query.math] * (gpu.sustained[query.math] * efficiency.compute);
    CHECK(priced.issued == issued);
    CHECK(priced.compute == issued / rate);  // to the last bit
    CHECK(priced.memory == std::max(time_to_move(read + written, gpu.hbm, efficiency.bandwidth,
                                                 filled(query.workgroups, gpu)),
                                    cached / gpu.cache.bandwidth));
    CHECK((priced.hbm_read == read && priced.hbm_written == written));
  }
}

TEST_CASE("Equal tiles run in whole waves", "[hw][attention]") {
  // 80 rows are 5 tiles a head and 500 keys 4 steps: 0.5 + 4 us a tile. Two heads fill the ten
  // units once, the third starts a second wave.
  const AttentionCost one = cost(query_of(AttentionPhase::prefill, 1, 80, 500, 2, 2));
  CHECK(us(one.compute) == Approx(3.0 + 4.5));
  CHECK(one.workgroups == Approx(10));
  CHECK(one.issued.value() == Approx(10 * 4 * 512e3));
  CHECK(us(cost(query_of(AttentionPhase::prefill, 1, 80, 500, 3, 3)).compute) ==
        Approx(3.0 + 2 * 4.5));
  CHECK(us(cost(query_of(AttentionPhase::prefill, 3, 80, 500, 1, 1)).compute) ==
        Approx(3.0 + 2 * 4.5));
  // A 501st key costs a step, an 81st row a tile: 12 tiles.
  CHECK(us(cost(query_of(AttentionPhase::prefill, 1, 80, 501, 2, 2)).compute) == Approx(3.0 + 5.5));
  CHECK(us(cost(query_of(AttentionPhase::prefill, 1, 81, 500, 2, 2)).compute) ==
        Approx(3.0 + 2 * 4.5));
}

TEST_CASE("Causal tiles differ; pairing a long with a short one makes them equal",
          "[hw][attention]") {
  // 16 rows a tile after 109 keys: tile i ends at key 125 + 16 i, which is 1 step, then 2 for the
  // tiles up to key 250, then 3: 1 + 7 x 2 + 2 x 3 = 21 steps in 10 tiles.
  AttentionQuery query = query_of(AttentionPhase::prefill, 1, 160, 269, 1, 1);
  query.causal = true;
  const AttentionCost one = cost(query);
  CHECK(one.issued.value() == Approx(21 * 512e3));
  CHECK(us(one.compute) == Approx(3.0 + 3.5));  // one wave, as long as its longest

  // Four heads are 40 tiles, four waves: (40 x 0.5 + 84) / 10 us if they were even.
  query = query_of(AttentionPhase::prefill, 1, 160, 269, 4, 4);
  query.causal = true;
  AttentionSpec spec = easy_spec();
  spec.prefill->tail = 0.5;  // and half of 3.5 - 1.5 us sticks out
  CHECK(us(cost(query, spec).compute) == Approx(3.0 + 10.4 + 1.0));

  // Paired: 5 workgroups a head of 1.5 + 3.5 us; 20 of them take two waves.
  spec.prefill->paired = true;
  CHECK(us(cost(query, spec).compute) == Approx(3.0 + std::max(10.4, 2 * 5.0)));
  query = query_of(AttentionPhase::prefill, 1, 160, 269, 5, 5);
  query.causal = true;  // 25 take three
  CHECK(us(cost(query, spec).compute) == Approx(3.0 + 3 * 5.0));
  CHECK(cost(query, spec).workgroups == Approx(25));
}

TEST_CASE("Steps are counted as a loop over the tiles would", "[hw][attention]") {
  const RandomStream random(11, "attention steps");
  for (std::uint64_t i = 0; i < 2000; ++i) {
    AttentionSpec spec = easy_spec();
    spec.prefill->rows = random.uniform_int(6 * i, 1, 300);
    spec.prefill->step = random.uniform_int(6 * i + 1, 1, 300);
    const auto q = random.uniform_int(6 * i + 2, 1, 3000);
    const auto k = q + random.uniform_int(6 * i + 3, 0, 5000);
    AttentionQuery query =
        query_of(AttentionPhase::prefill, 1, static_cast<double>(q), static_cast<double>(k), 1, 1);
    query.causal = true;
    std::int64_t steps = 0;
    double pairs = 0.0;
    for (std::int64_t row = 0; row < q; row += spec.prefill->rows) {
      const std::int64_t last = k - q + std::min(row + spec.prefill->rows, q);
      steps += (last + spec.prefill->step - 1) / spec.prefill->step;
    }
    for (std::int64_t row = 0; row < q; ++row) pairs += static_cast<double>(k - q + row + 1);
    const double flop_a_step = static_cast<double>(spec.prefill->rows * spec.prefill->step) * 256.0;
    const AttentionCost priced = cost(query, spec);
    CHECK(priced.issued.value() == Approx(static_cast<double>(steps) * flop_a_step));
    CHECK(priced.issued.value() >= 256.0 * pairs);

    // With a window a tile leaves out what no row of it sees.
    query.window = random.uniform_int(6 * i + 4, 1, 6000);
    std::int64_t in_window = 0;
    for (std::int64_t row = 0; row < q; row += spec.prefill->rows) {
      const std::int64_t rows = std::min(spec.prefill->rows, q - row);
      const std::int64_t seen = std::min(k - q + row + rows, query.window - 1 + rows);
      in_window += (seen + spec.prefill->step - 1) / spec.prefill->step;
    }
    // The last tile may have fewer rows than the others, which a cut one counts in full.
    const double windowed = cost(query, spec).issued.value() / flop_a_step;
    CHECK(windowed >= Approx(static_cast<double>(in_window)));
    CHECK(windowed <= static_cast<double>(in_window) +
                          std::ceil(static_cast<double>(spec.prefill->rows) /
                                    static_cast<double>(spec.prefill->step)) +
                          1e-6);
  }
}

TEST_CASE("Where power sets the clock, units run faster while others idle", "[hw][attention]") {
  AttentionSpec spec = easy_spec();
  spec.prefill->throttle = 1.0 / 3.0;
  spec.prefill->rate = 0.5;  // 0.5 + 8 us a tile
  spec.prefill->boost = 2.0;
  // Five of ten units busy: the cube root of 0.5.
  CHECK(us(cost(query_of(AttentionPhase::prefill, 1, 80, 500, 1, 1), spec).compute) ==
        Approx(3.0 + 8.5 * std::cbrt(0.5)));
  CHECK(us(cost(query_of(AttentionPhase::prefill, 1, 160, 500, 1, 1), spec).compute) ==
        Approx(3.0 + 8.5));
  spec.prefill->boost = 1.1;
  CHECK(us(cost(query_of(AttentionPhase::prefill, 1, 80, 500, 1, 1), spec).compute) ==
        Approx(3.0 + 8.5 / 1.1));
}

TEST_CASE("Queries and outputs that no arithmetic hides take their time", "[hw][attention]") {
  AttentionSpec spec = easy_spec();
  spec.prefill->exposed = 2.0;
  // 160 rows x 64 elements x 2 B = 20,480 B, twice, at 1 TB/s.
  CHECK(us(cost(query_of(AttentionPhase::prefill, 1, 160, 500, 1, 1), spec).compute) ==
        Approx(3.0 + 4.5 + 0.04096));
}

TEST_CASE("The backward pass multiplies five times and accumulates the query gradient",
          "[hw][attention]") {
  AttentionQuery query = query_of(AttentionPhase::backward, 1, 160, 160, 1, 1);
  query.causal = false;
  AttentionSpec spec = easy_spec();
  // 2 steps of 2.5 us.
  CHECK(us(cost(query, spec).compute) == Approx(3.0 + 0.5 + 5.0));
  // 125 x 64 elements of 4 B a step, at a tenth of 0.32 TB/s: 1 us.
  spec.backward->accumulator = Bytes{4.0};
  spec.backward->accumulate = BytesPerSecond{0.32e12};
  CHECK(us(cost(query, spec).compute) == Approx(3.0 + 0.5 + 7.0));
}

TEST_CASE("Decode splits the keys until the machine is full", "[hw][attention]") {
  AttentionQuery query = query_of(AttentionPhase::decode, 1, 1, 1000, 8, 2);
  query.kv_read = Bytes{20e6};
  // 2 workgroups of 8 steps; 5 pieces would fill ten units, of 2 steps each: 4 pieces.
  const AttentionCost one = cost(query);
  CHECK(one.splits == Approx(4));
  CHECK(one.workgroups == Approx(8));
  CHECK(us(one.compute) == Approx(3.0 + 2.0 + 0.5 + 2.0));
  CHECK(us(one.memory) == Approx(3.0 + 2.0 + 0.5 + 20.0 / 0.8));  // eight of ten units draw

  query.kv_split = false;
  CHECK(us(cost(query).compute) == Approx(3.0 + 0.5 + 8.0));
  CHECK(us(cost(query).memory) == Approx(3.0 + 0.5 + 20.0 / 0.2));
  AttentionSpec spec = easy_spec();
  spec.decode->pull = 3.0;
  CHECK(us(cost(query, spec).memory) == Approx(3.0 + 0.5 + 20.0 / 0.6));

  // Four sequences are nearly enough; they have their heads packed.
  query = query_of(AttentionPhase::decode, 4, 1, 1000, 8, 2);
  query.kv_read = Bytes{80e6};
  const AttentionCost four = cost(query);
  CHECK(four.splits == Approx(1));
  CHECK(us(four.compute) == Approx(3.0 + 4.0 + 0.5 + 8.0));
  CHECK(us(four.memory) == Approx(3.0 + 4.0 + 0.5 + 80.0 / 0.8));
  query.heads = query.kv_heads = 2;  // nothing to pack
  CHECK(us(cost(query).compute) == Approx(3.0 + 0.5 + 8.0));

  // Pieces of a fixed length: 1000 keys in pieces of 250.
  spec.decode->partition = 250;
  CHECK(cost(query, spec).splits == Approx(4));
  CHECK(us(cost(query, spec).compute) == Approx(3.0 + 2.0 + 4 * (0.5 + 2.0)));
}

TEST_CASE("A key more never makes decode shorter, however the keys are split", "[hw][attention]") {
  // Pieces of whole steps: 257 keys are a full workgroup of 256 and one that is nearly empty, and
  // the full one takes what it took alone.
  for (const char* name : {"mi300x", "mi325x", "h100", "rtx4090", "rtx_pro_6000"}) {
    const GpuSpec gpu = ridgeline::tests::shipped_gpu(name);
    for (const double sequences : {1.0, 3.0, 40.0}) {
      for (const std::int64_t kv_heads : {1, 8}) {
        Seconds before{};
        for (std::int64_t keys = 1; keys < 5000; keys += keys < 1100 ? 1 : 61) {
          AttentionQuery query;
          query.phase = AttentionPhase::decode;
          query.heads = 8;
          query.kv_heads = kv_heads;
          query.sequences = query.new_tokens = query.qq = sequences;
          query.context = query.qk = sequences * static_cast<double>(keys);
          query.kv_read = Bytes{query.context * static_cast<double>(kv_heads * 2 * 128 * 2)};
          const Seconds time = attention_cost(query, gpu, gpu.attention, {}).time();
          INFO(name << ", " << sequences << " sequences of " << keys << " keys");
          REQUIRE(time.value() >= before.value() * (1.0 - 1e-12));
          before = time;
        }
      }
    }
  }
}

TEST_CASE("The longest sequence draws alone in the end", "[hw][attention]") {
  AttentionQuery query = query_of(AttentionPhase::decode, 4, 1, 1000, 2, 2);
  query.kv_read = Bytes{80e6};
  query.kv_split = false;
  query.longest = 1000.0;
  const Seconds equal = cost(query).memory;
  CHECK(us(equal) == Approx(3.0 + 0.5 + 80.0 / 0.8));
  // 2,500 keys of 20 kB in two heads: 25 MB a workgroup at a tenth of the bandwidth.
  query.longest = 2500.0;
  CHECK(us(cost(query).memory) == Approx(3.0 + 0.5 + 25.0 / 0.1));
  CHECK(us(cost(query).compute) == Approx(3.0 + 0.5 + 20.0));
}

TEST_CASE("A window and half the bytes make decode shorter", "[hw][attention]") {
  AttentionQuery query = query_of(AttentionPhase::decode, 8, 1, 1000, 8, 2);
  query.kv_read = Bytes{160e6};
  const double full = us(cost(query).memory);
  query.kv_read = Bytes{80e6};  // fp8
  CHECK(us(cost(query).memory) == Approx(full - 80.0));
  query.window = 250;
  CHECK(us(cost(query).compute) == Approx(3.0 + 4.0 + 2 * (0.5 + 2.0)));
}

TEST_CASE("One kernel for prefills and decodes: decodes get a tile a head, and the grid is full",
          "[hw][attention]") {
  const AttentionQuery prefill = query_of(AttentionPhase::prefill, 1, 80, 500, 2, 1);
  AttentionQuery decode = query_of(AttentionPhase::decode, 5, 1, 500, 2, 1);
  decode.kv_read = Bytes{0.4e6};
  // 10 tiles and 5 x 2 more, all of 4.5 us: two waves. 4 empty workgroups for each of the ten: 40
  // of 1 us on ten units.
  const AttentionCost both = attention_cost_together(prefill, decode, easy_gpu(), easy_spec());
  CHECK(us(both.compute) == Approx(3.0 + 4.0 + 9.0));
  CHECK(both.hbm_read == Bytes{0.4e6});  // within half of the 1 MB cache: read once

  // Past it each head reads again, unless both run side by side: ten units over five sequences do.
  decode.kv_read = Bytes{10e6};
  CHECK(attention_cost_together(prefill, decode, easy_gpu(), easy_spec()).hbm_read == Bytes{10e6});
  decode = query_of(AttentionPhase::decode, 6, 1, 500, 2, 1);
  decode.kv_read = Bytes{10e6};
  CHECK(attention_cost_together(prefill, decode, easy_gpu(), easy_spec()).hbm_read == Bytes{20e6});

  CHECK_THROWS_AS(attention_cost_together(prefill, decode, easy_gpu(), {}), InvariantError);
}

TEST_CASE("Unequal sequences cost what equal ones with the same sums do", "[hw][attention]") {
  // 320 and 32 tokens are priced as 1.2 sequences of 293 and a crumb: 7 % above the two one by one,
  // for the steps that the mean sequence rounds up.
  AttentionQuery query = query_of(AttentionPhase::prefill, 1, 320, 320, 10, 10);
  query.causal = true;
  const double alone = us(cost(query).compute);
  query.sequences = 2;
  query.new_tokens += 32.0;
  query.qk += 32.0 * 32.0;
  query.qq += 32.0 * 32.0;
  query.context += 32.0;
  const double both = us(cost(query).compute);
  CHECK(both > alone);
  const double second =
      us(cost(query_of(AttentionPhase::prefill, 1, 32, 32, 10, 10)).compute) - 3.0;
  CHECK(both == Approx(alone + second).epsilon(0.1));  // one fixed time
}

TEST_CASE("No attention kernel beats the machine's peaks", "[hw][attention]") {
  const RandomStream random(3, "attention floors");
  const GpuSpec gpu = easy_gpu();
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::uint64_t n = 100 * i;
    const auto pick = [&](std::int64_t low, std::int64_t high) {
      return random.uniform_int(n++, low, high);
    };
    AttentionSpec spec = easy_spec();
    for (AttentionTiles* tiles : {&*spec.prefill, &*spec.backward}) {
      tiles->rows = pick(1, 256);
      tiles->step = pick(1, 256);
      tiles->paired = pick(0, 1) == 1;
      tiles->rate = random.uniform(n++);
      tiles->boost = 1.0 / tiles->rate;
      tiles->throttle = random.uniform(n++);
      tiles->tail = random.uniform(n++);
      tiles->start = Seconds{0.0};
      tiles->fixed = Seconds{0.0};
    }
    spec.decode->pull = 1.0 + 3.0 * random.uniform(n++);
    spec.decode->partition = pick(0, 1) * 250;
    spec.decode->start = spec.decode->fixed = spec.decode->combine = spec.decode->pack = Seconds{};

    const auto sum_up = [&](AttentionPhase phase) {
      AttentionQuery query = query_of(phase, 0, 0, 0, 8, pick(0, 1) == 1 ? 2 : 8);
      query.causal = true;
      double pairs = 0.0;
      for (std::int64_t s = pick(1, 6); s > 0; --s) {
        const auto q = static_cast<double>(phase == AttentionPhase::decode ? 1 : pick(1, 2000));
        const double k =
            q + (phase == AttentionPhase::backward ? 0.0 : static_cast<double>(pick(0, 4000)));
        query.sequences += 1.0;
        query.new_tokens += q;
        query.qk += q * k;
        query.qq += q * q;
        query.context += k;
        pairs += q * k - 0.5 * (q * q - q);
      }
      query.useful = Flop{(phase == AttentionPhase::backward ? 640.0 : 256.0) * 8.0 * pairs};
      query.kv_read = Bytes{query.context * static_cast<double>(query.kv_heads) * 256.0};
      query.q_bytes = query.o_bytes = Bytes{query.new_tokens * 8.0 * 128.0};
      return query;
    };
    const AttentionQuery prefill = sum_up(AttentionPhase::prefill);
    const AttentionQuery decode = sum_up(AttentionPhase::decode);
    const auto check = [&](const AttentionCost& priced, Flop useful, Bytes bytes) {
      REQUIRE(std::isfinite(priced.time().value()));
      CHECK(priced.time() >= useful / gpu.peak[Dtype::bf16]);
      CHECK(priced.time() >= bytes / gpu.hbm.bandwidth);
      CHECK(priced.time() >= (priced.hbm_read + priced.hbm_written) / gpu.hbm.bandwidth);
      CHECK(priced.issued >= useful);
    };
    check(cost(prefill, spec), prefill.useful, prefill.kv_read);
    check(cost(decode, spec), decode.useful, decode.kv_read);
    const AttentionQuery backward = sum_up(AttentionPhase::backward);
    check(cost(backward, spec), backward.useful, backward.kv_read);
    check(attention_cost_together(prefill, decode, gpu, spec), prefill.useful + decode.useful,
          prefill.kv_read + decode.kv_read);
  }
}

TEST_CASE("Outside what was measured the error bar doubles", "[hw][attention]") {
  AttentionSpec spec = easy_spec();
  spec.prefill->anchor = {64, 2, 500, 0.05};
  AttentionQuery query = query_of(AttentionPhase::prefill, 2, 80, 500, 2, 2);
  CHECK(cost(query, spec).spread == Approx(0.05));
  CHECK_FALSE(cost(query, spec).extrapolated);
  for (const AttentionQuery& other : {query_of(AttentionPhase::prefill, 3, 80, 500, 2, 2),
                                      query_of(AttentionPhase::prefill, 2, 80, 501, 2, 2)}) {
    CHECK(cost(other, spec).spread == Approx(0.1));
    CHECK(cost(other, spec).extrapolated);
  }
  // Half the head dimension is half the FLOP, but as many scores: with 64 elements' worth for each,
  // a step takes (32 + 64) / (64 + 64) of the time.
  spec.score = 64.0;
  query.head_dim = query.v_head_dim = 32;
  CHECK(us(cost(query, spec).compute) == Approx(3.0 + 2 * (0.5 + 4 * 0.75)));
  CHECK(cost(query, spec).extrapolated);
}

AttentionSpec read(const std::string& text) {
  const ridgeline::core::Node node = ridgeline::core::parse_yaml(text, "test");
  const ridgeline::core::Reader in(node);
  const AttentionSpec spec = read_attention_spec(in);
  in.finish();
  return spec;
}

TEST_CASE("Attention constants are read from YAML, every part optional", "[hw][attention]") {
  CHECK(read("{}") == AttentionSpec{});
  const AttentionSpec spec = read(
      "score: 14\n"
      "prefill: {rows: 256, step: 32, paired: true, rate: 0.464, throttle: 0.333, boost: 1.75, "
      "start: 2 us, exposed: 2.85, fixed: 4 us, spread: 0.03, anchored: {head_dim: 128}}\n"
      "backward: {rate: 0.4, accumulator: 4 B, accumulate: 5 TB/s}\n"
      "decode: {rows: 16, step: 256, partition: 256, rate: 0.464, bandwidth: 0.64, "
      "combine: 4.9 us}\n"
      "together: {empty: 0.3 us}\n");
  CHECK(spec.prefill->rows == 256);
  CHECK(spec.prefill->paired);
  CHECK(us(spec.prefill->start) == Approx(2.0));
  CHECK(spec.prefill->anchor.head_dim == 128);
  CHECK(spec.backward->accumulate.value() == Approx(5e12));
  CHECK(spec.decode->partition == 256);
  CHECK(us(spec.together->empty) == Approx(0.3));

  CHECK(error_of([] { read("together: {empty: 1 us}"); }).find("prefill") != std::string::npos);
  CHECK(error_of([] { read("prefill: {rate: 0.6, boost: 2}"); }).find("boost") !=
        std::string::npos);
  CHECK(error_of([] { read("prefill: {rate: 0.6, start: 2}"); }).find("start") !=
        std::string::npos);
  CHECK(error_of([] { read("prefill: {rate: 0.6, sart: 2 us}"); }).find("start") !=
        std::string::npos);
}

}  // namespace
