#include "workloads/model_spec.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "fixtures.hpp"

namespace {

using namespace ridgeline;
using hw::Dtype;
using tests::error_of;
using tests::model;
using tests::shipped;
using workloads::ModelSpec;
using workloads::WeightPart;

/// Two layers of a width of 8, two heads of 4, a vocabulary of 100: numbers to follow by hand.
ModelSpec tiny(const std::string& more = "") {
  return model("{name: tiny, layers: 2, hidden: 8, heads: 2, ffn: 16, vocab: 100" + more + "}");
}
constexpr std::int64_t kTinyAttention = 4 * 8 * 8;
constexpr std::int64_t kTinyNorms = 5 * 8;
constexpr std::int64_t kTinyTables = 2 * 100 * 8;
const std::string kTinyMoe =
    ", moe: {experts: 4, experts_per_token: 2, shared_experts: 1, ffn: 4, first_dense_layers: 1}";
constexpr std::int64_t kTinyExpert = 3 * 8 * 4;

/// Sizes as they were published, counted from the dimensions: parameters and those active a token
/// in billions, bytes of bf16 KV cache a token.
struct Published {
  const char* name;
  double parameters;
  double active;
  double kv_bytes;
};
const std::vector<Published> kPublished{
    {"llama2_7b", 6.74, 6.74, 524288},          {"llama2_13b", 13.02, 13.02, 819200},
    {"llama2_70b", 68.98, 68.98, 327680},       {"llama3_8b", 8.03, 8.03, 131072},
    {"llama3_70b", 70.55, 70.55, 327680},       {"llama3_405b", 405.85, 405.85, 516096},
    {"codellama_34b", 33.74, 33.74, 196608},    {"yi_34b", 34.39, 34.39, 245760},
    {"mistral_7b", 7.24, 7.24, 131072},         {"mixtral_8x7b", 46.70, 12.88, 131072},
    {"qwen2_5_7b", 7.62, 7.62, 57344},          {"qwen2_5_32b", 32.76, 32.76, 262144},
    {"qwen2_5_72b", 72.71, 72.71, 327680},      {"qwen3_8b", 8.19, 8.19, 147456},
    {"qwen3_32b", 32.76, 32.76, 262144},        {"qwen3_30b_a3b", 30.53, 3.35, 98304},
    {"qwen3_235b_a22b", 235.09, 22.19, 192512}, {"deepseek_v3", 671.03, 37.55, 70272},
    {"gpt_oss_20b", 20.91, 4.19, 49152},        {"gpt_oss_120b", 116.79, 5.71, 73728},
    {"gemma2_9b", 9.24, 9.24, 344064},          {"gemma2_27b", 27.23, 27.23, 376832},
    {"gemma3_12b", 11.77, 11.77, 393216},       {"gemma3_27b", 27.01, 27.01, 507904},
    {"gemma4_31b", 30.15, 30.15, 983040}};

}  // namespace

TEST_CASE("Sizes of shipped models are those published", "[workloads][model]") {
  for (const Published& row : kPublished) {
    INFO(row.name);
    const ModelSpec m = model(row.name);
    CHECK(static_cast<double>(m.parameters()) * 1e-9 == Approx(row.parameters).epsilon(0.005));
    CHECK(static_cast<double>(m.active_parameters()) * 1e-9 == Approx(row.active).epsilon(0.005));
    CHECK(m.kv_bytes_per_token(Dtype::bf16).value() == row.kv_bytes);
  }
}

TEST_CASE("Models whose names state their size have it", "[workloads][model]") {
  struct Named {
    const char* name;
    double billions;
  };
  // Vendors round, and count embeddings as they like: 3 % around what their model cards say.
  for (const auto& [name, billions] : std::vector<Named>{{"llama3_1b", 1.24},
                                                         {"llama3_3b", 3.21},
                                                         {"llama4_scout", 107.8},
                                                         {"llama4_maverick", 400.7},
                                                         {"qwen2_5_0_5b", 0.49},
                                                         {"qwen2_5_1_5b", 1.54},
                                                         {"qwen2_5_3b", 3.09},
                                                         {"qwen2_5_14b", 14.7},
                                                         {"qwen2_57b_a14b", 57.4},
                                                         {"qwen3_0_6b", 0.6},
                                                         {"qwen3_1_7b", 1.7},
                                                         {"qwen3_4b", 4.0},
                                                         {"qwen3_14b", 14.8},
                                                         {"qwen3_coder_480b_a35b", 480.0},
                                                         {"mistral_7b_v03", 7.25},
                                                         {"ministral_8b", 8.02},
                                                         {"mistral_nemo_12b", 12.2},
                                                         {"mistral_small_24b", 23.6},
                                                         {"mistral_large_123b", 123.0},
                                                         {"mixtral_8x22b", 141.0},
                                                         {"gemma_2b", 2.51},
                                                         {"gemma_7b", 8.54},
                                                         {"gemma2_2b", 2.61},
                                                         {"gemma3_1b", 1.0},
                                                         {"gemma3_4b", 3.88},
                                                         {"deepseek_v2_lite", 15.7},
                                                         {"deepseek_v2", 236.0},
                                                         {"kimi_k2", 1026.0},
                                                         {"glm4_5_air", 106.0},
                                                         {"glm4_5", 355.0},
                                                         {"phi3_mini", 3.82},
                                                         {"phi3_medium", 14.0},
                                                         {"phi3_5_moe", 41.9},
                                                         {"phi4", 14.7},
                                                         {"phi4_mini", 3.84},
                                                         {"falcon_7b", 6.92},
                                                         {"falcon_40b", 41.3},
                                                         {"falcon_180b", 179.5},
                                                         {"opt_1_3b", 1.32},
                                                         {"opt_6_7b", 6.66},
                                                         {"opt_13b", 12.85},
                                                         {"opt_30b", 29.97},
                                                         {"opt_66b", 65.7},
                                                         {"gptj_6b", 6.05},
                                                         {"gpt_neox_20b", 20.6},
                                                         {"bloom_176b", 176.2},
                                                         {"command_r_35b", 35.0},
                                                         {"command_r_plus_104b", 104.0},
                                                         {"dbrx_132b", 132.0},
                                                         {"tinyllama_1b", 1.10},
                                                         {"codellama_7b", 6.74},
                                                         {"codellama_13b", 13.0},
                                                         {"codellama_70b", 69.0},
                                                         {"yi_6b", 6.06},
                                                         {"gpt2_xl", 1.56},
                                                         {"qwen1_5_0_5b", 0.464},
                                                         {"qwen1_5_1_8b", 1.84},
                                                         {"qwen1_5_4b", 3.95},
                                                         {"qwen1_5_7b", 7.72},
                                                         {"qwen1_5_14b", 14.2},
                                                         {"qwen1_5_32b", 32.5},
                                                         {"qwen1_5_72b", 72.3},
                                                         {"qwen1_5_110b", 111.0},
                                                         {"qwen1_5_moe_a2_7b", 14.3},
                                                         {"deepseek_r1_distill_qwen_1_5b", 1.78},
                                                         {"deepseek_llm_7b", 6.91},
                                                         {"deepseek_llm_67b", 67.4},
                                                         {"deepseek_moe_16b", 16.4},
                                                         {"deepseek_coder_6_7b", 6.74},
                                                         {"deepseek_coder_33b", 33.3},
                                                         {"llama_30b", 32.5},
                                                         {"llama_65b", 65.2},
                                                         {"command_a_111b", 111.0},
                                                         {"command_r7b", 8.03},
                                                         {"falcon3_1b", 1.67},
                                                         {"falcon3_3b", 3.23},
                                                         {"falcon3_7b", 7.46},
                                                         {"falcon3_10b", 10.3},
                                                         {"starcoder2_3b", 3.03},
                                                         {"starcoder2_7b", 7.17},
                                                         {"starcoder2_15b", 15.96},
                                                         {"starcoder_15b", 15.5},
                                                         {"smollm2_135m", 0.135},
                                                         {"smollm2_360m", 0.362},
                                                         {"smollm2_1_7b", 1.71},
                                                         {"internlm2_5_7b", 7.74},
                                                         {"internlm2_5_20b", 19.9},
                                                         {"baichuan2_7b", 7.51},
                                                         {"baichuan2_13b", 13.9},
                                                         {"chatglm3_6b", 6.24},
                                                         {"glm4_9b", 9.4},
                                                         {"glm4_32b", 32.6},
                                                         {"glm4_6", 357.0},
                                                         {"minimax_m2", 229.0},
                                                         {"olmoe_1b_7b", 6.92},
                                                         {"phi2", 2.78},
                                                         {"codestral_22b", 22.2},
                                                         {"yi_9b", 8.83},
                                                         {"opt_125m", 0.125},
                                                         {"opt_2_7b", 2.65},
                                                         {"gpt2", 0.124},
                                                         {"gpt3_175b", 175.0},
                                                         {"bloom_7b", 7.07},
                                                         {"mpt_7b", 6.65},
                                                         {"mpt_30b", 29.96},
                                                         {"grok_1", 314.0}}) {
    INFO(name);
    CHECK(static_cast<double>(model(name).parameters()) * 1e-9 == Approx(billions).epsilon(0.03));
  }
  CHECK(static_cast<double>(model("mixtral_8x22b").active_parameters()) ==
        Approx(39e9).epsilon(.03));
  CHECK(static_cast<double>(model("llama4_maverick").active_parameters()) ==
        Approx(17e9).epsilon(.03));
  CHECK(static_cast<double>(model("qwen1_5_moe_a2_7b").active_parameters()) ==
        Approx(2.7e9).epsilon(.03));
  CHECK(static_cast<double>(model("olmoe_1b_7b").active_parameters()) ==
        Approx(1.3e9).epsilon(.03));
}

TEST_CASE("Every shipped model reads, every key accounted for", "[workloads][model]") {
  for (const std::string& name : shipped().names("models")) {
    INFO(name);
    CHECK(model(name).parameters() > 100'000'000);
    // The simplest what-ifs hold for each: half the bytes, a quarter and some scales.
    const double bf16 = model("{base: " + name + ", quantization: none}").weight_bytes().value();
    CHECK(bf16 == 2.0 * static_cast<double>(model(name).parameters()));
    CHECK(model("{base: " + name + ", quantization: fp8}").weight_bytes().value() < bf16);
    CHECK(model("{base: " + name + ", quantization: awq}").weight_bytes() <
          model("{base: " + name + ", quantization: fp8}").weight_bytes());
  }
}

TEST_CASE("Parameters are the matrices, the norms and the tables", "[workloads][model]") {
  CHECK(tiny().parameters() == 2 * (kTinyAttention + 3 * 8 * 16) + kTinyNorms + kTinyTables);
  CHECK(tiny(", feedforward: gelu").parameters() ==
        2 * (kTinyAttention + 2 * 8 * 16) + kTinyNorms + kTinyTables);
  CHECK(tiny(", tied_embeddings: true").parameters() == tiny().parameters() - 100 * 8);
  CHECK(tiny(", feedforward: geglu") == tiny());
}

TEST_CASE("A layer with experts has all of them, and a token visits some", "[workloads][model]") {
  const ModelSpec m = tiny(kTinyMoe);
  CHECK_FALSE(m.is_moe_layer(0));
  CHECK(m.is_moe_layer(1));
  CHECK(m.parameters() ==
        2 * kTinyAttention + 3 * 8 * 16 + (4 + 1) * kTinyExpert + 8 * 4 + kTinyNorms + kTinyTables);
  CHECK(m.active_parameters() == m.parameters() - 2 * kTinyExpert);
  CHECK(tiny().active_parameters() == tiny().parameters());
  CHECK(model("{name: n, layers: 2, hidden: 8, heads: 2, vocab: 100, moe: {experts: 4, "
              "experts_per_token: 2, ffn: 4}}")
            .ffn == 4);
}

TEST_CASE("Experts in every n-th layer are in the last of each n", "[workloads][model]") {
  const ModelSpec m = model("llama4_maverick");
  CHECK_FALSE(m.is_moe_layer(0));
  CHECK(m.is_moe_layer(1));
  CHECK(m.is_moe_layer(47));
  CHECK(m.moe_layers() == 24);
  CHECK(model("deepseek_v3").moe_layers() == 58);
}

TEST_CASE("Latent attention caches one vector for all heads, on every GPU", "[workloads][model]") {
  const ModelSpec m = model("deepseek_v3");
  CHECK(m.kv_bytes_per_token(Dtype::bf16, 8) == m.kv_bytes_per_token(Dtype::bf16));
  CHECK(m.kv_bytes_per_token(Dtype::fp8).value() == 61 * (512 + 64));
  CHECK(m.head_dim == 128 + 64);
  CHECK(m.attention_elements() ==
        7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * (128 + 128) + 128 * 128 * 7168);
}

TEST_CASE("KV heads are split over GPUs until there is one on each", "[workloads][model]") {
  const ModelSpec m = model("llama3_70b");
  CHECK(m.kv_bytes_per_token(Dtype::bf16, 4).value() == 327680.0 / 4);
  CHECK(m.kv_bytes_per_token(Dtype::bf16, 8).value() == 327680.0 / 8);
  CHECK(m.kv_bytes_per_token(Dtype::bf16, 16).value() == 327680.0 / 8);  // copies
}

TEST_CASE("A layer with a window keeps no more than the window", "[workloads][model]") {
  const ModelSpec m = tiny(", sliding_window: {tokens: 10, global_every: 2}");
  CHECK(m.windowed_layers() == 1);
  const double layer = 2.0 * 8 * 2;
  CHECK(m.kv_bytes_of_sequence(5, Dtype::bf16).value() == 2 * 5 * layer);
  CHECK(m.kv_bytes_of_sequence(100, Dtype::bf16).value() == (100 + 10) * layer);
  CHECK(model("gemma3_27b").global_layers() == 10);
  CHECK(model("gpt_oss_120b").global_layers() == 18);
  CHECK(model("mistral_7b_v01").global_layers() == 0);
  CHECK(model("mistral_7b").windowed_layers() == 0);
}

TEST_CASE("A word says how weights are quantized", "[workloads][model]") {
  struct Preset {
    const char* word;
    Dtype weights;
    Dtype math;
    double bits;
  };
  for (const auto& [word, weights, math, bits] :
       std::vector<Preset>{{"none", Dtype::bf16, Dtype::bf16, 16},
                           {"fp8", Dtype::fp8, Dtype::fp8, 8},
                           {"fp8_blockscale", Dtype::fp8, Dtype::fp8, 8 + 32.0 / (128 * 128)},
                           {"int8", Dtype::int8, Dtype::int8, 8},
                           {"awq", Dtype::int4, Dtype::bf16, 4 + (16 + 4) / 128.0},
                           {"gptq", Dtype::int4, Dtype::bf16, 4 + (16 + 4) / 128.0},
                           {"mxfp4", Dtype::fp4, Dtype::bf16, 4.25}}) {
    INFO(word);
    const ModelSpec m = tiny(std::string(", quantization: ") + word);
    CHECK(m.weights == weights);
    CHECK(m.math_of(WeightPart::attention) == math);
    CHECK(m.math_of(WeightPart::lm_head) == Dtype::bf16);
    CHECK(m.element_bytes(WeightPart::ffn).value() * 8 == Approx(bits));
    CHECK(m.element_bytes(WeightPart::router).value() == 2.0);
    const double quantized = 2.0 * (kTinyAttention + 3 * 8 * 16);
    CHECK(m.weight_bytes().value() ==
          Approx(bits / 8 * quantized + 2.0 * (kTinyNorms + kTinyTables)));
  }
  CHECK(tiny(", quantization: none") == tiny());
}

TEST_CASE("A map says more than the word", "[workloads][model]") {
  const ModelSpec m =
      tiny(", quantization: {method: gptq, bits: 8, group_size: 32, keep: [attention, ffn]}");
  CHECK(m.weights == Dtype::int8);
  CHECK(m.element_bytes(WeightPart::lm_head).value() == Approx(1 + (16 + 8) / 32.0 / 8));
  CHECK(m.element_bytes(WeightPart::attention).value() == 2.0);
  CHECK(tiny(", quantization: {method: fp8, math: bf16}").math == Dtype::bf16);
  CHECK(tiny(", activations: fp16, quantization: awq").math == Dtype::fp16);
}

TEST_CASE("gpt-oss has 4-bit experts and 16-bit attention, as its files do", "[workloads][model]") {
  // 12.8 GiB of checkpoint (openai/gpt-oss-20b, model card, 2025-08): 1.804 B parameters of
  // attention, router and tables in bf16, 19.11 B of experts at 4.25 bits.
  CHECK(model("gpt_oss_20b").weight_bytes().value() == Approx(12.8 * 1073741824.0).epsilon(0.01));
  CHECK(model("gpt_oss_120b").weight_bytes().value() == Approx(60.8 * 1073741824.0).epsilon(0.01));
}

TEST_CASE("Weights without a method are as they were: the linear layers in their dtype",
          "[workloads][model]") {
  const ModelSpec m = tiny(", weights: int4, math: fp8");
  CHECK(m.weight_bytes().value() ==
        0.5 * 2 * (kTinyAttention + 3 * 8 * 16) + 2.0 * (kTinyNorms + kTinyTables));
  CHECK(m.math_of(WeightPart::ffn) == Dtype::fp8);
  CHECK(m.math_of(WeightPart::lm_head) == Dtype::bf16);
}

TEST_CASE("GPUs in tensor parallel hold a share of every matrix", "[workloads][model]") {
  const ModelSpec m = tiny();
  CHECK(m.weight_bytes_per_gpu(2, 1, 1).value() ==
        2.0 * (2 * (kTinyAttention + 3 * 8 * 16) / 2 + kTinyNorms + kTinyTables / 2));
  for (const char* name : {"llama3_70b", "qwen3_235b_a22b", "gpt_oss_120b", "deepseek_v3"}) {
    INFO(name);
    const ModelSpec big = model(name);
    CHECK(big.weight_bytes_per_gpu(1, 1, 1) == big.weight_bytes());
    for (const std::int64_t tp : {2, 4, 8}) {
      const double share =
          big.weight_bytes_per_gpu(tp, 1, 1) * static_cast<double>(tp) / big.weight_bytes();
      CHECK(share >= 1.0);
      CHECK(share < 1.05);  // what is on every GPU is little
    }
  }
}

TEST_CASE("Pipeline stages hold whole layers, the first the embeddings, the last the head",
          "[workloads][model]") {
  const ModelSpec m = tiny();
  const std::int64_t layer = kTinyAttention + 3 * 8 * 16 + 2 * 8;
  CHECK(m.weight_bytes_per_gpu(1, 2, 1).value() == 2.0 * (layer + 100 * 8 + 8));
  // Tied embeddings are on both.
  CHECK(tiny(", tied_embeddings: true").weight_bytes_per_gpu(1, 2, 1) ==
        m.weight_bytes_per_gpu(1, 2, 1));
  const ModelSpec odd = model("deepseek_v3");  // 61 layers: the first of two stages has 31
  CHECK(odd.weight_bytes_per_gpu(1, 2, 1).value() > 0.5 * odd.weight_bytes().value());
}

TEST_CASE("GPUs in expert parallel hold whole experts", "[workloads][model]") {
  const ModelSpec m = tiny(kTinyMoe);
  const double all = m.weight_bytes().value();
  CHECK(m.weight_bytes_per_gpu(1, 1, 4).value() == all - 2.0 * 3 * kTinyExpert);
  // Two in tensor parallel with whole experts hold as much as with split ones.
  CHECK(m.weight_bytes_per_gpu(2, 1, 2) == m.weight_bytes_per_gpu(2, 1, 1));
  CHECK(m.weight_bytes_per_gpu(1, 1, 3).value() == all - 2.0 * 2 * kTinyExpert);  // two on one
}

TEST_CASE("What a model cannot be is said with the key and what was expected",
          "[workloads][model]") {
  const auto error = [](const std::string& more) { return error_of([&] { (void)tiny(more); }); };
  CHECK(error(", weights: fp8, quantization: awq")
            .find("model.weights: given beside "
                  "'quantization'") != std::string::npos);
  CHECK(error(", quantization: fp7").find("model.quantization: expected one of none, fp8, ") !=
        std::string::npos);
  CHECK(error(", quantization: {method: fp8, bits: 4}")
            .find("model.quantization.bits: expected no bits but with awq and gptq") !=
        std::string::npos);
  CHECK(error(", quantization: {method: awq, bits: 5}").find("expected 4 or 8, got '5'") !=
        std::string::npos);
  CHECK(error(", quantization: {method: mxfp4, keep: [attentoin]}")
            .find("unknown part 'attentoin'; did you mean 'attention'?") != std::string::npos);
  CHECK(error(", quantization: {group_size: 4}").find("model.quantization.method") !=
        std::string::npos);
  CHECK(error(", moe: {experts: 4, experts_per_token: 5, ffn: 4}")
            .find("model.moe.experts_per_token: expected a whole number from 1 to 4, got '5'") !=
        std::string::npos);
  CHECK(error(", head_dim: 4, latent_attention: {kv_lora_rank: 4, qk_nope_head_dim: 4, "
              "qk_rope_head_dim: 4, v_head_dim: 4}")
            .find("model.head_dim: given beside 'latent_attention'") != std::string::npos);
  CHECK(error(", sliding_window: {token: 4}").find("model.sliding_window.tokens: expected") !=
        std::string::npos);
  CHECK(error(", moe: {experts: 60000, experts_per_token: 5, ffn: 4000000, shared_experts: "
              "60000}")
            .empty());  // large, and still no overflow
}
