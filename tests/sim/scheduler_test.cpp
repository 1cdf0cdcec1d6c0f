// Decisions of the two vLLM policies, each from a state made by hand. Blocks hold 4 tokens, a step
// 16, unless a test says otherwise.

#include <catch2/catch.hpp>

#include <list>

#include "core/error.hpp"
#include "sim/scheduler.hpp"

using namespace ridgeline::sim;

namespace {

EngineSpec engine() {
  EngineSpec e;
  e.max_num_seqs = 8;
  e.max_num_batched_tokens = 16;
  e.max_model_len = 64;
  e.block_size = 4;
  return e;
}

class Server {
 public:
  explicit Server(std::int64_t blocks, const EngineSpec& spec = engine())
      : kv_(blocks, spec.block_size), state_{kv_, {}, {}}, scheduler_(make_scheduler(spec)) {}

  /// A sequence whose `computed` tokens stand in the cache.
  Sequence* runs(std::int64_t prompt, std::int64_t generated, std::int64_t computed) {
    Sequence* s = waits(prompt, generated);
    state_.waiting.pop_back();
    s->computed = computed;
    REQUIRE(kv_.grow(s->blocks, computed));
    state_.running.push_back(s);
    return s;
  }
  /// A decoding sequence: all it knows but its last token is computed.
  Sequence* decodes(std::int64_t prompt, std::int64_t generated = 1) {
    return runs(prompt, generated, prompt + generated - 1);
  }
  Sequence* waits(std::int64_t prompt, std::int64_t generated = 0) {
    Sequence& s = sequences_.emplace_back();
    s.request.id = sequences_.size() - 1;
    s.request.prompt_tokens = prompt;
    s.generated = generated;
    state_.waiting.push_back(&s);
    return &s;
  }
  /// A sequence is answered.
  void release(Sequence* s) {
    kv_.release(s->blocks);
    std::erase(state_.running, s);
  }
  const StepPlan& plan() {
    scheduler_->plan(state_, plan_);
    return plan_;
  }
  /// What the server does with a plan: tokens are computed, and those that know no more get one.
  void step() {
    for (const auto& chunk : plan().chunks) {
      chunk.sequence->computed += chunk.tokens;
      if (chunk.sequence->outstanding() == 0) ++chunk.sequence->generated;
    }
  }
  /// Tokens that a sequence gets in the last plan.
  std::int64_t share_of(const Sequence* s) const {
    std::int64_t tokens = 0;
    for (const auto& chunk : plan_.chunks) tokens += chunk.sequence == s ? chunk.tokens : 0;
    return tokens;
  }
  const std::vector<Sequence*>& running() const { return state_.running; }
  std::vector<Sequence*> waiting() const { return {state_.waiting.begin(), state_.waiting.end()}; }
  const KvCache& kv() const { return kv_; }

 private:
  KvCache kv_;
  ServerState state_;
  std::unique_ptr<Scheduler> scheduler_;
  StepPlan plan_;
  std::list<Sequence> sequences_;
};

using Sequences = std::vector<Sequence*>;

}  // namespace

TEST_CASE("The token budget goes to running sequences first, in order of admission",
          "[sim][scheduler]") {
  Server server(100);
  Sequence* a = server.decodes(8);
  Sequence* b = server.runs(20, 0, 16);
  Sequence* c = server.waits(20);
  const StepPlan& plan = server.plan();
  REQUIRE(plan.chunks.size() == 3);
  CHECK(plan.chunks[0].sequence == a);
  CHECK(plan.chunks[0].tokens == 1);  // a decode
  CHECK(plan.chunks[1].sequence == b);
  CHECK(plan.chunks[1].tokens == 4);  // 20 - 16, the rest of its prompt
  CHECK(plan.chunks[2].sequence == c);
  CHECK(plan.chunks[2].tokens == 11);  // 16 - 1 - 4
  CHECK(plan.admitted == Sequences{c});
  CHECK(server.running() == Sequences{a, b, c});
  CHECK(server.waiting().empty());
}

TEST_CASE("A step has no more tokens than its budget", "[sim][scheduler]") {
  EngineSpec e = engine();
  e.max_num_batched_tokens = 2;
  Server server(100, e);
  Sequence* a = server.decodes(8);
  Sequence* b = server.decodes(8);
  Sequence* c = server.decodes(8);
  server.waits(1);
  server.plan();
  CHECK(server.share_of(a) == 1);
  CHECK(server.share_of(b) == 1);
  CHECK(server.share_of(c) == 0);  // sits this one out, but keeps its place and its blocks
  CHECK(server.running() == Sequences{a, b, c});
  CHECK(c->blocks == 2);
  CHECK(server.waiting().size() == 1);
}

TEST_CASE(
    "A prompt longer than the budget is computed in chunks, and its first token comes with the "
    "last",
    "[sim][scheduler]") {
  Server server(100);
  Sequence* a = server.waits(40);
  server.step();
  CHECK(a->computed == 16);
  CHECK(a->blocks == 4);
  server.step();
  CHECK(a->computed == 32);
  CHECK(a->generated == 0);
  server.step();  // 40 - 32 = 8
  CHECK(a->computed == 40);
  CHECK(a->generated == 1);
  CHECK(a->blocks == 10);
  server.step();
  CHECK(server.share_of(a) == 1);
  CHECK(a->blocks == 11);  // 41 tokens
}

TEST_CASE("A threshold cuts long prefills, running and waiting, and lets decodes be",
          "[sim][scheduler]") {
  EngineSpec e = engine();
  e.long_prefill_token_threshold = 5;
  Server server(100, e);
  Sequence* a = server.decodes(8);
  Sequence* b = server.runs(30, 0, 10);
  Sequence* c = server.waits(30);
  Sequence* d = server.waits(30);
  server.plan();
  CHECK(server.share_of(a) == 1);
  CHECK(server.share_of(b) == 5);
  CHECK(server.share_of(c) == 5);
  CHECK(server.share_of(d) == 5);  // 1 + 5 + 5 + 5 = 16
}

TEST_CASE("No more than max_num_seqs run", "[sim][scheduler]") {
  EngineSpec e = engine();
  e.max_num_seqs = 2;
  Server server(100, e);
  Sequence* a = server.decodes(8);
  Sequence* b = server.waits(2);
  Sequence* c = server.waits(2);
  server.plan();
  CHECK(server.running() == Sequences{a, b});
  CHECK(server.waiting() == Sequences{c});
}

TEST_CASE("Waiting sequences are admitted in order until the budget is spent", "[sim][scheduler]") {
  Server server(100);
  Sequence* a = server.waits(10);
  Sequence* b = server.waits(10);
  Sequence* c = server.waits(1);
  server.plan();
  CHECK(server.share_of(a) == 10);
  CHECK(server.share_of(b) == 6);  // 16 - 10
  CHECK(server.share_of(c) == 0);
  CHECK(server.waiting() == Sequences{c});
}

TEST_CASE("Where blocks lack, the last running sequence is preempted", "[sim][scheduler]") {
  Server server(4);
  Sequence* a = server.decodes(8);  // 8 tokens computed, 2 blocks; its next token needs a third
  Sequence* b = server.decodes(8);  // the other 2 blocks
  Sequence* c = server.waits(1);
  const StepPlan& plan = server.plan();
  CHECK(server.share_of(a) == 1);
  CHECK(plan.preempted == Sequences{b});
  CHECK(a->blocks == 3);
  CHECK(server.kv().free_blocks() == 1);
  SECTION("it goes to the head of the line") { CHECK(server.waiting() == Sequences{b, c}); }
  SECTION("it starts over from zero and keeps the tokens it generated") {
    CHECK(b->computed == 0);
    CHECK(b->blocks == 0);
    CHECK(b->generated == 1);
    CHECK(b->outstanding() == 9);  // prompt and answer so far
  }
  SECTION("nothing is admitted in that step, though a block is free") {
    CHECK(plan.admitted.empty());
    CHECK(server.running() == Sequences{a});
  }
  SECTION("in the next step it holds up the line until it fits") {
    ++a->computed;
    ++a->generated;
    server.plan();
    CHECK(server.share_of(a) == 1);
    CHECK(server.running() == Sequences{a});  // b needs 3 blocks, c would fit in the 1 that is free
    CHECK(server.waiting() == Sequences{b, c});
  }
}

TEST_CASE("A sequence that is itself the last is the one that goes", "[sim][scheduler]") {
  Server server(4);
  Sequence* a = server.decodes(6);  // 7 tokens with the next: 2 blocks do
  Sequence* b = server.decodes(8);
  const StepPlan& plan = server.plan();
  CHECK(server.share_of(a) == 1);
  CHECK(server.share_of(b) == 0);
  CHECK(plan.preempted == Sequences{b});
  CHECK(server.running() == Sequences{a});
}

TEST_CASE("As many go as are needed, and they wait in the order in which they ran",
          "[sim][scheduler]") {
  Server server(6);
  Sequence* a = server.runs(24, 0, 8);  // 2 blocks, 6 with the whole prompt
  Sequence* b = server.decodes(8);
  Sequence* c = server.decodes(8);
  Sequence* d = server.waits(1);
  const StepPlan& plan = server.plan();
  CHECK(server.share_of(a) == 16);
  CHECK(plan.preempted == Sequences{c, b});
  CHECK(server.waiting() == Sequences{b, c, d});
  CHECK(server.kv().free_blocks() == 0);
}

TEST_CASE("A preempted sequence computes its prompt and its answer so far in one go",
          "[sim][scheduler]") {
  Server server(100);
  Sequence* a = server.waits(5, 3);
  server.step();
  CHECK(server.share_of(a) == 8);
  CHECK(a->generated == 4);
  CHECK(a->decodes());
}

TEST_CASE("A preempted sequence keeps the whole blocks that nobody took", "[sim][scheduler]") {
  Server server(5);
  Sequence* a = server.decodes(8);   // 2 blocks
  Sequence* b = server.decodes(11);  // 11 tokens: 3 blocks, the last not full
  server.step();
  REQUIRE(server.waiting() == Sequences{b});
  CHECK(a->blocks == 3);  // the block of b that was not full went to a
  server.release(a);      // a is answered
  const StepPlan& plan = server.plan();
  CHECK(plan.admitted == Sequences{b});
  CHECK(server.share_of(b) == 12 - 8);  // 2 whole blocks are still there
  CHECK(b->computed == 8);
  CHECK(b->blocks == 3);
}

TEST_CASE("A prefix that fills its blocks is computed again from its last block on",
          "[sim][scheduler]") {
  Server server(4);
  Sequence* a = server.decodes(4);       // 1 block
  Sequence* b = server.runs(12, 0, 12);  // 3 whole blocks, its first token in flight
  b->in_flight = 1;
  b->output_limit = 9;
  server.step();  // a needs a second block: b goes, and its last block with it
  REQUIRE(server.waiting() == Sequences{b});
  b->in_flight = 0;
  b->generated = 1;
  server.release(a);
  server.plan();
  CHECK(server.share_of(b) == 13 - 8);
}

TEST_CASE("A sequence whose last token is in flight sits out, and keeps its place",
          "[sim][scheduler]") {
  EngineSpec e = engine();
  e.max_num_seqs = 2;
  Server server(100, e);
  Sequence* a = server.decodes(8, 3);
  a->computed = a->known();
  a->in_flight = 1;
  Sequence* b = server.decodes(8);
  Sequence* c = server.waits(2);
  SECTION("its last") {
    a->output_limit = 4;
    server.plan();
    CHECK(server.share_of(a) == 0);
  }
  SECTION("not its last: the next is planned before this one is known") {
    a->output_limit = 5;
    server.plan();
    CHECK(server.share_of(a) == 1);
  }
  CHECK(server.share_of(b) == 1);
  CHECK(server.running() == Sequences{a, b});
  CHECK(server.waiting() == Sequences{c});
}

TEST_CASE("A sequence is admitted only if all it knows fits in the free blocks",
          "[sim][scheduler]") {
  EngineSpec e = engine();
  SECTION("with scheduler_reserve_full_isl") {
    Server server(4, e);
    Sequence* a = server.waits(20);  // 5 blocks, though the first chunk of 16 needs 4
    CHECK(server.plan().admitted.empty());
    CHECK(server.waiting() == Sequences{a});
    CHECK(a->blocks == 0);
  }
  SECTION("and without it, if its first chunk does") {
    e.scheduler_reserve_full_isl = false;
    Server server(4, e);
    Sequence* a = server.waits(20);
    server.plan();
    CHECK(server.share_of(a) == 16);
    CHECK(server.kv().free_blocks() == 0);
  }
}

TEST_CASE("One that does not fit stops the line", "[sim][scheduler]") {
  for (const bool reserve : {true, false}) {
    INFO(reserve);
    EngineSpec e = engine();
    e.scheduler_reserve_full_isl = reserve;
    Server server(4, e);
    server.decodes(8, 2);           // 9 tokens: 3 blocks
    Sequence* b = server.waits(8);  // 2 blocks, and 1 is free
    Sequence* c = server.waits(2);
    CHECK(server.plan().admitted.empty());
    CHECK(server.waiting() == Sequences{b, c});
  }
}

TEST_CASE("The watermark stays free while something runs", "[sim][scheduler]") {
  EngineSpec e = engine();
  e.max_num_batched_tokens = 64;
  e.watermark = 0.25;  // 2 of 8 blocks
  SECTION("20 tokens are 5 blocks, and 6 - 2 are to be had") {
    Server server(8, e);
    server.decodes(6);
    server.waits(20);
    CHECK(server.plan().admitted.empty());
  }
  SECTION("16 tokens are 4") {
    Server server(8, e);
    server.decodes(6);
    server.waits(16);
    CHECK(server.plan().admitted.size() == 1);
  }
  SECTION("alone, a sequence may have all 8") {
    Server server(8, e);
    server.waits(32);
    CHECK(server.plan().admitted.size() == 1);
  }
}

TEST_CASE("Without chunked prefill a prompt waits until it fits in a step whole",
          "[sim][scheduler]") {
  EngineSpec e = engine();
  e.enable_chunked_prefill = false;
  Server server(100, e);
  server.decodes(8);
  Sequence* b = server.waits(16);
  Sequence* c = server.waits(2);
  server.plan();
  CHECK(server.waiting() == Sequences{b, c});  // 16 > 15, and nobody overtakes
  Server alone(100, e);
  Sequence* d = alone.waits(16);
  alone.plan();
  CHECK(alone.share_of(d) == 16);
}

EngineSpec engine_v0() {
  EngineSpec e = engine();
  e.scheduler = "vllm_v0";
  e.enable_chunked_prefill = false;
  return e;
}

TEST_CASE("V0 computes waiting prompts while every decode stands still", "[sim][scheduler][v0]") {
  Server server(100, engine_v0());
  Sequence* a = server.decodes(8);
  Sequence* b = server.waits(10);
  Sequence* c = server.waits(6);  // 16 tokens together, the whole budget
  Sequence* d = server.waits(2);
  server.step();
  CHECK(server.share_of(a) == 0);
  CHECK(server.share_of(b) == 10);
  CHECK(server.share_of(c) == 6);
  CHECK(server.waiting() == Sequences{d});
  server.step();
  CHECK(server.share_of(d) == 2);
  server.step();  // nobody waits: all four decode
  for (const Sequence* s : {a, b, c, d}) CHECK(server.share_of(s) == 1);
}

TEST_CASE("V0 goes on decoding when the next prompt does not fit into the cache",
          "[sim][scheduler][v0]") {
  Server server(5, engine_v0());  // blocks of 4
  Sequence* a = server.decodes(12);
  Sequence* b = server.waits(10);  // 3 blocks, and 5 - 3 are free
  server.plan();
  CHECK(server.share_of(a) == 1);
  CHECK(server.waiting() == Sequences{b});
}

TEST_CASE("V0 starts the decodes of several steps together, and prompts wait for the last",
          "[sim][scheduler][v0]") {
  EngineSpec e = engine_v0();
  e.num_scheduler_steps = 3;
  Server server(100, e);
  Sequence* a = server.decodes(8);
  server.step();
  Sequence* b = server.waits(10);
  for (int step = 0; step < 2; ++step) {
    server.step();
    CHECK(server.share_of(a) == 1);
    CHECK(server.share_of(b) == 0);
  }
  server.step();
  CHECK(server.share_of(a) == 0);
  CHECK(server.share_of(b) == 10);
  SECTION("but for nobody's: when all have ended, the round is over") {
    server.step();
    server.release(a);
    server.release(b);
    Sequence* c = server.waits(4);
    server.step();
    CHECK(server.share_of(c) == 4);
  }
}

TEST_CASE("V0 lets prompts wait until enough of the cache is free", "[sim][scheduler][v0]") {
  EngineSpec e = engine_v0();
  e.prefill_free_kv = 0.5;
  Server server(8, e);
  Sequence* a = server.decodes(20);  // 5 of 8 blocks; 3 free are fewer than half
  Sequence* b = server.waits(4);
  server.plan();
  CHECK(server.share_of(a) == 1);
  server.release(a);
  server.plan();  // and whoever is alone need not wait
  CHECK(server.share_of(b) == 4);
}

TEST_CASE("V0 with chunked prefill starts decodes together too, once no chunk is left",
          "[sim][scheduler][v0]") {
  EngineSpec e = engine_v0();
  e.enable_chunked_prefill = true;
  e.num_scheduler_steps = 2;
  e.prefill_free_kv = 0.5;
  Server server(100, e);
  Sequence* a = server.decodes(8);
  Sequence* b = server.waits(20);
  server.step();
  CHECK(server.share_of(b) == 15);  // and 5 are left for the next step
  server.step();
  CHECK(server.share_of(b) == 5);
  server.step();  // a round of two decodes begins
  Sequence* c = server.waits(4);
  server.step();
  CHECK(server.share_of(a) == 1);
  CHECK(server.share_of(c) == 0);
  server.step();
  CHECK(server.share_of(c) == 4);
  SECTION("and keeps prompts waiting for room") {
    Server full(16, e);
    Sequence* d = full.decodes(36);  // 9 of 16 blocks
    Sequence* waiting = full.waits(4);
    full.plan();
    CHECK(full.share_of(d) == 1);
    CHECK(full.share_of(waiting) == 0);
  }
}

TEST_CASE("V0 with chunked prefill fills a step of decodes up with chunks",
          "[sim][scheduler][v0]") {
  EngineSpec e = engine_v0();
  e.enable_chunked_prefill = true;
  Server server(100, e);
  Sequence* a = server.decodes(8);
  Sequence* b = server.waits(20);
  server.plan();
  CHECK(server.share_of(a) == 1);
  CHECK(server.share_of(b) == 15);
}

TEST_CASE("Something is scheduled whenever something waits, whatever the settings",
          "[sim][scheduler]") {
  for (const bool chunked : {true, false}) {
    for (const bool reserve : {true, false}) {
      for (const std::int64_t threshold : {0, 1, 5}) {
        for (const double watermark : {0.0, 0.5}) {
          for (const std::string& policy : scheduler_names()) {
            CAPTURE(chunked, reserve, threshold, watermark, policy);
            EngineSpec e = engine();
            e.scheduler = policy;
            e.max_model_len = 16;
            e.enable_chunked_prefill = chunked;
            e.scheduler_reserve_full_isl = reserve;
            e.long_prefill_token_threshold = threshold;
            e.watermark = watermark;
            Server server(4, e);  // just room for one sequence of max_model_len
            server.waits(15);
            CHECK_FALSE(server.plan().chunks.empty());
          }
        }
      }
    }
  }
}

TEST_CASE("A policy that is not in the table is our own mistake", "[sim][scheduler]") {
  EngineSpec e = engine();
  e.scheduler = "lottery";
  CHECK_THROWS_AS(make_scheduler(e), ridgeline::core::InvariantError);
  for (const std::string& name : scheduler_names()) {
    e.scheduler = name;
    CHECK(make_scheduler(e) != nullptr);
  }
}
