// The command a server or a benchmark was started with, over several lines that end in a backslash
// too, with the variables set before it; and arguments alone, one a line.

#include <array>

#include "diagnosis/pasted/arguments.hpp"
#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

struct Program {
  std::string_view words;
  Owner owner;
  std::string_view model_behind;  // the word that a model without a flag follows
};
// The first that occurs counts, so the longer names stand first.
constexpr std::array<Program, 24> kPrograms{{
    {"vllm bench serve", kClient, ""},
    {"vllm bench throughput", kOffline, ""},
    {"vllm bench latency", kOffline, ""},
    {"vllm serve", kServer, "serve"},
    {"vllm.entrypoints", kServer, ""},
    {"vllm/vllm-openai", kServer, "vllm/vllm-openai"},
    {"benchmark_serving", kClient, ""},
    {"benchmark_throughput", kOffline, ""},
    {"benchmark_latency", kOffline, ""},
    {"sglang.bench_serving", kClient, ""},
    {"sglang.bench_one_batch", kOffline, ""},
    {"sglang.bench_latency", kOffline, ""},
    {"sglang.bench_offline_throughput", kOffline, ""},
    {"sglang.launch_server", kServer, ""},
    {"sglang serve", kServer, "serve"},
    {"llama-server", kLlama, ""},
    {"llama-cli", kLlama, ""},
    {"llama-bench", kLlama, ""},
    {"bin/main ", kLlama, ""},
    {"./main ", kLlama, ""},
    {"trtllm-serve", kServer, "trtllm-serve"},
    {"trtllm-bench", kOffline, ""},
    {"text-generation-launcher", kServer, ""},
    {"text-generation-benchmark", kOffline, ""},
}};

constexpr std::array<std::string_view, 38> kMarkers{"vllm bench serve",
                                                    "vllm bench throughput",
                                                    "vllm bench latency",
                                                    "vllm serve",
                                                    "vllm.entrypoints",
                                                    "vllm/vllm-openai",
                                                    "benchmark_serving",
                                                    "benchmark_throughput",
                                                    "benchmark_latency",
                                                    "sglang.bench_",
                                                    "sglang.launch_server",
                                                    "sglang serve",
                                                    "llama-server",
                                                    "llama-cli",
                                                    "llama-bench",
                                                    "bin/main ",
                                                    "./main ",
                                                    "trtllm-serve",
                                                    "trtllm-bench",
                                                    "text-generation-launcher",
                                                    "text-generation-benchmark",
                                                    "export ",
                                                    "docker run",
                                                    "podman run",
                                                    "--model",
                                                    "--tensor-par",
                                                    "--max-",
                                                    "--enforce-eager",
                                                    "--gpu-mem",
                                                    "--quanti",
                                                    "--kv-cache-dtype",
                                                    "--dtype",
                                                    "--enable-",
                                                    "--no-enable-",
                                                    "--block-size",
                                                    "--mem-fraction",
                                                    "--tp-size",
                                                    "LAUNCH_BLOCKING="};

// Variables that change what an engine does.
constexpr std::array<std::string_view, 14> kVariables{
    "VLLM_", "SGLANG_", "SGL_",  "HIP_",  "CUDA_LAUNCH", "CUDA_VISIBLE", "ROCR_",
    "AMD_",  "HSA_",    "NCCL_", "RCCL_", "PYTORCH_",    "AITER_",       "GGML_"};

/// A shell's words: blanks part them, quotes hold them together.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        words.back() += c;
      }
      continue;
    }
    const bool blank = c == ' ' || c == '\t';
    if (blank) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == '\'' || c == '"') {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  return words;
}

bool is_flag(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !is_digit(word[1]) && word[1] != '.';
}

std::string_view without_dashes(std::string_view flag) {
  while (flag.starts_with('-')) flag.remove_prefix(1);
  return flag;
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    std::string_view text = line.body;
    if (text.starts_with("- ")) text = trim(text.substr(2));  // an entry of a YAML list
    if (!is_open_ && !begins_command(text)) return false;
    const bool continues = text.ends_with('\\');
    if (continues) text = trim(text.substr(0, text.size() - 1));
    if (const std::size_t tail = text.find(" 2>&1"); tail != std::string_view::npos)
      text = text.substr(0, tail);
    take_words(words_of(text), line, out.facts);
    is_open_ = continues;
    if (!continues) {
      if (pending_ != nullptr && pending_->kind != ArgumentKind::text)
        take_argument(*pending_, "true", owner(), line, out.facts);
      program_ = nullptr;
      pending_ = nullptr;
    }
    return true;
  }
  [[nodiscard]] bool is_open() const override { return is_open_; }

 private:
  /// Prose mentions programs; a command has one at its front, behind variables and starters, or has
  /// arguments behind it.
  bool begins_command(std::string_view text) {
    program_ = nullptr;
    pending_ = nullptr;
    expects_model_ = false;
    for (const Program& program : kPrograms) {
      const std::size_t at = text.find(program.words);
      if (at == std::string_view::npos) continue;
      const bool has_arguments = contains(text.substr(at), " -") || text.ends_with('\\');
      const bool is_first =
          at == 0 || text.substr(0, at).find_first_not_of("$#% ") == std::string_view::npos;
      if (!has_arguments && !is_first) return false;
      program_ = &program;
      return true;
    }
    if (text.starts_with("export ")) return contains(text, "=");
    if (contains(text, "docker run") || contains(text, "podman run")) return true;
    if (is_flag(text)) return find_argument(without_dashes(word_at(text, "=")), kServer) != nullptr;
    const std::string_view first = word_at(text);  // VARIABLE=value docker run ... \.
    return is_variable(first) && (contains(text, "LAUNCH_BLOCKING=") || text.ends_with('\\'));
  }

  static bool is_variable(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    for (const std::string_view beginning : kVariables) {
      if (word.starts_with(beginning)) return true;
    }
    return false;
  }

  void take_words(const std::vector<std::string>& words, const Line& line, Gathered& out) {
    for (const std::string& word : words) {
      if (program_ == nullptr) {
        for (const Program& program : kPrograms) {
          if (contains(word, trim(program.words))) program_ = &program;
        }
      }
      if (pending_ != nullptr) {
        const Argument& argument = *pending_;
        pending_ = nullptr;
        if (argument.kind != ArgumentKind::text && !is_truth(word)) {
          take_argument(argument, "true", owner(), line, out);  // merely there
        } else if (!is_flag(word)) {
          take_argument(argument, word, owner(), line, out);
          continue;
        }
      }
      if (is_variable(word)) {
        const std::size_t equals = word.find('=');
        out.add("environment." + word.substr(0, equals), word.substr(equals + 1), line);
        continue;
      }
      if (is_flag(word)) {
        expects_model_ = false;
        take_flag(word, line, out);
      } else if (expects_model_) {
        expects_model_ = word == "serve";  // "vllm/vllm-openai:latest serve MODEL"
        if (!expects_model_)
          take_argument(*find_argument("model", kServer), word, owner(), line, out);
      } else if (program_ != nullptr && !program_->model_behind.empty() &&
                 (word == program_->model_behind || word.starts_with(program_->model_behind) ||
                  word.ends_with("/" + std::string(program_->model_behind)))) {
        expects_model_ = true;
      }
    }
  }

  void take_flag(const std::string& word, const Line& line, Gathered& out) {
    const std::size_t equals = word.find('=');
    const Argument* argument =
        find_argument(without_dashes(std::string_view(word).substr(0, equals)), owner());
    if (argument == nullptr) return;
    if (equals != std::string::npos) {
      take_argument(*argument, std::string_view(word).substr(equals + 1), owner(), line, out);
    } else {
      pending_ = argument;
    }
  }

  /// llama.cpp has "-fa on", and Python's parsers "--flag true".
  static bool is_truth(std::string_view word) {
    return word == "on" || word == "off" || word == "true" || word == "false" || word == "True" ||
           word == "False" || word == "0" || word == "1" || word == "auto";
  }

  [[nodiscard]] Owner owner() const { return program_ != nullptr ? program_->owner : kServer; }

  const Program* program_ = nullptr;
  const Argument* pending_ = nullptr;  // a flag whose value is the next word
  bool expects_model_ = false;
  bool is_open_ = false;
};

}  // namespace

extern const PastedFormat kCommandLine{"command line",
                                       "the command a server or benchmark was started with (vLLM, "
                                       "SGLang, llama.cpp, TensorRT-LLM, TGI), and "
                                       "variables set for it",
                                       kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
