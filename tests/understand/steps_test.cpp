// Are the steps of a recording found, with what they worked on?

#include <catch2/catch.hpp>
#include <string>

#include "tests/understand/made_up_recording.hpp"
#include "timeline/recorded_timeline.hpp"
#include "timeline/step_annotations.hpp"
#include "timeline/steps.hpp"
#include "timeline/summary.hpp"

namespace ridgeline::timeline {
namespace {

using Form = StepAnnotation::Form;

TEST_CASE("vLLM's detailed annotation gives every sum") {
  const auto a = read_step_annotation(
      "execute_47_context_2(sq15sk30sqsq113sqsk226)_generation_32(sq32sk32785sqsq32sqsk32785)");
  REQUIRE(a);
  CHECK(a->form == Form::vllm_detailed);
  CHECK(a->shape.prefill_sequences == 2);
  CHECK(a->shape.prefill_tokens == 15);
  CHECK(a->shape.prefill_context == 30);
  CHECK(a->shape.prefill_qq == 113.0);
  CHECK(a->shape.prefill_qk == 226.0);
  CHECK(a->shape.decode_sequences == 32);
  CHECK(a->shape.decode_context == 32785);
}

TEST_CASE("vLLM's own annotation gives counts, and products where it has them") {
  const auto plain = read_step_annotation("execute_context_3(700)_generation_29(29)");
  REQUIRE(plain);
  CHECK(plain->shape.prefill_sequences == 3);
  CHECK(plain->shape.prefill_tokens == 700);
  CHECK(plain->shape.decode_sequences == 29);
  CHECK(plain->shape.decode_context == 0);  // not said
  // One fresh prompt of 888: q k = 888 x 888 = 788544.
  const auto products = read_step_annotation("execute_context_1(888_788544)_generation_0(0)");
  REQUIRE(products);
  CHECK(products->shape.prefill_qk == 788544.0);
  CHECK(products->shape.prefill_context == 888);
  CHECK(products->shape.prefill_qq == 788544.0);
}

TEST_CASE("SGLang's and ATOM's annotations are read") {
  CHECK(read_step_annotation("step[DECODE bs=64]")->shape.decode_sequences == 64);
  const auto extend = read_step_annotation("step[EXTEND bs=15 toks=15360]");
  CHECK(extend->shape.prefill_sequences == 15);
  CHECK(extend->shape.prefill_tokens == 15360);
  const auto detailed =
      read_step_annotation("step[EXTEND bs=2 toks=14721 c_sq=14721 c_sk=15000 c_sqsq=9 c_sqsk=10]");
  CHECK(detailed->form == Form::sglang_detailed);
  CHECK(detailed->shape.prefill_context == 15000);
  CHECK(detailed->shape.prefill_qk == 10.0);
  const auto mixed =
      read_step_annotation("step[MIXED bs=10 toks=520 c_sq=512 c_sk=512 g_sq=8 g_sk=4096]");
  CHECK(mixed->shape.decode_sequences == 8);
  CHECK(mixed->shape.prefill_sequences == 2);
  CHECK(mixed->shape.decode_context == 4096);
  const auto prefill = read_step_annotation("prefill[bs=2 tok=1200 ctx=[512, 688]]");
  CHECK(prefill->shape.prefill_context == 1200);
  const auto decode = read_step_annotation("decode[bs=117/128 tok=117 d=117]");
  CHECK(decode->shape.decode_sequences == 117);  // 128 is padding
}

TEST_CASE("Other names are no steps, however much they look like one") {
  for (const std::string_view name :
       {"", "execute_", "execute_context_1(", "execute_context_-1(2)_generation_0(0)", "step[",
        "nccl:all_reduce", "prefill[", "ProfilerStep#",
        "execute_context_99999999999999999999(1)_generation_0(0)"}) {
    INFO(name);
    CHECK_FALSE(read_step_annotation(name));
  }
}

/// Two decode steps as an asynchronous server runs them: the host is ahead of the device by 100 us.
MadeUp two_steps() {
  MadeUp made;
  made.annotation(0, 50, "execute_context_0(0)_generation_4(4)");
  made.launch(10, 5, 1);
  made.launch(20, 5, 2);
  made.annotation(100, 50, "execute_context_1(64)_generation_4(4)");
  made.launch(60, 5, 3);  // sampling: after the first annotation, before the second
  made.launch(110, 5, 4);
  made.kernel(50, 50, "Cijk_a", 1);
  made.kernel(100, 20, "attn_fwd", 2);
  made.kernel(120, 10, "void argmax()", 3);
  made.kernel(200, 60, "Cijk_a", 4);
  made.kernel(-40, 20, "Cijk_a", 0);  // launched before the recording
  return made;
}

TEST_CASE("A step owns what was launched within its annotation and up to the next") {
  MadeUp made = two_steps();
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  CHECK(steps.how == Steps::How::annotations);
  REQUIRE(steps.steps.size() == 2);
  CHECK(steps.step_of_event == std::vector<std::int32_t>{-1, 0, 0, 0, 1});
  CHECK(steps.steps[0].decode_sequences == 4);
  CHECK(steps.steps[1].prefill_tokens == 64);
  CHECK(steps.text == "2 steps by annotations (2 vLLM)");
}

TEST_CASE("A step begins when the device is free for it and reaches to the next") {
  MadeUp made = two_steps();
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  // The first begins with its annotation at 0: the work before it ended at -20. The second is
  // marked at 100 while the first's kernels run until 130.
  CHECK(steps.steps[0].start == at_us(0));
  CHECK(steps.steps[1].start == at_us(130));
  CHECK(steps.steps[0].end() == at_us(130));
  CHECK(steps.steps[1].end() == at_us(260));
}

TEST_CASE("Of marks over the same stretch the most informative counts") {
  MadeUp made;
  made.annotation(0, 1000, "ProfilerStep#7");
  made.annotation(5, 400, "step[DECODE bs=32]");
  made.annotation(0, 450,
                  "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk640sqsq32sqsk640)");
  made.launch(10, 5, 1);
  made.kernel(20, 100, "Cijk_a", 1);
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  REQUIRE(steps.steps.size() == 1);
  CHECK(steps.steps[0].decode_context == 640);
}

TEST_CASE("A step whose work waited for something unrecorded begins after the wait") {
  // A small copy was queued at 10 us and started at 400 ms: a prefill that the profiler did not see
  // had the device.
  MadeUp made;
  made.annotation(0, 400'100, "step[DECODE bs=32]");
  made.call(10, 400'000, HostCall::Kind::copy, "hipMemcpyWithStream", 1);
  made.copy(400'000, 5, 256, 1);
  made.launch(400'020, 5, 2);
  made.kernel(400'030, 9'000, "Cijk_a", 2);
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  REQUIRE(steps.steps.size() == 1);
  CHECK(steps.steps[0].start == at_us(400'000));
  CHECK(steps.steps[0].duration == us(9'030));
}

TEST_CASE("A step with an optimizer in it is one of training") {
  MadeUp made;
  made.annotation(0, 100, "ProfilerStep#1");
  made.annotation(80, 10, "Optimizer.step#SGD.step");
  made.launch(10, 5, 1);
  made.kernel(20, 10, "Cijk_a", 1);
  CHECK(find_steps(made.finish()).steps.at(0).training);
}

/// Steps of a gather, `layers` times (product, norm, attention) and an argmax; 20 us between steps.
MadeUp unmarked(int steps, int layers) {
  MadeUp made;
  double t = 0;
  for (int s = 0; s < steps; ++s) {
    const auto run = [&](double length, std::string_view name) {
      made.kernel(t, length, name);
      t += length;
    };
    run(5, "vectorized_gather");
    for (int l = 0; l < layers; ++l) {
      run(20, "Cijk_a");
      run(5, "rms_norm");
      run(10, "attn_fwd");
    }
    run(50, "void argmax()");
    t += 20;
  }
  return made;
}

TEST_CASE("Without annotations steps are where the names repeat") {
  MadeUp made = unmarked(5, 40);
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  CHECK(steps.how == Steps::How::periodicity);
  REQUIRE(steps.steps.size() == 5);
  // 1 + 40 x 3 + 1 = 122 events; 5 + 40 x 35 + 50 = 1455 us and 20 of rest.
  CHECK_THAT(steps.text, Catch::Contains("a period of 122 events"));
  CHECK(steps.steps[1].start == at_us(1475));
  CHECK(steps.steps[1].duration == us(1475));
  CHECK(steps.step_of_event[122] == 1);
}

TEST_CASE("The layers of one step are not taken for steps") {
  MadeUp made = unmarked(1, 40);
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  CHECK(steps.how == Steps::How::whole);
  CHECK(steps.steps.size() == 1);
  CHECK(steps.steps[0].duration == us(1455));
}

TEST_CASE("Large graph replays are steps of their own") {
  MadeUp made;
  for (int s = 0; s < 3; ++s) {
    made.call(s * 1000.0, 100, HostCall::Kind::graph_launch, "hipGraphLaunch", s + 1);
    for (int k = 0; k < 120; ++k)
      made.kernel(s * 1000.0 + 20 + 5 * k, 5, k % 2 == 0 ? "Cijk_a" : "attn_fwd", s + 1);
  }
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  CHECK(steps.how == Steps::How::graph_launches);
  CHECK(steps.steps.size() == 3);
  CHECK(steps.steps[0].duration == us(1000));
}

TEST_CASE("A recorded timeline can be summed like any other") {
  MadeUp made = two_steps();
  made.recording.device_events[0].external_id = 9;
  made.op("aten::mm", 9, {{4, 64}, {64, 128}});
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  const RecordedTimeline timeline(r, steps);
  const Summary sum = summarize(timeline);
  CHECK(sum.steps == 2);
  CHECK(sum.time == us(260));
  CHECK(sum.busy == us(140));  // 50 + 20 + 10 and 60
  CHECK(sum.decode_sequences == 8);
  CHECK(sum.by_class.at(KernelClass::gemm).count == 2);
  CHECK(sum.gemm_m.at(4) == 1);
  CHECK(sum.total.useful.value() == 2.0 * 4 * 64 * 128);
  CHECK(sum.time == sum.busy + sum.gaps + sum.host);
}

TEST_CASE("A recorded timeline shows the server's counters at their steps") {
  MadeUp made = two_steps();
  const auto counter = [&](double at, std::string_view name, double value) {
    CounterValue c;
    c.time = at_us(at);
    c.name = made.recording.names.of(name);
    c.value = value;
    made.recording.counters.push_back(c);
  };
  counter(140, "vllm:kv_cache_usage_perc", 0.62);
  counter(140, "num_running", 4);
  const Recording& r = made.finish();
  const Steps steps = find_steps(r);
  struct Seen final : SpanVisitor {
    std::vector<CounterSample> samples;
    void on_counters(const CounterSample& c) override { samples.push_back(c); }
  } seen;
  RecordedTimeline(r, steps).visit({}, seen);
  REQUIRE(seen.samples.size() == 1);
  CHECK(seen.samples[0].kv_usage == 0.62);
  CHECK(seen.samples[0].running == 4);
}

}  // namespace
}  // namespace ridgeline::timeline
