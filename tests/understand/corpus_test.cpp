// Are real traces understood as people understood them? Numbers are those published with the
// traces, or counted in them by hand.

#include <catch2/catch.hpp>
#include <optional>

#include "tests/corpus.hpp"
#include "timeline/classify.hpp"
#include "timeline/inspection.hpp"
#include "timeline/integrity.hpp"
#include "timeline/readers/formats.hpp"
#include "timeline/recorded_timeline.hpp"
#include "timeline/summary.hpp"
#include "timeline/tensile.hpp"

namespace ridgeline::timeline {
namespace {

struct Understood {
  explicit Understood(const std::filesystem::path& path)
      : recording(read_recording(path)),
        steps(find_steps(recording)),
        inspection(inspect(recording, steps)),
        gates(check_integrity(recording, steps)) {}

  [[nodiscard]] const DeviceUse& use() const { return inspection.devices.at(0); }
  [[nodiscard]] const Gate& gate(std::string_view name) const {
    for (const Gate& g : gates) {
      if (g.name == name) return g;
    }
    throw std::runtime_error("no such gate");
  }
  [[nodiscard]] core::Nanoseconds time_of(KernelClass cls) const {
    for (const ClassRow& row : inspection.classes) {
      if (row.cls == cls) return row.durations.total;
    }
    return {0};
  }

  Recording recording;
  Steps steps;
  Inspection inspection;
  std::vector<Gate> gates;
};

double ms(core::Nanoseconds t) { return static_cast<double>(t.count) * 1e-6; }

const std::vector<std::string> kTraces{
    "traces/tracelens/b200_tp8_eager_decode.json.gz",
    "traces/tracelens/h100_hf_bert-small_hostbound.json.gz",
    "traces/tracelens/h100_hf_qwen1.5-0.5b_prefill_bs16.json.gz",
    "traces/tracelens/mi210_gpu_only.json.gz",
    "traces/tracelens/mi300_hf_bert-small_hostbound.json.gz",
    "traces/tracelens/mi300_hf_qwen1.5-0.5b_prefill_bs16.json.gz",
    "traces/tracelens/mi300_hf_vit_nsfw.json.gz",
    "traces/tracelens/mi300x_resnet_ddp8_actckpt_train.json.gz",
    "traces/tracelens/mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz",
    "traces/tracelens/mi300x_sglang_qwen3-8b_graphcapture_bs32.json.gz",
    "traces/tracelens/mi300x_sglang_qwen3-8b_prefill_15360tok_eager.json.gz",
    "traces/hta/a100_alexnet_cuda_sync.json.gz",
    "traces/hta/a100_event_sync_multistream.json.gz",
    "traces/hta/mi250_minitoy_train_rocm6.2.json.gz",
};

TEST_CASE("In every real trace the parts of the time add up and nearly every kernel is known") {
  for (const std::string& trace : kTraces) {
    const auto path = tests::corpus(trace);
    if (!path) continue;
    INFO(trace);
    const Understood u(*path);
    CHECK(u.use().time == u.use().busy + u.use().idle);
    CHECK(u.use().busy ==
          u.use().computation + u.use().exposed_communication + u.use().exposed_copies);
    core::Nanoseconds gaps{0};
    for (const GapRow& row : u.inspection.gaps) gaps += row.total;
    CHECK(gaps == u.use().idle);

    core::Nanoseconds kernels{0};
    for (const ClassRow& row : u.inspection.classes) kernels += row.durations.total;
    CHECK(ms(u.time_of(KernelClass::other)) <= 0.02 * ms(kernels));

    // Another road to the same numbers.
    const Summary sum = summarize(RecordedTimeline(u.recording, u.steps));
    CHECK(sum.time == u.use().time);
    CHECK(sum.time == sum.busy + sum.gaps + sum.host);
  }
}

TEST_CASE(
    "A graph decode step of 32 sequences behind an unseen prefill is one busy step of 10 ms") {
  const auto path =
      tests::corpus("traces/tracelens/mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz");
  if (!path) return;
  const Understood u(*path);
  REQUIRE(u.steps.steps.size() == 1);
  CHECK(u.steps.steps[0].decode_sequences == 32);
  CHECK(u.steps.steps[0].decode_context == 32785);
  CHECK(ms(u.use().busy) == Approx(9.76).margin(0.02));
  CHECK(u.use().busy_share() > 0.9);  // of the recording's 473.7 ms it would be 2 %
  CHECK(believable(u.gates));
  CHECK(u.gate("graph_replays").value == 1.0);
  CHECK_FALSE(u.gate("unrecorded_work").passed);
  // The copy that blocked for 463 ms moved 256 bytes in 4.5 us.
  REQUIRE(u.inspection.blocked_copies.size() == 1);
  CHECK(ms(u.inspection.blocked_copies[0].on_host) == Approx(463.06).margin(0.01));
  CHECK(ms(u.inspection.blocked_copies[0].on_device) < 0.005);
  CHECK(u.inspection.blocked_copies[0].bytes == 256);
  // Some 320 of 544 kernels of the graph take under 6 us, 1.54 ms together; the sampling and the
  // indices are outside the graph.
  CHECK(u.inspection.floor.count == Approx(320).margin(12));
  CHECK(ms(u.inspection.floor.time) == Approx(1.54).margin(0.06));
  // Qwen3-8B has 36 layers of four products, and one of the vocabulary.
  CHECK(u.inspection.classes.at(0).cls == KernelClass::gemm);
  CHECK(u.inspection.classes.at(0).durations.count == 36 * 4 + 1);
  CHECK(u.time_of(KernelClass::attention) > u.time_of(KernelClass::norm));
  // Every tile along tokens is one of 32 or 48: a batch of 32.
  for (const NameRow& row : u.inspection.names) {
    if (row.cls != KernelClass::gemm) continue;
    const auto tile = gemm_tile(u.recording.name(row.name));
    REQUIRE(tile);
    CHECK((tile->m == 32 || tile->m == 48));
    CHECK(tile->dtype == "bf16");
  }
}

TEST_CASE(
    "An eager prefill of 15,360 tokens keeps the device busy, and its tiles and grids agree with "
    "its shapes") {
  const auto path =
      tests::corpus("traces/tracelens/mi300x_sglang_qwen3-8b_prefill_15360tok_eager.json.gz");
  if (!path) return;
  const Understood u(*path);
  REQUIRE(u.steps.steps.size() == 1);
  CHECK(u.steps.steps[0].prefill_sequences == 15);
  CHECK(u.steps.steps[0].prefill_tokens == 15360);
  CHECK(u.steps.steps[0].prefill_qk == 15.0 * 1024 * 1024);
  CHECK(u.use().busy_share() > 0.99);
  CHECK(u.inspection.backlog.share_behind > 0.9);  // the host is far ahead
  const ClassRow& gemm = u.inspection.classes.at(0);
  REQUIRE(gemm.cls == KernelClass::gemm);
  CHECK(gemm.shaped_time == gemm.durations.total);
  // 2 x 15360 x 36 layers x (4096 x (6144 + 4096 + 24576) + 12288 x 4096), and 15 rows of the
  // vocabulary.
  const double layers = 2.0 * 15360 * 36 * (4096.0 * (6144 + 4096 + 24576) + 12288.0 * 4096);
  CHECK(gemm.flop.value() == layers + 2.0 * 15 * 4096 * 151936);

  const GemmShapes shapes(u.recording);
  int checked = 0;
  for (const DeviceEvent& e : u.recording.device_events) {
    const GemmShape* shape = shapes.of(e);
    const auto tile = gemm_tile(u.recording.name(e.name));
    if (shape == nullptr || !tile || e.workgroups[0] == 0) continue;
    const std::int64_t grid = e.workgroups[0] * std::max<std::int64_t>(1, e.workgroups[1]);
    const auto tokens = tokens_given_features(*tile, grid, shape->facts.n);
    REQUIRE(tokens);
    CHECK(tokens->contains(static_cast<double>(shape->facts.m)));
    ++checked;
  }
  CHECK(checked == 145);
}

TEST_CASE("A small model run eagerly leaves the device idle because launches come late") {
  for (const char* trace : {"traces/tracelens/mi300_hf_bert-small_hostbound.json.gz",
                            "traces/tracelens/h100_hf_bert-small_hostbound.json.gz"}) {
    const auto path = tests::corpus(trace);
    if (!path) continue;
    INFO(trace);
    const Understood u(*path);
    CHECK(u.use().busy_share() == Approx(0.085).margin(0.016));
    CHECK(u.inspection.backlog.share_behind < 0.1);  // hardly a kernel waits behind another
    const double late = ms(u.inspection.gap(GapCause::host_late).total) +
                        ms(u.inspection.gap(GapCause::sync).total);
    CHECK(late > 0.7 * ms(u.use().idle));
    CHECK(believable(u.gates));
  }
}

TEST_CASE("Training on eight devices waits for its all-reduce with nothing beside it") {
  const auto path = tests::corpus("traces/tracelens/mi300x_resnet_ddp8_actckpt_train.json.gz");
  if (!path) return;
  const Understood u(*path);
  CHECK(u.steps.steps.size() == 3);
  CHECK(u.steps.steps.at(0).training);
  CHECK(u.use().busy_share() > 0.99);  // and yet
  CHECK(u.use().exposed_communication > u.use().computation);
  CHECK(u.inspection.classes.at(0).cls == KernelClass::collective);
  CHECK(u.gate("linked").passed);
  // What was queued before the recording began is launched by no step of it.
  CHECK(std::count(u.steps.step_of_event.begin(), u.steps.step_of_event.end(), -1) == 968);
}

TEST_CASE("A capture run fails its gate, with the reason") {
  const auto path =
      tests::corpus("traces/tracelens/mi300x_sglang_qwen3-8b_graphcapture_bs32.json.gz");
  if (!path) return;
  const Understood u(*path);
  CHECK_FALSE(believable(u.gates));
  const Gate& gate = u.gate("launches_ran");
  CHECK_FALSE(gate.passed);
  CHECK_THAT(gate.sentence, Catch::Contains("544 of 546 launch calls have no kernel") &&
                                Catch::Contains("capture run"));
}

TEST_CASE("A forward pass starts where the work queued before it ends") {
  const auto path = tests::corpus("traces/tracelens/h100_hf_qwen1.5-0.5b_prefill_bs16.json.gz");
  if (!path) return;
  const Understood u(*path);
  REQUIRE(u.steps.steps.size() == 1);
  CHECK(ms(u.use().time) ==
        Approx(35.2).margin(0.1));  // of 49.7 recorded: 14.5 belong to the pass before
  CHECK(u.use().busy_share() > 0.85);
}

TEST_CASE("A marked step of one fresh prompt is a prefill, whatever its file is called") {
  // execute_context_1(888_788544)_generation_0(0): 888 tokens, 888 x 888 products.
  const auto path = tests::corpus("traces/tracelens/b200_tp8_eager_decode.json.gz");
  if (!path) return;
  const Understood u(*path);
  REQUIRE(u.steps.steps.size() == 1);
  CHECK(u.steps.steps[0].prefill_tokens == 888);
  CHECK(u.steps.steps[0].decode_sequences == 0);
  CHECK(u.use().busy_share() == Approx(0.133).margin(0.01));
  CHECK(u.use().exposed_communication.count > 0);
}

}  // namespace
}  // namespace ridgeline::timeline
