// Drafts: how many are right, what they cost, what they bring.

#include "sim/speculation.hpp"

#include <catch2/catch.hpp>

#include <cmath>

#include "sim/metrics.hpp"
#include "sim/step_model.hpp"
#include "tests/sim/fixtures.hpp"
#include "tests/sim/same.hpp"

using namespace ridgeline;
using sim::Override;
using tests::tiny;

namespace {

sim::SpeculativeConfig config(std::int64_t k, double acceptance) {
  return {k, acceptance, std::nullopt};
}

const char* const kDraft =
    "{name: half, layers: 1, hidden: 64, heads: 4, kv_heads: 2, ffn: 128, vocab: 256, "
    "max_position: 64, "
    "activations: fp16}";

/// `model`, `k`, `acceptance` as an override.
Override drafts(const std::string& model, int k, const std::string& acceptance) {
  return {"engine.speculative_config", "{model: " + model + ", num_speculative_tokens: " +
                                           std::to_string(k) + ", acceptance: " + acceptance + "}"};
}

std::vector<Override> with(std::vector<Override> all, const Override& one) {
  all.push_back(one);
  return all;
}

std::int64_t decodes(const sim::RunResult& run) {
  std::int64_t n = 0;
  for (const auto& step : run.steps) n += step.decode_sequences;
  return n;
}

double tokens_per_second(const sim::Scenario& scenario) {
  const auto m = sim::measure(sim::run(scenario));
  return m.per_second(static_cast<double>(m.output_tokens));
}

}  // namespace

TEST_CASE("Tokens a step are (1 - a^(k+1)) / (1 - a) on average", "[sim][speculation]") {
  CHECK(config(4, 0.5).tokens_per_step() == Approx(1.9375));  // 1 + 1/2 + 1/4 + 1/8 + 1/16
  CHECK(config(4, 0.0).tokens_per_step() == 1.0);
  CHECK(config(4, 1.0).tokens_per_step() == 5.0);
  constexpr int kDraws = 40'000;
  for (const auto& [k, a] : {std::pair{1, 0.3}, {4, 0.7}, {8, 0.9}}) {
    const sim::Acceptance acceptance(config(k, a), 7);
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const auto n = 1.0 + static_cast<double>(
                               acceptance.accepted(static_cast<std::uint64_t>(i), 100 * i % 977));
      sum += n;
      squares += n * n;
    }
    const double mean = sum / kDraws;
    const double error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    CHECK(std::abs(mean - config(k, a).tokens_per_step()) < 4.0 * error);
  }
}

TEST_CASE("Whether a draft is right depends on seed, request and place alone",
          "[sim][speculation]") {
  const sim::Acceptance long_drafts(config(8, 0.6), 3);
  const sim::Acceptance short_drafts(config(2, 0.6), 3);
  const sim::Acceptance other(config(8, 0.6), 4);
  int different = 0;
  for (std::int64_t place = 0; place < 200; ++place) {
    const auto n = long_drafts.accepted(5, place);
    CHECK(short_drafts.accepted(5, place) == std::min<std::int64_t>(2, n));
    if (n > 0) CHECK(long_drafts.accepted(5, place + 1) >= n - 1);  // the same places again
    different += other.accepted(5, place) != n ? 1 : 0;
  }
  CHECK(different > 50);
}

TEST_CASE("Drafts that are always right bring k + 1 tokens a step, never right one",
          "[sim][speculation]") {
  const std::vector<Override> one{{"workload.requests", "1"}, {"workload.output_tokens", "9"}};
  // The prefill brings the first token; 8 are left: two steps of 1 + 3, or eight of one.
  const auto right = sim::run(tiny(with(one, drafts("ngram", 3, "1"))));
  CHECK(right.steps.size() == 1 + 2);
  CHECK(right.drafts_checked == 6);
  CHECK(right.drafts_accepted == 6);
  CHECK(right.tokens_per_decode() == 4.0);
  const auto wrong = sim::run(tiny(with(one, drafts("ngram", 3, "0"))));
  CHECK(wrong.steps.size() == 1 + 8);
  CHECK(wrong.drafts_accepted == 0);
  CHECK(wrong.tokens_per_decode() == 1.0);
  // A client sees the tokens of a step at once: one gap a step.
  CHECK(sim::measure(right).itl.count == 2);
  CHECK(sim::measure(right).tpot.mean == Approx(right.requests[0].e2e().seconds().value() / 8.0 -
                                                right.requests[0].ttft().seconds().value() / 8.0));
}

TEST_CASE("An answer is never longer than asked for", "[sim][speculation]") {
  for (const char* tokens : {"1", "2", "3", "7"}) {
    const auto run = sim::run(tiny({{"workload.output_tokens", tokens}, drafts("ngram", 4, "1")}));
    for (const auto& r : run.requests) CHECK(r.output_tokens == r.asked_tokens);
  }
}

TEST_CASE("A step checks k + 1 tokens of each sequence against one read of its keys",
          "[sim][speculation]") {
  const auto scenario = tiny({{"workload.requests", "1"}, drafts("ngram", 3, "0")});
  const auto run = sim::run(scenario);
  CHECK(run.steps[1].decode_sequences == 1);
  CHECK(run.steps[1].sampled == 4);
  CHECK(run.steps[1].decode_context == 10 + 4);  // the prompt, its first token, three drafts
  sim::StepModel model(scenario);
  static_cast<void>(model.prepare(run.steps[1].shape()));
  for (const hw::KernelWork& work : model.program().kernels()) {
    if (work.role == "lm_head") CHECK(work.gemm.m == 4);
    if (work.kind != hw::KernelKind::attention_decode) continue;
    CHECK(work.stream_read.value() == 14.0 * 2.0 * 2.0 * 32.0);  // keys and values of 14 tokens
    // Queries see 11, 12, 13 and 14 keys: 50 pairs of 4 heads of 16, two products.
    CHECK(work.useful.value() == 50.0 * 4.0 * 4.0 * 16.0);
  }
}

TEST_CASE("A draft model runs over the step's tokens, then once for every further draft",
          "[sim][speculation]") {
  const auto scenario = tiny({{"workload.requests", "1"}, drafts(kDraft, 3, "0.5")});
  const auto run = sim::run(scenario);
  sim::StepModel model(scenario);
  static_cast<void>(model.prepare(run.steps[1].shape()));
  std::vector<std::int64_t> heads;
  for (const hw::KernelWork& work : model.program().kernels())
    if (work.role == "lm_head") heads.push_back(work.gemm.m);
  CHECK(heads == std::vector<std::int64_t>{4, 1, 1, 1});
  // Two layers of the model; one of the draft model, three times.
  std::int64_t attention = 0;
  for (const auto& segment : model.program().segments()) {
    for (std::size_t i = segment.first; i < segment.first + segment.count; ++i)
      if (model.program().kernels()[i].kind == hw::KernelKind::attention_decode)
        attention += segment.repeat;
  }
  CHECK(attention == 2 + 3);
}

TEST_CASE("A draft model stands in memory, with its own keys and values", "[sim][speculation]") {
  const auto without = sim::plan_memory(tiny());
  const auto draft = sim::plan_memory(tiny({drafts(kDraft, 3, "0.5")}));
  const auto ngram = sim::plan_memory(tiny({drafts("ngram", 3, "0.5")}));
  // Half of the layers and half of their norms, all of the embeddings, of two bytes.
  double weights = 0.0;
  for (const auto& line : draft.ledger.lines())
    if (line.what == "draft model's weights") weights = line.bytes.value();
  CHECK(weights == 2.0 * (36'864.0 + 3.0 * 64.0 + 32'768.0));
  CHECK(draft.block_bytes.value() == 1.5 * without.block_bytes.value());  // three layers, not two
  CHECK(draft.kv_blocks < without.kv_blocks);
  CHECK(ngram.block_bytes.value() == without.block_bytes.value());
}

TEST_CASE("Slots are taken as if every draft were right, and for those that come next",
          "[sim][speculation]") {
  const auto used = [](const Override& speculation) {
    const auto run = sim::run(
        tiny({{"workload.requests", "1"}, {"engine.async_scheduling", "false"}, speculation}));
    return run.counters.back().kv_blocks_used;
  };
  // Blocks of 4. Before its last step a prompt of 10 with 4 of 5 tokens has computed 13; the step
  // before that took slots for 12 + 1, with three wrong drafts for 12 + 4, with a draft model for
  // three more.
  CHECK(used({"engine.async_scheduling", "false"}) == 4);  // 13 / 4
  CHECK(used(drafts("ngram", 3, "0")) == 4);               // 16 / 4
  CHECK(used(drafts(kDraft, 3, "0")) == 5);                // 19 / 4
}

TEST_CASE("Whatever the server, every request gets its tokens, and a run repeats",
          "[sim][speculation]") {
  std::int64_t preemptions = 0;
  std::int64_t in_vain = 0;
  for (int seed = 0; seed < 60; ++seed) {
    const bool draft = seed % 2 == 0;
    const std::vector<Override> o{
        {"seed", std::to_string(seed)},
        {"workload.requests", "50"},
        {"workload.arrivals", "{poisson: {rate: 2000 /s}}"},
        {"workload.prompt_tokens", "{uniform: {low: 1, high: 40}}"},
        {"workload.output_tokens", "{uniform: {low: 1, high: 60}}"},
        {"engine.num_gpu_blocks_override", "30"},
        {"engine.max_num_batched_tokens", seed % 3 == 0 ? "16" : "64"},
        {"engine.enforce_eager", seed % 4 == 0 ? "true" : "false"},
        drafts(draft ? kDraft : "ngram", 1 + seed % 6, seed % 5 == 0 ? "0.95" : "0.6")};
    const auto run = sim::run(tiny(o));
    INFO("seed " << seed);
    std::int64_t gap_time = 0;
    std::int64_t between = 0;
    std::int64_t tokens = 0;
    for (const auto& gap : run.token_gaps)
      gap_time += gap.gap.count * static_cast<std::int64_t>(gap.count);
    for (const auto& r : run.requests) {
      CHECK(r.output_tokens == std::min(r.asked_tokens, 64 - r.prompt_tokens));
      CHECK(r.queue().count + r.preempted.count + r.until_first_token.total().count +
                r.after_first_token.total().count ==
            r.e2e().count);
      between += (r.last_token - r.first_token).count;
      tokens += r.output_tokens - 1;
    }
    CHECK(gap_time == between);
    for (const auto& step : run.steps) {
      const auto all = step.decode_sequences * (2 + seed % 6) + step.prefill_tokens;
      CHECK(all <= (seed % 3 == 0 ? 16U : 64U));
    }
    CHECK(decodes(run) <= tokens + run.preemptions + static_cast<std::int64_t>(run.steps.size()));
    in_vain += decodes(run) - run.drafts_checked / (1 + seed % 6);
    preemptions += run.preemptions;
    CHECK(tests::same(run, sim::run(tiny(o))));
  }
  CHECK(preemptions > 20);
  CHECK(in_vain > 0);  // asynchronously, some end by drafts while their next step is planned
}

TEST_CASE("Captured sizes hold whole decodes", "[sim][speculation]") {
  const auto sizes = [](const char* k) {
    return tiny({{"engine.max_num_seqs", "4"}, drafts("ngram", std::stoi(k), "0.5")})
        .engine.cudagraph_capture_sizes;
  };
  // Up to 2 x 4 x 3 = 24 tokens: 1, 2, 4, 8, 16, 24, rounded up to multiples of 3.
  CHECK(sizes("2") == std::vector<std::int64_t>{3, 6, 9, 18, 24});
  // Up to 2 x 4 x 5 = 40: 1, 2, 4 are 5; 8 is 10, 16 is 20, 24 is 25, 32 is 35, 40 is 40.
  CHECK(sizes("4") == std::vector<std::int64_t>{5, 10, 20, 25, 35, 40});
}

TEST_CASE("Drafts that are never right make a server slower", "[sim][speculation][physics]") {
  const std::vector<Override> chat{{"workload.requests", "20"},
                                   {"workload.arrivals", "{closed_loop: {concurrency: 4}}"},
                                   {"workload.prompt_tokens", "100"},
                                   {"workload.output_tokens", "100"}};
  const double plain = tokens_per_second(tests::scenario("chat_8b", chat));
  CHECK(tokens_per_second(tests::scenario("chat_8b", with(chat, drafts("llama3_1b", 4, "0")))) <
        0.8 * plain);
  CHECK(tokens_per_second(tests::scenario("chat_8b", with(chat, drafts("llama3_1b", 4, "0.9")))) >
        1.2 * plain);
}

TEST_CASE(
    "Where the read of the weights binds, the gain is the tokens a step over the drafts' cost",
    "[sim][speculation][physics]") {
  const std::vector<Override> one{
      {"workload.requests", "10"},       {"workload.arrivals", "{closed_loop: {concurrency: 1}}"},
      {"workload.prompt_tokens", "100"}, {"workload.output_tokens", "400"},
      {"model", "llama3_70b"},           {"engine.tensor_parallel_size", "2"}};
  auto small = one;
  small[4].second = "llama3_1b";
  const auto itl = [](const std::vector<Override>& o) {
    return sim::measure(sim::run(tests::scenario("chat_8b", o))).itl.mean;
  };
  const double plain = itl(one);
  const double draft = itl(small);
  const auto run = sim::run(tests::scenario("chat_8b", with(one, drafts("llama3_1b", 4, "0.7"))));
  const double gain = plain / sim::measure(run).tpot.mean;
  // (1 - 0.7^5) / 0.3 = 2.773 tokens; four passes of the draft model beside one of the model.
  const double expected = 2.773 / (1.0 + 4.0 * draft / plain);
  CHECK(expected > 1.5);
  CHECK(gain == Approx(expected).epsilon(0.1));
}

TEST_CASE("Where arithmetic binds, drafts are a loss", "[sim][speculation][physics]") {
  const std::vector<Override> many{{"workload.requests", "512"},
                                   {"workload.arrivals", "{closed_loop: {concurrency: 512}}"},
                                   {"workload.prompt_tokens", "32"},
                                   {"workload.output_tokens", "64"}};
  const double plain = tokens_per_second(tests::scenario("chat_8b", many));
  const double drafted =
      tokens_per_second(tests::scenario("chat_8b", with(many, drafts("ngram", 8, "0.5"))));
  CHECK(drafted < 0.9 * plain);
}

TEST_CASE("A speculation that cannot be is named with its place", "[sim][speculation]") {
  const auto error = [](const std::vector<Override>& o) {
    return tests::error_of([&] { static_cast<void>(tiny(o)); });
  };
  const auto says = [&](const std::vector<Override>& o, const char* what) {
    INFO(error(o));
    CHECK(error(o).find(what) != std::string::npos);
  };
  says({drafts("ngram", 0, "0.5")}, "num_speculative_tokens");
  says({drafts("ngram", 4, "1.5")}, "acceptance");
  says({drafts("lama3_1b", 4, "0.5")}, "engine.speculative_config.model");
  says({drafts("llama3_1b", 4, "0.5")},
       "a draft model must have the model's vocabulary of 256 tokens");
  says({{"engine.speculative_config", "{num_speculative_tokens: 4, acceptance: 0.7}"}}, "model");
  says({{"engine.async_scheduling", "true"}, drafts("ngram", 4, "0.5")},
       "n-grams are looked up by the host");
  says({{"engine.max_num_batched_tokens", "4"},
        {"engine.max_num_seqs", "2"},
        drafts("ngram", 4, "0.5")},
       "at least the 5 tokens");
  says({{"engine.num_scheduler_steps", "8"}, drafts("ngram", 4, "0.5")}, "num_scheduler_steps");
}

TEST_CASE("A draft model is a name, a map, or either with changes", "[sim][speculation]") {
  const auto scenario = tests::scenario(
      "chat_8b",
      {drafts("llama3_1b", 4, "0.7"), {"engine.speculative_config.model.quantization", "fp8"}});
  CHECK(scenario.engine.speculative_config->draft->weights == hw::Dtype::fp8);
  const auto again = sim::read_scenario(scenario.document, {}, tests::shipped());
  CHECK(tests::same(scenario, again));
}
