#include "workloads/hf_config.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/reader.hpp"

namespace ridgeline::workloads {
namespace {

using core::Node;
using core::Reader;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kLargest = 1 << 30;

/// JSON as a tree that core::Reader reads. JSON says where a syntax error is but not where a value
/// stood, so errors about values name file and key only.
Node tree_of(const Json& json, const core::Position& position, int depth = 0) {
  constexpr int kDeepest = 64;  // as in YAML
  if (depth > kDeepest)
    throw core::ConfigError(position.text() + ": nested more than 64 levels deep");
  Node node;
  node.position = node.key_position = position;
  if (json.is_object()) {
    node.kind = Node::Kind::map;
    for (const auto& [key, value] : json.items())
      node.entries.emplace_back(key, tree_of(value, position, depth + 1));
  } else if (json.is_array()) {
    node.kind = Node::Kind::list;
    for (const Json& item : json) node.items.push_back(tree_of(item, position, depth + 1));
  } else if (!json.is_null()) {
    node.kind = Node::Kind::scalar;
    node.quoted = json.is_string();
    node.scalar = json.is_string() ? json.get<std::string>() : json.dump();
  }
  return node;
}

Node load_json(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMost = 16U << 20U;  // a config.json has kilobytes
  const std::string text = core::read_text_file(path, kMost);
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    const std::string what = error.what();  // "[json...] parse error at line 3, column 5: ..."
    const std::size_t bracket = what.find("] ");
    throw core::ConfigError(path.string() + ": expected JSON: " +
                            what.substr(bracket == std::string::npos ? 0 : bracket + 2));
  }
  core::Position position;
  position.file = std::make_shared<const std::string>(path.string());
  Node node = tree_of(json, position);
  if (node.kind != Node::Kind::map)
    throw core::ConfigError(path.string() + ": expected a JSON object, got " + node.describe());
  return node;
}

/// What a family calls its dimensions.
enum class Keys { llama, gpt2, bloom, opt, falcon };

/// What a `model_type` means beyond its dimensions: defaults that its config.json leaves out,
/// from the configuration classes of huggingface/transformers 4.57.
struct Family {
  std::string_view type;
  Keys keys = Keys::llama;
  const char* feedforward = "swiglu";
  const char* norm = "rms";
  bool tied = false;  // where tie_word_embeddings is not given
  bool qkv_bias = false;
  bool qk_norm = false;
};

constexpr std::array<Family, 46> kFamilies{{
    {"llama"},
    {"mistral"},
    {"ministral"},
    {"mixtral"},
    {"phi3"},
    {"phimoe", Keys::llama, "swiglu", "layer"},
    {"granite"},
    {"internlm2"},
    {"internlm3"},
    {"baichuan"},
    {"aquila"},
    {"yi"},
    {"smollm3", Keys::llama, "swiglu", "rms", true},
    {"olmo", Keys::llama, "swiglu", "layer"},
    {"olmo2", Keys::llama, "swiglu", "rms", false, false, true},
    {"olmo3", Keys::llama, "swiglu", "rms", false, false, true},
    {"exaone4", Keys::llama, "swiglu", "rms", false, false, true},
    {"hunyuan_v1_dense", Keys::llama, "swiglu", "rms", false, false, true},
    {"ernie4_5", Keys::llama, "swiglu", "rms", true},
    {"seed_oss", Keys::llama, "swiglu", "rms", false, true},
    {"stablelm", Keys::llama, "swiglu", "layer"},
    {"nemotron", Keys::llama, "relu", "layer"},
    {"starcoder2", Keys::llama, "gelu", "layer", true, true},
    {"phi", Keys::llama, "gelu", "layer", false, true},
    {"gpt_neox", Keys::llama, "gelu", "layer", false, true},
    {"cohere", Keys::llama, "swiglu", "layer", true},
    {"cohere2", Keys::llama, "swiglu", "layer", true},
    {"glm4", Keys::llama, "swiglu", "rms", false, true},
    {"glm4_moe"},
    {"gemma", Keys::llama, "geglu", "rms", true},
    {"gemma2", Keys::llama, "geglu", "rms", true},
    {"gemma3_text", Keys::llama, "geglu", "rms", true, false, true},
    {"qwen2", Keys::llama, "swiglu", "rms", false, true},
    {"qwen2_moe", Keys::llama, "swiglu", "rms", false, true},
    {"qwen3", Keys::llama, "swiglu", "rms", false, false, true},
    {"qwen3_moe", Keys::llama, "swiglu", "rms", false, false, true},
    {"deepseek_v2"},
    {"deepseek_v3"},
    {"kimi_k2"},
    {"gpt_oss", Keys::llama, "swiglu", "rms", false, true},
    {"llama4_text"},
    {"gpt2", Keys::gpt2, "gelu", "layer", true, true},
    {"gptj", Keys::gpt2, "gelu", "layer"},
    {"opt", Keys::opt, "relu", "layer", true, true},
    {"falcon", Keys::falcon, "gelu", "layer", true},
    {"bloom", Keys::bloom, "gelu", "layer", true, true},
}};

class Translation {
 public:
  Translation(const Node& config, const std::filesystem::path& path)
      : root_(config), text_(language_model(root_)), path_(path), family_(family()) {
    out_.kind = Node::Kind::map;
    out_.position = out_.key_position = config.position;
  }

  Node take() {
    add("name", name());
    dimensions();
    if (is_one_of({"deepseek_v2", "deepseek_v3", "kimi_k2"})) latent_attention();
    experts();
    window();
    flag("tied_embeddings", tied());
    add("feedforward", family_.feedforward);
    add("norm", family_.norm);
    flag("qkv_bias", either({"attention_bias", "use_qkv_bias", "qkv_bias"}, family_.qkv_bias));
    flag("qk_norm", either({"use_qk_norm", "qk_layernorm"}, family_.qk_norm));
    add("activations", activations());
    quantization();
    Node sources = map();
    put(sources, "dimensions", path_.string(), true);
    out_.entries.emplace_back("sources", std::move(sources));
    return std::move(out_);
  }

 private:
  static Reader language_model(const Reader& root) {
    // Multimodal models nest their language model.
    for (const char* key : {"text_config", "llm_config", "language_config"}) {
      if (root.has(key)) return root.child(key);
    }
    return root;
  }

  [[nodiscard]] Family family() const {
    const auto find = [](std::string type) -> std::optional<Family> {
      if (type == "llama4") type = "llama4_text";
      if (type == "gemma3") type = "gemma3_text";
      const auto it = std::find_if(kFamilies.begin(), kFamilies.end(),
                                   [&](const Family& f) { return f.type == type; });
      return it == kFamilies.end() ? std::nullopt : std::optional(*it);
    };
    const bool nested = &text_.node() != &root_.node();
    const std::string inner = text_.has("model_type") ? text_.get<std::string>("model_type") : "";
    if (const auto found = find(inner)) return *found;
    // Some repositories keep a type of their own and the class of a known family.
    for (const Reader* in : {&text_, &root_}) {
      const Node* list = in->node().find("architectures");
      if (list == nullptr || list->kind != Node::Kind::list) continue;
      for (const Node& item : list->items) {
        if (const auto found = find(type_of_class(item.scalar))) return *found;
      }
    }
    if (inner.empty() && nested) {  // mistral3 nests a config that names no type
      const std::string outer = root_.has("model_type") ? root_.get<std::string>("model_type") : "";
      if (const auto found = find(outer == "mistral3" ? "mistral" : outer)) return *found;
    }
    std::vector<std::string> known;
    std::string all;
    for (const Family& f : kFamilies) {
      known.emplace_back(f.type);
      all += (all.empty() ? "" : ", ") + known.back();
    }
    if (inner.empty()) text_.fail("model_type", "the family of the model, one of " + all);
    text_.reject("model_type",
                 "unknown architecture '" + inner + "'" + core::suggestion(inner, known) +
                     (core::nearest_name(inner, known).empty() ? "" : "; known: " + all) +
                     "; another one can be described in YAML like those in configs/models");
  }

  /// "Qwen3MoeForCausalLM" is "qwen3_moe".
  static std::string type_of_class(const std::string& name) {
    static const std::vector<std::pair<std::string_view, std::string_view>> kClasses{
        {"LlamaForCausalLM", "llama"},
        {"MistralForCausalLM", "mistral"},
        {"MixtralForCausalLM", "mixtral"},
        {"Qwen2ForCausalLM", "qwen2"},
        {"Qwen2MoeForCausalLM", "qwen2_moe"},
        {"Qwen3ForCausalLM", "qwen3"},
        {"Qwen3MoeForCausalLM", "qwen3_moe"},
        {"GemmaForCausalLM", "gemma"},
        {"Gemma2ForCausalLM", "gemma2"},
        {"Gemma3ForCausalLM", "gemma3_text"},
        {"DeepseekV2ForCausalLM", "deepseek_v2"},
        {"DeepseekV3ForCausalLM", "deepseek_v3"},
        {"GptOssForCausalLM", "gpt_oss"},
        {"Phi3ForCausalLM", "phi3"},
        {"OPTForCausalLM", "opt"},
        {"GPT2LMHeadModel", "gpt2"},
        {"GPTJForCausalLM", "gptj"},
        {"FalconForCausalLM", "falcon"},
        {"BloomForCausalLM", "bloom"},
        {"GPTNeoXForCausalLM", "gpt_neox"}};
    for (const auto& [known, type] : kClasses) {
      if (name == known) return std::string(type);
    }
    return "";
  }

  [[nodiscard]] bool is_one_of(std::initializer_list<std::string_view> types) const {
    return std::find(types.begin(), types.end(), family_.type) != types.end();
  }

  // Reading.
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t low = 1) const {
    return text_.integer(key, low, kLargest);
  }
  [[nodiscard]] std::int64_t whole_or(std::string_view key, std::int64_t fallback,
                                      std::int64_t low = 0) const {
    return text_.has(key) ? whole(key, low) : fallback;
  }
  /// The first of several spellings that is there; the first of all if none is.
  [[nodiscard]] std::string_view spelled(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
      if (text_.has(key)) return key;
    }
    return *keys.begin();
  }
  [[nodiscard]] bool either(std::initializer_list<std::string_view> keys, bool fallback) const {
    const std::string_view key = spelled(keys);
    return text_.has(key) ? text_.get<bool>(key) : fallback;
  }

  // Writing.
  [[nodiscard]] Node map() const {
    Node node;
    node.kind = Node::Kind::map;
    node.position = node.key_position = out_.position;
    return node;
  }
  void put(Node& into, std::string_view key, std::string text, bool quoted = false) const {
    Node node;
    node.kind = Node::Kind::scalar;
    node.position = node.key_position = out_.position;
    node.quoted = quoted;
    node.scalar = std::move(text);
    into.entries.emplace_back(std::string(key), std::move(node));
  }
  void put(Node& into, std::string_view key, std::int64_t value) const {
    put(into, key, std::to_string(value));
  }
  void add(std::string_view key, const std::string& text) { put(out_, key, text, key == "name"); }
  void add(std::string_view key, std::int64_t value) { put(out_, key, value); }
  void flag(std::string_view key, bool value) {
    if (value) put(out_, key, "true");
  }

  /// The repository's name, else the folder's, else the file's.
  [[nodiscard]] std::string name() const {
    if (root_.has("_name_or_path")) {
      if (std::string name = root_.get<std::string>("_name_or_path"); !name.empty()) return name;
    }
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path_, error).lexically_normal();
    if (whole.filename() != "config.json") return whole.stem().string();
    const std::string folder = whole.parent_path().filename().string();
    return folder.empty() ? "config.json" : folder;
  }

  void dimensions() {
    switch (family_.keys) {
      case Keys::llama:
        llama_dimensions();
        return;
      case Keys::gpt2: {
        const std::int64_t hidden = whole("n_embd");
        add("layers", whole("n_layer"));
        add("hidden", hidden);
        add("heads", whole("n_head"));
        add("ffn", whole_or("n_inner", 4 * hidden, 1));
        add("max_position", whole("n_positions"));
        break;
      }
      case Keys::bloom: {
        const std::int64_t hidden = whole(spelled({"hidden_size", "n_embed"}));
        add("layers", whole(spelled({"n_layer", "num_hidden_layers"})));
        add("hidden", hidden);
        add("heads", whole(spelled({"n_head", "num_attention_heads"})));
        add("ffn", 4 * hidden);
        add("max_position", whole_or("seq_length", 2048, 1));
        break;
      }
      case Keys::opt:
        add("layers", whole("num_hidden_layers"));
        add("hidden", whole("hidden_size"));
        add("heads", whole("num_attention_heads"));
        add("ffn", whole("ffn_dim"));
        add("max_position", whole("max_position_embeddings"));
        break;
      case Keys::falcon: {
        const std::int64_t hidden = whole("hidden_size");
        const std::int64_t heads = whole(spelled({"num_attention_heads", "n_head"}));
        const bool grouped = either({"new_decoder_architecture"}, false);
        const bool one = !grouped && either({"multi_query"}, true);
        add("layers", whole(spelled({"num_hidden_layers", "n_layer"})));
        add("hidden", hidden);
        add("heads", heads);
        add("kv_heads", one ? 1 : whole_or("num_kv_heads", heads, 1));
        add("ffn", whole_or("ffn_hidden_size", 4 * hidden, 1));
        add("max_position", whole_or("max_position_embeddings", 2048, 1));
        break;
      }
    }
    add("vocab", whole("vocab_size"));
  }

  void llama_dimensions() {
    // Gemma 3's multimodal files leave out what its configuration class has as default.
    const bool gemma3 = is_one_of({"gemma3_text"});
    const bool has_latent = text_.has("kv_lora_rank");
    const auto dimension = [&](std::string_view key, std::int64_t of_gemma3) {
      return gemma3 ? whole_or(key, of_gemma3, 1) : whole(key);
    };
    const std::int64_t hidden = whole("hidden_size");
    const std::int64_t heads = dimension("num_attention_heads", 8);
    add("layers", whole("num_hidden_layers"));
    add("hidden", hidden);
    add("heads", heads);
    if (!has_latent) {
      add("kv_heads", whole_or("num_key_value_heads", gemma3 ? 4 : heads, 1));
      if (text_.has("head_dim")) {
        add("head_dim", whole("head_dim"));
      } else if (is_one_of({"gemma", "gemma2", "gemma3_text"})) {
        add("head_dim", 256);
      } else if (is_one_of({"qwen3", "qwen3_moe", "exaone4"})) {
        add("head_dim", 128);
      } else {
        text_.require(hidden % heads == 0, "head_dim",
                      "a whole number, since num_attention_heads (" + std::to_string(heads) +
                          ") does not divide hidden_size (" + std::to_string(hidden) + ")");
      }
    }
    add("vocab", dimension("vocab_size", 262208));
    add("max_position", dimension("max_position_embeddings", 131072));
  }

  [[nodiscard]] std::string activations() const {
    // fp32 checkpoints are served in 16 bits, as vLLM does.
    std::string word = "bfloat16";
    for (const Reader* in : {&text_, &root_}) {
      for (const char* key : {"dtype", "torch_dtype"}) {
        if (!in->has(key)) continue;
        word = in->get<std::string>(key);
        if (word.starts_with("torch.")) word = word.substr(6);
        if (word == "float16" || word == "half") return "fp16";
        if (word == "bfloat16" || word == "float32" || word == "auto") return "bf16";
        in->fail(key, "float16, bfloat16 or float32");
      }
    }
    return "bf16";
  }

  [[nodiscard]] bool tied() const {
    if (text_.has("tie_word_embeddings")) return text_.get<bool>("tie_word_embeddings");
    if (root_.has("tie_word_embeddings")) return root_.get<bool>("tie_word_embeddings");
    return family_.tied;
  }

  void latent_attention() {
    Node latent = map();
    if (text_.has("q_lora_rank")) put(latent, "q_lora_rank", whole("q_lora_rank"));
    for (const char* key : {"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"})
      put(latent, key, whole(key));
    out_.entries.emplace_back("latent_attention", std::move(latent));
  }

  /// How wide layers without experts are, and what the others have.
  void experts() {
    if (family_.keys != Keys::llama) return;
    const std::string_view count =
        spelled({"num_local_experts", "n_routed_experts", "num_experts"});
    if (!text_.has(count) || whole(count, 0) == 0) {
      add("ffn", whole(spelled({"intermediate_size", "ffn_hidden_size"})));
      return;
    }
    const bool llama4 = is_one_of({"llama4_text"});
    const std::int64_t width = text_.has("moe_intermediate_size") ? whole("moe_intermediate_size")
                                                                  : whole("intermediate_size");
    Node moe = map();
    put(moe, "experts", whole(count));
    put(moe, "experts_per_token", whole(spelled({"num_experts_per_tok", "experts_per_token"})));
    std::int64_t shared = llama4 ? 1 : whole_or("n_shared_experts", 0);
    if (const auto key = "shared_expert_intermediate_size"; text_.has(key) && whole(key, 0) > 0) {
      text_.require(whole(key) % width == 0, key,
                    "a multiple of moe_intermediate_size (" + std::to_string(width) + ")");
      shared = whole(key) / width;
    }
    if (shared > 0) put(moe, "shared_experts", shared);
    put(moe, "ffn", width);
    const std::int64_t dense = whole_or("first_k_dense_replace", 0);
    if (dense > 0) put(moe, "first_dense_layers", dense);
    if (const auto key = "moe_layer_freq"; text_.has(key)) text_.require(whole(key) == 1, key, "1");
    if (const auto key = "mlp_only_layers"; text_.has(key)) {
      text_.require(text_.words(key).empty(), key, "no layers");
    }
    const std::int64_t every =
        whole(spelled({"interleave_moe_layer_step", "decoder_sparse_step"}), 1, 1);
    if (every > 1) put(moe, "every", every);
    out_.entries.emplace_back("moe", std::move(moe));
    if (dense > 0 || every > 1)
      add("ffn", whole(llama4 ? "intermediate_size_mlp" : "intermediate_size"));
  }
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t fallback,
                                   std::int64_t low) const {
    return whole_or(key, fallback, low);
  }

  void window() {
    // Llama 4 attends within chunks: at most a chunk, half of it on average. A window is the nearer
    // of the two things that can be said.
    const std::string_view key = spelled({"sliding_window", "attention_chunk_size"});
    if (!either({"use_sliding_window"}, true) || !text_.has(key) || whole(key, 0) == 0) return;
    if (whole(key) >= whole_or("max_position_embeddings", kLargest, 1)) return;
    const std::int64_t layers = whole("num_hidden_layers");
    std::int64_t every = 0;
    if (text_.has("layer_types")) {
      const std::vector<std::string> types = text_.words("layer_types");
      const auto full = std::count(types.begin(), types.end(), "full_attention");
      if (full == layers) return;
      every = full == 0 ? 0 : (layers + full / 2) / full;
    } else if (is_one_of({"exaone4"})) {
      every = 4;  // its pattern is written "LLLG"
    } else {
      // Qwen's first layers see everything; its published models stop at no layer.
      if (whole_or("max_window_layers", 0) >= layers) return;
      if (is_one_of({"gemma2", "gpt_oss"})) every = 2;
      if (is_one_of({"gemma3_text"})) every = 6;
      if (is_one_of({"llama4_text", "cohere2"})) every = 4;
      every = whole_or("sliding_window_pattern", every);
    }
    if (every == 1) return;
    Node window = map();
    put(window, "tokens", whole(key));
    if (every > 1) put(window, "global_every", std::min(every, layers));
    out_.entries.emplace_back("sliding_window", std::move(window));
  }

  /// Layers' modules that a list of exceptions names, as the parts they are.
  [[nodiscard]] std::string kept_parts(const Reader& in) const {
    std::int64_t attention = 0;
    const std::int64_t layers = std::max<std::int64_t>(1, whole_or("num_hidden_layers", 1));
    for (const char* key : {"modules_to_not_convert", "ignore", "ignored_layers", "exclude"}) {
      if (!in.has(key)) continue;
      for (const std::string& word : in.words(key)) {
        if (word.find("attn") == std::string::npos) continue;
        // A name without a number is a pattern and stands for every layer.
        const bool one = std::any_of(word.begin(), word.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; });
        attention += one ? 1 : layers;
      }
    }
    return 2 * attention >= layers ? "attention" : "";
  }

  void put_quantization(const std::string& method, const Reader& in, std::int64_t bits = 0,
                        std::int64_t group = 0) {
    const std::string kept = kept_parts(in);
    if (kept.empty() && bits == 0 && group == 0) {
      add("quantization", method);
      return;
    }
    Node map = this->map();
    put(map, "method", method);
    if (bits > 0) put(map, "bits", bits);
    if (group > 0) put(map, "group_size", group);
    if (!kept.empty()) {
      Node keep;
      keep.kind = Node::Kind::list;
      keep.position = keep.key_position = out_.position;
      for (const char* part : {"attention", "router", "embeddings", "lm_head"}) {
        Node item;
        item.kind = Node::Kind::scalar;
        item.position = out_.position;
        item.scalar = part;
        keep.items.push_back(std::move(item));
      }
      map.entries.emplace_back("keep", std::move(keep));
    }
    out_.entries.emplace_back("quantization", std::move(map));
  }

  void quantization() {
    const Reader* at = root_.has("quantization_config")   ? &root_
                       : text_.has("quantization_config") ? &text_
                                                          : nullptr;
    if (at == nullptr) return;
    const Reader in = at->child("quantization_config");
    const std::string method = in.get<std::string>("quant_method");
    const auto group_of = [](const Reader& from) -> std::int64_t {
      if (!from.has("group_size") || from.get<std::string>("group_size").starts_with("-")) return 0;
      return from.integer("group_size", 1, kLargest);
    };
    if (method == "fp8") {
      put_quantization(in.has("weight_block_size") ? "fp8_blockscale" : "fp8", in);
    } else if (method == "fbgemm_fp8") {
      put_quantization("fp8", in);
    } else if (method == "mxfp4") {
      put_quantization("mxfp4", in);
    } else if (method == "awq" || method == "gptq") {
      const std::string_view bits = in.has("w_bit") ? "w_bit" : "bits";
      put_quantization(method, in, in.integer(bits, 4, 8), group_of(in));
    } else if (method == "compressed-tensors") {
      compressed_tensors(in, group_of);
    } else if (method == "quark") {
      quark(in);
    } else {
      in.fail("quant_method",
              "one of awq, compressed-tensors, fbgemm_fp8, fp8, gptq, mxfp4, quark");
    }
  }

  /// vllm-project/compressed-tensors: the first group speaks for all.
  template <class GroupOf>
  void compressed_tensors(const Reader& in, const GroupOf& group_of) {
    const Reader groups = in.child("config_groups");
    const std::vector<std::string> names = groups.keys();
    groups.require(!names.empty(), "group_0", "a group of layers and how they are quantized");
    const Reader group = groups.child(names.front());
    const Reader weights = group.child("weights");
    const std::int64_t bits = weights.integer("num_bits", 4, 8);
    const std::string type = weights.get<std::string>("type", "int");
    const bool quantizes_activations = group.has("input_activations");
    if (type == "float") {
      weights.require(bits == 8, "num_bits", "8 where the type is float");
      const bool blocks = weights.get<std::string>("strategy", "channel") == "block";
      put_quantization(blocks ? "fp8_blockscale" : "fp8", in);
    } else if (bits == 8 && quantizes_activations) {
      put_quantization("int8", in);
    } else {
      weights.require(!quantizes_activations, "num_bits", "8 where activations are quantized");
      put_quantization("gptq", in, bits, group_of(weights));
    }
  }

  /// AMD Quark.
  void quark(const Reader& in) {
    const Reader weight = in.child("global_quant_config").child("weight");
    const std::string dtype = weight.get<std::string>("dtype");
    if (dtype.starts_with("fp8")) {
      put_quantization("fp8", in);
    } else if (dtype == "fp4") {
      put_quantization("mxfp4", in);
    } else if (dtype == "int8") {
      put_quantization("int8", in);
    } else {
      weight.fail("dtype", "fp8_e4m3, fp4 or int8");
    }
  }

  Reader root_;
  Reader text_;
  std::filesystem::path path_;
  Family family_;
  Node out_;
};

std::filesystem::path file_of(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path / "config.json" : path;
}

}  // namespace

Node hf_model_document(const std::filesystem::path& path) {
  const std::filesystem::path file = file_of(path);
  const Node config = load_json(file);
  return Translation(config, file).take();
}

ModelSpec read_hf_config(const std::filesystem::path& path) {
  const Node document = hf_model_document(path);
  const Reader in(document);
  ModelSpec model = read_model_spec(in);
  in.finish();
  return model;
}

bool is_hf_config(const std::filesystem::path& path) {
  if (path.extension() == ".json") return true;
  std::error_code error;
  return std::filesystem::exists(path / "config.json", error);
}

}  // namespace ridgeline::workloads
