// Kernels of a forward pass, held against the model's dimensions: over all models that are shipped,
// what the kernels read is what ModelSpec says there is, and what they multiply is what a token
// needs.

#include "workloads/lower_inference.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "core/config_library.hpp"
#include "hw/gpu.hpp"
#include "tests/workloads/fixtures.hpp"

namespace {

using namespace ridgeline;
using core::Bytes;
using core::Flop;
using hw::Dtype;
using hw::KernelKind;
using hw::KernelProgram;
using hw::KernelWork;
using tests::model;
using tests::shipped;
using workloads::Lowering;
using workloads::ModelSpec;
using workloads::Parallelism;
using workloads::StepShape;
using workloads::WeightPart;

hw::GpuSpec machine(const std::string& name) {
  const core::Node node = shipped().resolve("hw", core::parse_yaml(name, "hw.yaml"));
  return hw::read_gpu_spec(core::Reader(node));
}

double number(std::int64_t n) { return static_cast<double>(n); }
std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// `sequences` that each decode at a context of so many tokens.
StepShape decode(std::int64_t sequences, std::int64_t context) {
  StepShape shape;
  for (std::int64_t i = 0; i < sequences; ++i) shape.add_decode(context);
  return shape;
}
StepShape prefill(std::int64_t tokens) {
  StepShape shape;
  shape.add_prefill(tokens, tokens, true);
  return shape;
}

KernelProgram lower(const ModelSpec& m, const StepShape& shape, const Parallelism& parallelism = {},
                    const Lowering& lowering = {}, Dtype kv_cache = Dtype::bf16) {
  KernelProgram program;
  workloads::lower_inference(m, lowering, parallelism, kv_cache, shape, shape.tokens(), program);
  return program;
}

/// Every kernel as often as it runs.
void for_each(const KernelProgram& program,
              const std::function<void(const KernelWork&, double times)>& visit) {
  for (const KernelProgram::Segment& segment : program.segments()) {
    for (std::size_t i = segment.first; i < segment.first + segment.count; ++i)
      visit(program.kernels()[i], number(segment.repeat));
  }
}

double count(const KernelProgram& program, std::string_view role) {
  double n = 0.0;
  for_each(program, [&](const KernelWork& work, double times) {
    if (work.role == role) n += times;
  });
  return n;
}
const KernelWork& first(const KernelProgram& program, std::string_view role) {
  for (const KernelWork& work : program.kernels()) {
    if (work.role == role) return work;
  }
  FAIL("no kernel " << role);
  return program.kernels().front();
}

bool is_attention(const KernelWork& work) {
  return work.kind == KernelKind::attention_prefill || work.kind == KernelKind::attention_decode;
}

/// Weights that one expert kernel streams: of each expert that a token visits, gate and up, or
/// down.
Bytes expert_weights(const hw::ExpertStage& stage) {
  const hw::MoeQuery& q = stage.query;
  REQUIRE(q.active);
  const double matrices = stage.down || !q.gated ? 1.0 : 2.0;
  return q.weight_element * (*q.active * matrices * number(q.inter_dim * q.model_dim));
}

struct Sums {
  Bytes weights{};     // that matrix products and experts stream
  Flop linear{};       // useful FLOP of those
  Flop attention{};    // and of attention
  Bytes kv_read{};     // by attention
  Bytes kv_written{};  // into the cache
};

Sums sums(const KernelProgram& program) {
  Sums s;
  for_each(program, [&](const KernelWork& work, double times) {
    if (const auto* stage = std::get_if<hw::ExpertStage>(&work.operation)) {
      s.weights += expert_weights(*stage) * times;
      s.linear += work.useful * times;
    } else if (work.kind == KernelKind::gemm) {
      s.weights += work.stream_read * times;
      s.linear += work.useful * times;
    } else if (is_attention(work)) {
      s.attention += work.useful * times;
      s.kv_read += work.stream_read * times;
    }
    s.kv_written += work.stream_written * times;
  });
  return s;
}

/// What no product streams: the table of embeddings, of which only the tokens' rows are read
/// (unless it is the head too), and the norms.
Bytes not_streamed(const ModelSpec& m, std::int64_t tp) {
  const Bytes norms = hw::bytes_of(m.activations) * number((2 * m.layers + 1) * m.hidden);
  if (m.tied_embeddings) return norms;
  return norms + m.element_bytes(WeightPart::embeddings) * number(up(m.vocab, tp) * m.hidden);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), 1.0); }

constexpr std::int64_t kAll = 16384;  // rows that between them visit every expert there is

}  // namespace

TEST_CASE("A step streams every weight once, on each of the GPUs that share the model",
          "[workloads][lowering]") {
  for (const std::string& name : shipped().names("models")) {
    const ModelSpec m = model(name);
    for (const std::int64_t tp : {1, 2, 4, 8}) {
      if (m.heads % tp != 0) continue;  // the engine refuses it
      for (const bool experts : {false, true}) {
        if (experts && !m.has_experts()) continue;
        const Parallelism parallelism{tp, 1, experts};
        const double there =
            (m.weight_bytes_per_gpu(tp, 1, parallelism.expert()) - not_streamed(m, tp)).value();
        INFO(name << " on " << tp << " GPUs" << (experts ? ", whole experts on each" : ""));
        CHECK(near(sums(lower(m, decode(kAll, 100), parallelism)).weights.value(), there));
        CHECK(near(sums(lower(m, prefill(kAll), parallelism)).weights.value(), there));
      }
    }
  }
}

TEST_CASE("A single token streams the weights less the experts that it does not visit",
          "[workloads][lowering]") {
  for (const std::string& name : shipped().names("models")) {
    const ModelSpec m = model(name);
    INFO(name);
    const Bytes idle =
        m.element_bytes(WeightPart::experts) *
        number(m.moe_layers() * (m.moe.experts - m.moe.experts_per_token) * m.expert_elements());
    CHECK(near(sums(lower(m, decode(1, 100))).weights.value(),
               (m.weight_bytes() - not_streamed(m, 1) - idle).value()));
  }
}

TEST_CASE("A token is multiplied with every active parameter, 2 FLOP each",
          "[workloads][lowering]") {
  for (const std::string& name : shipped().names("models")) {
    const ModelSpec m = model(name);
    INFO(name);
    // Norms are no products, and of two tables one is only looked up in.
    const std::int64_t looked_up = m.tied_embeddings ? 0 : m.vocab * m.hidden;
    const double multiplied =
        number(m.active_parameters() - looked_up - (2 * m.layers + 1) * m.hidden);
    CHECK(near(sums(lower(m, decode(1, 100))).linear.value(), 2.0 * multiplied));
    CHECK(near(sums(lower(m, decode(7, 100))).linear.value(), 7.0 * 2.0 * multiplied));
  }
}

TEST_CASE("Attention reads what the cache holds of a sequence and writes what a token adds",
          "[workloads][lowering]") {
  for (const std::string& name : shipped().names("models")) {
    const ModelSpec m = model(name);
    for (const std::int64_t tp : {1, 4}) {
      if (m.heads % tp != 0) continue;
      for (const std::int64_t context : {1, 100, 3000, 20000}) {
        for (const Dtype kv_cache : {Dtype::bf16, Dtype::fp8}) {
          INFO(name << " on " << tp << " GPUs, context " << context);
          const Sums s = sums(lower(m, decode(3, context), {tp}, {}, kv_cache));
          CHECK(
              near(s.kv_read.value(), 3.0 * m.kv_bytes_of_sequence(context, kv_cache, tp).value()));
          CHECK(near(s.kv_written.value(), 3.0 * m.kv_bytes_per_token(kv_cache, tp).value()));
        }
      }
    }
  }
}

TEST_CASE("Among tp GPUs, each does one of tp parts of the arithmetic", "[workloads][lowering]") {
  // All of whose heads, KV heads, widths and vocabularies divide by 8.
  for (const char* name : {"llama3_8b", "llama3_70b", "llama3_405b", "qwen3_32b", "mistral_7b"}) {
    const ModelSpec m = model(name);
    StepShape mixed = decode(20, 1000);
    mixed.add_prefill(300, 500, true);
    const Sums one = sums(lower(m, mixed));
    for (const std::int64_t tp : {2, 4, 8}) {
      INFO(name << " on " << tp << " GPUs");
      const Sums part = sums(lower(m, mixed, {tp}));
      CHECK(near(part.linear.value() * number(tp), one.linear.value()));
      CHECK(near(part.attention.value() * number(tp), one.attention.value()));
      CHECK(near(part.kv_read.value() * number(tp), one.kv_read.value()));
    }
  }
}

TEST_CASE("Experts share out the routed rows, sliced or whole", "[workloads][lowering]") {
  // 64 rows and 2 of 8 experts: 128 routed rows, each through 3 matrices of 4096 x 14336. On 8 GPUs
  // a whole expert each sees 16 of them on average, an eighth of an expert all.
  const ModelSpec m = model("mixtral_8x7b");
  const double all = 2.0 * 128.0 * 3.0 * 4096.0 * 14336.0;
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    for (const bool whole : {false, true}) {
      INFO(tp << " GPUs" << (whole ? ", whole experts" : ""));
      const KernelProgram program = lower(m, decode(64, 100), {tp, 1, whole});
      const double each = first(program, "experts_gate_up").useful.value() +
                          first(program, "experts_down").useful.value();
      CHECK(each * number(tp) == Approx(all).epsilon(1e-12));
    }
  }
}

TEST_CASE("Two all-reduces a layer, one of the embeddings, and a gather of the logits",
          "[workloads][lowering]") {
  Lowering lowering;
  lowering.collectives = "quick";
  for (const char* name : {"llama3_70b", "deepseek_v3", "gpt_oss_120b", "falcon_180b"}) {
    const ModelSpec m = model(name);
    INFO(name);
    const KernelProgram program = lower(m, decode(48, 100), {8}, lowering);
    double reduced = 0.0;
    for_each(program, [&](const KernelWork& work, double times) {
      const auto* call = std::get_if<hw::CollectiveCall>(&work.operation);
      CHECK((call != nullptr) == (work.kind == KernelKind::collective));
      if (call == nullptr) return;
      CHECK(call->query.gpus == 8);
      CHECK(call->collectives == "quick");
      if (call->query.kind != hw::CollectiveKind::all_reduce) return;
      CHECK(call->query.bytes == Bytes{48.0 * number(m.hidden) * 2.0});  // bf16
      reduced += times;
    });
    CHECK(reduced == number(2 * m.layers + 1));
    const auto& gather =
        std::get<hw::CollectiveCall>(first(program, "logits_gather").operation).query;
    CHECK(gather.kind == hw::CollectiveKind::all_gather);
    CHECK(gather.bytes == Bytes{48.0 * number(m.vocab) * 2.0});
    CHECK(count(program, "stage_send") == 0.0);

    for_each(lower(m, decode(48, 100)), [](const KernelWork& work, double) {
      CHECK(work.kind != KernelKind::collective);  // alone, nobody to talk to
    });
    CHECK(count(lower(m, decode(48, 100), {1, 4}), "stage_send") == 3.0);  // 4 stages, 3 borders
  }
}

TEST_CASE("Latent attention decodes on the compressed cache and prefills on decompressed keys",
          "[workloads][lowering]") {
  const ModelSpec m = model("deepseek_v3");  // 128 heads; latent 512 + 64, queries 128 + 64
  const KernelProgram decoding = lower(m, decode(4, 1000));
  CHECK(count(decoding, "kv_b_proj") == 0.0);
  CHECK(first(decoding, "q_absorb").gemm == hw::GemmShape{4, 512, 128, 128});
  CHECK(first(decoding, "v_absorb").gemm == hw::GemmShape{4, 128, 512, 128});
  // 128 heads x (576 for the score + 512 for the value) x 2 FLOP a pair, 4 x 1000 pairs, 61 layers.
  CHECK(sums(decoding).attention.value() == Approx(61.0 * 4000.0 * 2.0 * 128.0 * (576.0 + 512.0)));

  const KernelProgram filling = lower(m, prefill(1000));
  CHECK(count(filling, "q_absorb") + count(filling, "v_absorb") == 0.0);
  CHECK(first(filling, "kv_b_proj").gemm == hw::GemmShape{1000, 128 * (128 + 128), 512, 1});
  // 128 heads x (192 + 128) x 2 FLOP a pair, 1000 x 1001 / 2 pairs.
  CHECK(sums(filling).attention.value() == Approx(61.0 * 500500.0 * 2.0 * 128.0 * (192.0 + 128.0)));

  // The latents serve all heads: on each of 8 GPUs whole, where the heads are 16.
  CHECK(sums(lower(m, decode(4, 1000), {8})).kv_read == sums(decoding).kv_read);
  CHECK(first(lower(m, decode(4, 1000), {8}), "q_absorb").gemm == hw::GemmShape{4, 512, 128, 16});
}

TEST_CASE("A window hides what is older from the layers that have one", "[workloads][lowering]") {
  const ModelSpec m = model("gpt_oss_20b");     // 24 layers, every second with a window of 128
  const double token = 2.0 * 8.0 * 64.0 * 2.0;  // K and V of 8 heads of 64 in bf16
  CHECK(sums(lower(m, decode(1, 1128))).kv_read.value() == 12.0 * token * (1128.0 + 128.0));
  CHECK(sums(lower(m, decode(1, 100))).kv_read.value() == 24.0 * token * 100.0);
  // 64 heads x 64 x 4 FLOP a pair. 200 tokens see 200 x 201 / 2 keys, through a window of 128
  // 128 x 129 / 2 + 72 x 128.
  const double pair = 4.0 * 64.0 * 64.0;
  CHECK(sums(lower(m, prefill(200))).attention.value() ==
        Approx(12.0 * pair * (20100.0 + 8256.0 + 9216.0)));
}

TEST_CASE("Layers with and without experts come in the order the model has them",
          "[workloads][lowering]") {
  for (const std::string& name : shipped().names("models")) {
    const ModelSpec m = model(name);
    INFO(name);
    std::vector<bool> experts;  // of each layer
    const KernelProgram program = lower(m, decode(1, 10));
    for (const KernelProgram::Segment& segment : program.segments()) {
      for (std::int64_t r = 0; r < segment.repeat; ++r) {
        for (std::size_t i = segment.first; i < segment.first + segment.count; ++i) {
          const std::string_view role = program.kernels()[i].role;
          if (role == "input_norm") experts.push_back(false);
          if (role == "router") experts.back() = true;
        }
      }
    }
    REQUIRE(number(m.layers) == number(static_cast<std::int64_t>(experts.size())));
    for (std::int64_t l = 0; l < m.layers; ++l)
      CHECK(experts[static_cast<std::size_t>(l)] == m.is_moe_layer(l));
  }
}

// -- number formats

TEST_CASE("fp8 multiplies in fp8 and quantizes what goes in, where nothing before does",
          "[workloads][lowering]") {
  const ModelSpec m = model("{base: llama3_8b, quantization: fp8}");
  Lowering apart;
  apart.fused_quant = false;
  const KernelProgram program = lower(m, decode(32, 100), {}, apart);
  for (const char* role : {"qkv_proj", "o_proj", "gate_up_proj", "down_proj"}) {
    const KernelWork& work = first(program, role);
    INFO(role);
    CHECK(work.math == Dtype::fp8);
    CHECK(work.weights == Dtype::fp8);
    CHECK(work.stream_read.value() == number(work.gemm.n * work.gemm.k));             // 1 B each
    CHECK(work.activation_read[0].value() == number(work.gemm.m * work.gemm.k));      // likewise
    CHECK(work.activation_written.value() == number(2 * work.gemm.m * work.gemm.n));  // bf16 out
  }
  for (const char* role : {"qkv_quant", "o_quant", "ffn_quant", "down_quant"}) {
    INFO(role);
    CHECK(count(program, role) == 32.0);  // once a layer
    const KernelWork& work = first(program, role);
    CHECK(work.kind == KernelKind::quantize);
    CHECK(work.activation_read[0] == work.activation_written * 2.0);  // 2 B in, 1 B out
  }
  // The head stays in bf16.
  CHECK(first(program, "lm_head").math == Dtype::bf16);
  CHECK(first(program, "lm_head").stream_read.value() == 2.0 * 4096.0 * 128256.0);

  // What the norm or the activation before does on its way needs no kernel; after attention there
  // is neither.
  const KernelProgram fused = lower(m, decode(32, 100));
  CHECK(count(fused, "o_quant") == 32.0);
  CHECK(count(fused, "qkv_quant") + count(fused, "ffn_quant") + count(fused, "down_quant") == 0.0);
  // And in bf16 nothing is quantized.
  for_each(lower(model("llama3_8b"), decode(32, 100), {}, apart),
           [](const KernelWork& work, double) { CHECK(work.kind != KernelKind::quantize); });
}

TEST_CASE("Scales of blocks say which library multiplies, and weigh a little",
          "[workloads][lowering]") {
  const ModelSpec m = model("{base: llama3_8b, quantization: fp8_blockscale}");
  const KernelProgram program = lower(m, decode(32, 100));
  CHECK(first(program, "qkv_proj").flavour == "blockscale");
  CHECK(first(program, "lm_head").flavour.empty());
  // One fp32 scale to 128 x 128 weights of a byte.
  CHECK(first(program, "o_proj").stream_read.value() ==
        Approx(4096.0 * 4096.0 * (1.0 + 4.0 / (128.0 * 128.0))));
}

TEST_CASE("awq and gptq multiply in bf16 and read a quarter and their scales",
          "[workloads][lowering]") {
  for (const char* method : {"awq", "gptq"}) {
    const ModelSpec m = model("{base: llama3_8b, quantization: " + std::string(method) + "}");
    INFO(method);
    Lowering apart;
    apart.fused_quant = false;
    const KernelProgram program = lower(m, decode(32, 100), {}, apart);
    const KernelWork& work = first(program, "gate_up_proj");
    CHECK(work.math == Dtype::bf16);
    CHECK(work.weights == Dtype::int4);
    // 4 bits, and of a group of 128 a 16-bit scale and a 4-bit zero.
    CHECK(work.stream_read.value() == Approx(4096.0 * 2.0 * 14336.0 * (4.0 + 20.0 / 128.0) / 8.0));
    CHECK(work.activation_read[0].value() == 32.0 * 4096.0 * 2.0);
    CHECK(work.flavour.empty());
    for_each(program,
             [](const KernelWork& kernel, double) { CHECK(kernel.kind != KernelKind::quantize); });
  }
}

TEST_CASE("mxfp4 experts are read at four bits and a quarter and multiplied in bf16",
          "[workloads][lowering]") {
  const ModelSpec m = model("gpt_oss_20b");
  const KernelProgram program = lower(m, decode(8, 100));
  const auto& query = std::get<hw::ExpertStage>(first(program, "experts_gate_up").operation).query;
  CHECK(query.weight_element.value() == Approx((4.0 + 8.0 / 32.0) / 8.0));
  CHECK(query.math == Dtype::bf16);
  CHECK(first(program, "qkv_proj").weights == Dtype::bf16);  // attention stays as it was
}

// -- what no machine can do

TEST_CASE("No kernel of any model beats its bytes at peak bandwidth or its FLOP at peak rate",
          "[workloads][lowering]") {
  StepShape mixed = decode(37, 3000);
  mixed.add_prefill(700, 2500, true);
  const std::vector<StepShape> shapes{decode(1, 1), decode(1, 9000), decode(64, 2000),
                                      prefill(2048), mixed};
  Lowering together;
  together.attention_together = true;
  std::int64_t priced = 0;
  for (const char* gpu : {"mi300x", "mi300x_datasheet", "mi325x", "h100", "a100"}) {
    const hw::GpuSpec spec = machine(gpu);
    for (const std::string& name : shipped().names("models")) {
      const ModelSpec m = model(name);
      if (!spec.supports(m.math) || !spec.supports(m.activations)) continue;
      for (const StepShape& shape : shapes) {
        for (const Lowering& lowering : {Lowering{}, together}) {
          KernelProgram program = lower(m, shape, {}, lowering);
          for (const KernelWork& work : program.kernels()) {
            const hw::KernelCost cost = hw::cost_of(work, spec, {}, {});
            const double seconds = cost.duration.seconds().value();
            const double bytes =
                std::max(cost.hbm().value(), (work.stream_read + work.stream_written).value());
            INFO(name << " on " << gpu << ": " << work.role);
            REQUIRE(seconds >= bytes / spec.hbm.bandwidth.value() * (1.0 - 1e-12));
            REQUIRE(seconds >= work.useful.value() / spec.peak[work.math].value() * (1.0 - 1e-12));
            REQUIRE(cost.issued >= work.useful * (1.0 - 1e-12));
            if (const auto* stage = std::get_if<hw::ExpertStage>(&work.operation)) {
              REQUIRE(cost.hbm() >= expert_weights(*stage) * (1.0 - 1e-12));
              REQUIRE(cost.useful.value() == Approx(work.useful.value()));
            }
            ++priced;
          }
        }
      }
    }
  }
  CHECK(priced > 20000);
}
