#include "workloads/hf_config.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "core/config_library.hpp"
#include "fixtures.hpp"
#include "workloads/model_reference.hpp"

namespace {

using namespace ridgeline;
using tests::error_of;
using tests::shipped;
using tests::TemporaryFolder;
using workloads::ModelSpec;

ModelSpec from_json(const std::string& json) {
  const TemporaryFolder folder;
  return workloads::read_hf_config(folder.write("config.json", json));
}

ModelSpec read(const core::Node& node) {
  const core::Reader in(node);
  ModelSpec spec = workloads::read_model_spec(in);
  in.finish();
  return spec;
}

ModelSpec resolved(const std::string& yaml) {
  return read(workloads::resolve_model(shipped(), core::parse_yaml(yaml, "s.yaml")));
}

/// Whether the dimensions of a config.json are those of a shipped model; names may differ.
void check_same(const std::string& json, const std::string& shipped_name) {
  INFO(shipped_name);
  ModelSpec read_one = from_json(json);
  const ModelSpec wanted = resolved(shipped_name);
  read_one.name = wanted.name;
  CHECK(read_one.layers == wanted.layers);
  CHECK(read_one.parameters() == wanted.parameters());
  CHECK(read_one.weight_bytes() == wanted.weight_bytes());
  CHECK(read_one.moe == wanted.moe);
  CHECK(read_one.latent == wanted.latent);
  CHECK(read_one.window == wanted.window);
  CHECK(read_one.quantization == wanted.quantization);
  CHECK(read_one.tied_embeddings == wanted.tied_embeddings);
  CHECK(read_one.qk_norm == wanted.qk_norm);
  CHECK(read_one.qkv_bias == wanted.qkv_bias);
  CHECK(read_one == wanted);
}

const std::string kLlama = R"("architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336, "rope_theta": 500000.0,
  "max_position_embeddings": 131072, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 128256)";

}  // namespace

TEST_CASE("A config.json describes the model that is shipped under its name", "[workloads][hf]") {
  check_same("{" + kLlama + "}", "llama3_8b");
  check_same(R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
      "max_position_embeddings": 32768, "num_attention_heads": 32, "num_hidden_layers": 32,
      "num_key_value_heads": 8, "sliding_window": 4096, "tie_word_embeddings": false,
      "torch_dtype": "bfloat16", "vocab_size": 32000})",
             "mistral_7b_v01");
  check_same(R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
      "max_position_embeddings": 32768, "num_attention_heads": 32, "num_experts_per_tok": 2,
      "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
      "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "vocab_size": 32000})",
             "mixtral_8x7b");
  check_same(R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
      "max_position_embeddings": 32768, "max_window_layers": 28, "num_attention_heads": 28,
      "num_hidden_layers": 28, "num_key_value_heads": 4, "sliding_window": 131072,
      "use_sliding_window": false, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "vocab_size": 152064})",
             "qwen2_5_7b");
  check_same(R"({"model_type": "qwen3_moe", "attention_bias": false, "decoder_sparse_step": 1,
      "head_dim": 128, "hidden_size": 2048, "intermediate_size": 6144, "mlp_only_layers": [],
      "max_position_embeddings": 40960, "moe_intermediate_size": 768, "num_attention_heads": 32,
      "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48,
      "num_key_value_heads": 4, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "vocab_size": 151936})",
             "qwen3_30b_a3b");
  check_same(R"({"model_type": "gemma2", "head_dim": 128, "hidden_size": 4608,
      "intermediate_size": 36864, "max_position_embeddings": 8192, "num_attention_heads": 32,
      "num_hidden_layers": 46, "num_key_value_heads": 16, "sliding_window": 4096,
      "torch_dtype": "float32", "vocab_size": 256000})",
             "gemma2_27b");
  check_same(R"({"model_type": "phi3", "hidden_size": 5120, "intermediate_size": 17920,
      "max_position_embeddings": 16384, "num_attention_heads": 40, "num_hidden_layers": 40,
      "num_key_value_heads": 10, "sliding_window": null, "torch_dtype": "bfloat16",
      "tie_word_embeddings": false, "vocab_size": 100352})",
             "phi4");
  check_same(R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48,
      "n_positions": 1024, "vocab_size": 50257, "torch_dtype": "float16"})",
             "gpt2_xl");
  check_same(R"({"model_type": "opt", "ffn_dim": 20480, "hidden_size": 5120,
      "max_position_embeddings": 2048, "num_attention_heads": 40, "num_hidden_layers": 40,
      "torch_dtype": "float16", "vocab_size": 50272, "word_embed_proj_dim": 5120})",
             "opt_13b");
  check_same(R"({"model_type": "falcon", "hidden_size": 4544, "multi_query": true,
      "new_decoder_architecture": false, "num_attention_heads": 71, "num_hidden_layers": 32,
      "torch_dtype": "bfloat16", "vocab_size": 65024})",
             "falcon_7b");
}

TEST_CASE("Nested language models, defaults left out and layer patterns are understood",
          "[workloads][hf]") {
  check_same(R"({"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
      "torch_dtype": "bfloat16", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
      "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024},
      "vision_config": {"hidden_size": 1152}})",
             "gemma3_4b");
  check_same(R"({"model_type": "gpt_oss", "attention_bias": true, "head_dim": 64,
      "hidden_size": 2880, "intermediate_size": 2880, "layer_types": ["sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention"], "max_position_embeddings": 131072,
      "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 24,
      "num_key_value_heads": 8, "num_local_experts": 32, "sliding_window": 128,
      "tie_word_embeddings": false, "vocab_size": 201088, "quantization_config":
      {"modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router",
      "model.embed_tokens", "lm_head"], "quant_method": "mxfp4"}})",
             "gpt_oss_20b");
  check_same(R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
      "attention_bias": false, "attention_chunk_size": 8192, "head_dim": 128, "hidden_size": 5120,
      "interleave_moe_layer_step": 2, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
      "max_position_embeddings": 1048576, "num_attention_heads": 40, "num_experts_per_tok": 1,
      "num_hidden_layers": 48, "num_key_value_heads": 8, "num_local_experts": 128,
      "use_qk_norm": false, "torch_dtype": "bfloat16", "vocab_size": 202048}})",
             "llama4_maverick");
}

TEST_CASE("Latent attention and block scales are read from DeepSeek's file", "[workloads][hf]") {
  check_same(R"({"model_type": "deepseek_v3", "attention_bias": false, "first_k_dense_replace": 3,
      "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512,
      "max_position_embeddings": 163840, "moe_intermediate_size": 2048, "moe_layer_freq": 1,
      "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
      "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128,
      "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
      "weight_block_size": [128, 128]}, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "vocab_size": 129280})",
             "deepseek_v3");
  check_same(R"({"model_type": "deepseek_v2", "first_k_dense_replace": 1, "hidden_size": 2048,
      "intermediate_size": 10944, "kv_lora_rank": 512, "max_position_embeddings": 163840,
      "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 64,
      "n_shared_experts": 2, "num_attention_heads": 16, "num_experts_per_tok": 6,
      "num_hidden_layers": 27, "num_key_value_heads": 16, "q_lora_rank": null,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "torch_dtype": "bfloat16", "vocab_size": 102400})",
             "deepseek_v2_lite");
}

TEST_CASE("How a checkpoint was quantized is read", "[workloads][hf]") {
  const auto like = [](const std::string& quantization_config) {
    ModelSpec m =
        from_json("{" + kLlama + ", \"quantization_config\": " + quantization_config + "}");
    m.name = "Llama 3.1 8B";
    return m;
  };
  const auto shipped_as = [](const std::string& quantization) {
    return resolved("{base: llama3_8b, quantization: " + quantization + "}");
  };
  CHECK(like(R"({"quant_method": "awq", "bits": 4, "group_size": 128})") == shipped_as("awq"));
  CHECK(like(R"({"quant_method": "gptq", "bits": 8, "group_size": 32, "desc_act": true})") ==
        shipped_as("{method: gptq, bits: 8, group_size: 32}"));
  CHECK(like(R"({"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head"]})") ==
        shipped_as("fp8"));
  CHECK(like(R"({"quant_method": "fp8", "ignored_layers": ["re:.*self_attn.*"]})") ==
        shipped_as("{method: fp8, keep: [attention, router, embeddings, lm_head]}"));
  CHECK(like(R"({"quant_method": "compressed-tensors", "ignore": ["lm_head"], "config_groups":
      {"group_0": {"weights": {"num_bits": 8, "type": "int", "group_size": null}, "input_activations":
      {"num_bits": 8}}}})") == shipped_as("int8"));
  CHECK(like(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights":
      {"num_bits": 8, "type": "float", "strategy": "tensor"}, "input_activations":
      {"num_bits": 8}}}})") == shipped_as("fp8"));
  CHECK(like(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights":
      {"num_bits": 4, "type": "int", "group_size": 128}, "input_activations": null}}})") ==
        shipped_as("gptq"));
  CHECK(like(R"({"quant_method": "quark", "exclude": ["lm_head"], "global_quant_config": {"weight":
      {"dtype": "fp8_e4m3"}}})") == shipped_as("fp8"));
}

TEST_CASE("What a config.json lacks is said with file and key", "[workloads][hf]") {
  const auto error = [](const std::string& json) {
    return error_of([&] { static_cast<void>(from_json(json)); });
  };
  CHECK(error("{" + kLlama.substr(0, kLlama.find("\"num_hidden_layers\"")) + "\"x\": 1}")
            .find("config.json: num_hidden_layers: expected a whole number from 1 to 1073741824, "
                  "got nothing (the key is missing)") != std::string::npos);
  CHECK(error(R"({"model_type": "llama", "hidden_size": "wide", "num_attention_heads": 1})")
            .find("config.json: hidden_size: expected a whole number") != std::string::npos);
  CHECK(error(R"({"model_type": "qwen3_mo"})")
            .find("config.json: model_type: unknown architecture 'qwen3_mo'; did you mean "
                  "'qwen3_moe'?") != std::string::npos);
  CHECK(error(R"({"model_type": "mamba2"})").find("known: llama, ") != std::string::npos);
  CHECK(error("{}").find("config.json: model_type: expected the family of the model") !=
        std::string::npos);
  CHECK(error("{\"model_type\": ").find("config.json: expected JSON: ") != std::string::npos);
  CHECK(error("[1]").find("config.json: expected a JSON object, got a list") != std::string::npos);
  CHECK(error("{" + kLlama + R"(, "quantization_config": {"quant_method": "bitsandbytes"}})")
            .find("quantization_config.quant_method: expected one of awq, ") != std::string::npos);
  CHECK(error(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}})")
            .find("config.json: text_config.hidden_size: expected") != std::string::npos);
  CHECK(error("{\"model_type\": " + std::string(100, '[') + std::string(100, ']') + "}")
            .find("config.json: nested more than 64 levels deep") != std::string::npos);
  CHECK(error_of([] { static_cast<void>(workloads::read_hf_config("/nowhere/config.json")); }) ==
        "/nowhere/config.json: no such file");
}

TEST_CASE("A reference to a model may be a config.json, alone or to build on", "[workloads][hf]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("config.json", "{" + kLlama + "}").string();
  const ModelSpec plain = resolved("\"" + file + "\"");
  CHECK(plain.parameters() == resolved("llama3_8b").parameters());
  CHECK(plain == resolved("\"" + folder.path().string() + "\""));  // the folder of a checkpoint
  const ModelSpec fp8 = resolved("{base: \"" + file + "\", quantization: fp8, name: mine}");
  CHECK(fp8.name == "mine");
  CHECK(fp8.weights == hw::Dtype::fp8);
  CHECK(error_of([] { static_cast<void>(resolved("nowhere/config.json")); }) ==
        "s.yaml:1:1: model: no such file: nowhere/config.json");
  // What it means needs no file any more.
  const core::Node document = workloads::hf_model_document(file);
  CHECK(read(core::parse_yaml(core::to_yaml(document), "again.yaml")) == plain);
}

TEST_CASE("A shipped model answers to the names of its repositories", "[workloads][hf]") {
  struct Called {
    const char* word;
    const char* name;
  };
  for (const auto& [word, name] :
       std::vector<Called>{{"meta-llama/Llama-3.1-70B-Instruct", "llama3_70b"},
                           {"meta-llama/Meta-Llama-3-8B-Instruct", "llama3_8b"},
                           {"Llama-3.1-8B-Instruct", "llama3_8b"},
                           {"meta-llama/Llama-2-7b-hf", "llama2_7b"},
                           {"Llama-2-7B", "llama2_7b"},
                           {"Llama-3.3-70B-Instruct", "llama3_70b"},
                           {"Qwen2.5-0.5B", "qwen2_5_0_5b"},
                           {"Qwen/Qwen2.5-Omni-7B", "qwen2_5_7b"},
                           {"Qwen2-VL-7B-Instruct", "qwen2_5_7b"},
                           {"Qwen2-72B", "qwen2_5_72b"},
                           {"Qwen3-30B-A3B", "qwen3_30b_a3b"},
                           {"deepseek-ai/DeepSeek-R1", "deepseek_v3"},
                           {"DeepSeek-V3-0324", "deepseek_v3"},
                           {"DeepSeek-R1-Distill-Qwen-1.5B", "deepseek_r1_distill_qwen_1_5b"},
                           {"DeepSeek-R1-Distill-Qwen-32B", "qwen2_5_32b"},
                           {"openai/gpt-oss-20b", "gpt_oss_20b"},
                           {"Mixtral-8x7B", "mixtral_8x7b"},
                           {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral_8x7b"},
                           {"command-a-vision", "command_a_111b"},
                           {"THUDM/glm-4-9b-chat", "glm4_9b"},
                           {"MiniMaxAI/MiniMax-M2", "minimax_m2"},
                           {"facebook/opt-125m", "opt_125m"}}) {
    INFO(word);
    CHECK(resolved(word) == resolved(name));
  }
  CHECK(resolved("{base: gpt-oss-120b, quantization: none}").weights == hw::Dtype::bf16);
}

TEST_CASE("A model that is not there gets the nearest name that is", "[workloads][hf]") {
  const auto error = [](const char* word) {
    return error_of([&] { static_cast<void>(resolved(word)); });
  };
  CHECK(error("llama3_8c") ==
        "s.yaml:1:1: model: unknown name 'llama3_8c'; did you mean 'llama3_8b'?");
  CHECK(error("meta-llama/Llama-3.1-9B-Instruct") ==
        "s.yaml:1:1: model: unknown name 'Llama-3.1-9B-Instruct'; did you mean "
        "'Llama-3.1-8B-Instruct'?");
  CHECK(error("./Llama-3.1-8B") == "s.yaml:1:1: model: no such file: ./Llama-3.1-8B");
}
