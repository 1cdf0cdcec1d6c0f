#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <random>
#include <set>
#include <string>

#include "core/quantity_text.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/pasted/pasted.hpp"
#include "tests/diagnosis/pasted_samples.hpp"
#include "timeline/classify.hpp"

namespace ridgeline::diagnosis {
namespace {

using Values = std::map<std::string, std::string>;

Values values_of(const Pasted& pasted) {
  Values out;
  for (const PastedFact& fact : pasted.facts) out[fact.key] = fact.value;
  return out;
}

/// The value of a key; empty where there is none.
std::string value_in(std::string_view text, const std::string& key) {
  const Values values = values_of(read_pasted(text));
  const auto it = values.find(key);
  return it == values.end() ? "" : it->second;
}

bool has_note(const Pasted& pasted, const std::string& words) {
  return std::any_of(pasted.notes.begin(), pasted.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

const std::vector<std::string_view> kAll{
    samples::kVllmServe,      samples::kSglangServe, samples::kVllmLog,    samples::kVllmV0Log,
    samples::kSglangLog,      samples::kOneBatch,    samples::kThroughput, samples::kLatency,
    samples::kTrtllm,         samples::kLlamaBench,  samples::kLlamaCpp,   samples::kTgi,
    samples::kTorchTable,     samples::kNsysText,    samples::kNsysCsv,    samples::kRocprofCsv,
    samples::kRocprofSummary, samples::kNvidiaTable, samples::kNvidiaCsv,  samples::kRocmSmi,
};

}  // namespace

TEST_CASE("A serving summary gives output throughput, means and lengths of a request") {
  const Pasted pasted = read_pasted(samples::kVllmServe);
  const Values v = values_of(pasted);
  CHECK(v.at("measured.throughput") == "800.00 /s");
  CHECK(v.at("measured.total_throughput") == "1619.20 /s");
  CHECK(v.at("measured.peak_throughput") == "1039.00 /s");
  CHECK(v.at("measured.requests_per_second") == "0.80 /s");
  CHECK(v.at("measured.ttft") == "1417.27 ms");
  CHECK(v.at("measured.tpot") == "17.18 ms");
  CHECK(v.at("measured.itl") == "22.76 ms");
  CHECK(v.at("measured.ttft_p99") == "4043.75 ms");
  CHECK(v.at("measured.itl_p99") == "235.74 ms");
  CHECK(v.at("serving.prompt_tokens") == "1024");  // 131072 / 128
  CHECK(v.at("serving.output_tokens") == "1000");  // 128000 / 128
  CHECK(v.at("serving.concurrency") == "16");      // a closed loop keeps so many in flight
  CHECK(v.at("serving.arrivals") == "saturated");
  CHECK(pasted.unread.empty());
}

TEST_CASE("A client's limit is no concurrency where requests come at a rate") {
  const Pasted pasted = read_pasted(samples::kSglangServe);
  const Values v = values_of(pasted);
  CHECK(v.at("serving.max_concurrency") == "256");
  CHECK(v.at("serving.concurrency") == "49-50");  // 49.12 on average
  CHECK(v.at("serving.request_rate") == "5.0 /s");
  CHECK(v.at("serving.arrivals") == "open");
  CHECK(v.at("serving.prompt_tokens") == "50-51");  // 5012 / 100
  CHECK(v.at("measured.prompt_throughput") == "113.39 /s");
  CHECK(pasted.unread.empty());
}

TEST_CASE("A fact's line is where it was read") {
  const Pasted pasted = read_pasted("something else\n\nMean TTFT (ms):   12.30  \n");
  REQUIRE(pasted.facts.size() == 1);
  CHECK(pasted.facts[0].line_number == 3);
  CHECK(pasted.facts[0].line == "Mean TTFT (ms):   12.30");
  CHECK(pasted.facts[0].format == "serving benchmark");
  CHECK(pasted.unread == std::vector<std::string>{"something else"});
}

TEST_CASE("Of a log's status lines the medians of the later half are taken, idle lines left out") {
  const Pasted pasted = read_pasted(samples::kVllmLog);
  const Values v = values_of(pasted);
  // Four lines of work; the later half are 1226.3 and 1100.0, of which the lower one is the median.
  CHECK(v.at("measured.throughput") == "1100.0 /s");
  CHECK(v.at("serving.concurrency") == "18");
  CHECK(v.at("serving.waiting") == "33");
  CHECK(v.at("serving.kv_usage") == "95.5 %");
  CHECK(has_note(pasted, "4 status lines (lines 12 to 16), 1 of an idle server left out"));
  CHECK(pasted.unread.empty());
}

TEST_CASE("A log's beginning says how the engine was set up and what fits its memory") {
  const Values v = values_of(read_pasted(samples::kVllmLog));
  CHECK(v.at("model.name") == "acme/Chat-8B");
  CHECK(v.at("engine.dtype") == "bfloat16");
  CHECK(v.at("engine.enforce_eager") == "false");
  CHECK(v.at("engine.tensor_parallel_size") == "2");
  CHECK(v.at("devices") == "2");
  CHECK(v.at("engine.version") == "v0.19.1");
  CHECK(v.count("engine.quantization") == 0);  // None
  CHECK(v.at("engine.attention_backend") == "Triton Attention");
  CHECK(v.at("engine.moe_config") == "default");
  CHECK(v.at("engine.cuda_graphs") == "true");
  CHECK(v.at("machine.name") == "AMD Instinct MI300X");
  CHECK(v.at("memory.weights") == "7.6391 GiB");
  CHECK(v.at("memory.kv_tokens") == "1949520");
  CHECK(v.at("memory.kv_bytes") == "37.18 GiB");
  CHECK(v.at("memory.graphs") == "0.31 GiB");
}

TEST_CASE("Old vLLM counts GB in 2^30 bytes, preemptions in total, and waiting as pending") {
  const Pasted pasted = read_pasted(samples::kVllmV0Log);
  const Values v = values_of(pasted);
  CHECK(v.at("memory.weights") == "67.7229 GiB");
  CHECK(v.at("memory.kv_blocks") == "1381");
  // 2048 x 10.785 = 22087.68 and 2048 x 10.795 = 22108.16; 1381 blocks of 16 are 22096.
  CHECK(v.at("memory.kv_tokens") == "22087-22109");
  CHECK(v.at("serving.preemptions") == "51");
  CHECK(v.at("serving.waiting") == "7");
  CHECK(pasted.unread.empty());
}

TEST_CASE("SGLang's log tells decode throughput, token usage and whether graphs are replayed") {
  const Pasted pasted = read_pasted(samples::kSglangLog);
  const Values v = values_of(pasted);
  CHECK(v.at("measured.throughput") == "1636.39 /s");
  CHECK(v.at("serving.kv_usage") == "0.91");
  CHECK(v.at("serving.concurrency") == "32");
  CHECK(v.at("serving.waiting") == "5");
  CHECK(v.at("engine.cuda_graphs") == "false");
  CHECK(v.at("memory.kv_tokens") == "171008");
  CHECK(v.at("memory.weights") == "15.27 GiB");
  CHECK(pasted.unread.empty());
  CHECK(value_in(
            "[2026 TP0] Decode out of memory happened. #retracted_reqs: 2, #new_token_ratio: 0.5\n"
            "[2026 TP0] Decode out of memory happened. #retracted_reqs: 3, #new_token_ratio: 0.5",
            "serving.preemptions") == "5");  // 2 + 3
}

TEST_CASE("A benchmark's warm-up is not its result") {
  const Values v = values_of(read_pasted(samples::kOneBatch));
  CHECK(v.at("measured.step_time") == "0.01178 s");
  CHECK(v.at("measured.throughput") == "339.57 /s");
  CHECK(v.at("measured.ttft") == "0.37183 s");
  CHECK(v.at("serving.concurrency") == "4");
}

TEST_CASE("An offline benchmark's three rates are told apart, and lengths come with its command") {
  const Pasted pasted = read_pasted(samples::kThroughput);
  const Values v = values_of(pasted);
  CHECK(v.at("measured.requests_per_second") == "34.14 /s");
  CHECK(v.at("measured.total_throughput") == "17466.30 /s");
  CHECK(v.at("measured.throughput") == "8739.16 /s");
  CHECK(v.at("serving.requests") == "1000");
  CHECK(v.at("serving.prompt_tokens") == "255-256");  // 255648 / 1000, not the 256 asked for
  CHECK(v.at("serving.output_tokens") == "256");
  CHECK(value_in(samples::kLatency, "measured.e2e_p99") == "1.5911 s");
}

TEST_CASE("trtllm-bench's rates per user and per GPU are not those of all") {
  const Pasted pasted = read_pasted(samples::kTrtllm);
  const Values v = values_of(pasted);
  CHECK(v.at("measured.throughput") == "5530.7382 /s");
  CHECK(v.at("measured.total_throughput") == "94022.5497 /s");
  CHECK(v.count("measured.throughput_per_sequence") == 0);
  CHECK(v.at("measured.tpot") == "182.9639 ms");
  CHECK(v.at("measured.ttft_p99") == "56563.4497 ms");
  CHECK(v.at("serving.concurrency") == "1018-1019");
  CHECK(v.at("devices") == "8");  // 4 x 2
  CHECK(v.at("engine.kv_cache_dtype") == "fp8");
  CHECK(pasted.unread.empty());
}

TEST_CASE("llama-bench's prompt rate is not its generation rate") {
  const Values v = values_of(read_pasted(samples::kLlamaBench));
  CHECK(v.at("measured.throughput") == "74.98 /s");
  CHECK(v.at("measured.prompt_throughput") == "573.52 /s");
  CHECK(v.at("serving.concurrency") == "1");
  CHECK(v.at("model.parameters") == "3.21e9");
  CHECK(v.at("model.weight_bytes") == "1.87 GiB");
}

TEST_CASE("llama.cpp's timings are of one request, and its log says what the GPU did not get") {
  const Pasted pasted = read_pasted(samples::kLlamaCpp);
  const Values v = values_of(pasted);
  CHECK(v.at("measured.throughput_per_sequence") == "12.64 /s");
  CHECK(v.count("measured.throughput") == 0);
  CHECK(v.at("measured.tpot") == "79.13 ms");
  CHECK(v.at("measured.ttft") == "927.17 ms");
  CHECK(v.at("engine.offloaded_layers") == "0 of 33");
  CHECK(v.at("engine.n_gpu_layers") == "0");
  CHECK(v.at("engine.n_ubatch") == "512");
  CHECK(v.at("engine.flash_attn") == "true");
  CHECK(v.at("model.layers") == "32");
  CHECK(v.at("machine.name") == "NVIDIA L20");
  CHECK(pasted.unread.empty());
}

TEST_CASE("TGI's prefill tokens per second are sequences and are not taken") {
  const Pasted pasted = read_pasted(samples::kTgi);
  const Values v = values_of(pasted);
  CHECK(v.at("measured.step_time") == "9.20 ms");
  CHECK(v.at("measured.throughput") == "434.78 /s");
  CHECK(v.at("measured.ttft") == "151.86 ms");
  CHECK(v.at("serving.concurrency") == "4");
  CHECK(v.count("measured.prompt_throughput") == 0);
  CHECK(pasted.unread.empty());
  CHECK(value_in("INFO generate{total_time=\"357.867572ms\" queue_time=\"49.382\xc2\xb5s\" "
                 "time_per_token=\"14.827082ms\"}: Success",
                 "measured.queue_time") == "49.382 us");
}

TEST_CASE(
    "Of the PyTorch profiler's table kernels are taken once, and neither operators nor spans") {
  const Pasted pasted = read_pasted(samples::kTorchTable);
  REQUIRE(pasted.kernels.size() == 2);
  CHECK(pasted.kernels[0].name == "Cijk_Alik_Bljk_BBS_BH_MT64x32x256_MI16x16x1_SN");
  CHECK(pasted.kernels[0].calls == 100);
  CHECK(pasted.kernels[0].seconds == Approx(6.0e-3));
  CHECK(pasted.kernels[1].calls == 200);
  CHECK(pasted.kernels[1].seconds == Approx(0.5e-3));
  CHECK(timeline::classify(pasted.kernels[0].name).cls == timeline::KernelClass::gemm);
  CHECK(value_in(samples::kTorchTable, "profile.kernel_time_total") == "10.000 ms");
  CHECK(pasted.unread.empty());
}

TEST_CASE(
    "Kernel tables of nsys and rocprof agree, and their tables of host calls are no kernels") {
  for (const std::string_view sample :
       {samples::kNsysText, samples::kNsysCsv, samples::kRocprofCsv}) {
    const Pasted pasted = read_pasted(sample);
    REQUIRE(pasted.kernels.size() == 2);
    CHECK(pasted.kernels[0].calls == 1000);
    CHECK(pasted.kernels[0].seconds == Approx(3.0e-3));
    CHECK(pasted.kernels[1].calls == 500);
    CHECK(pasted.kernels[1].seconds == Approx(1.0e-3));
    CHECK(pasted.unread.empty());
  }
  CHECK(read_pasted(samples::kNsysCsv).kernels[0].name == "void gemm<a, b>(T1::Params)");
  const Pasted summary = read_pasted(samples::kRocprofSummary);
  REQUIRE(summary.kernels.size() == 1);
  CHECK(summary.kernels[0].name == "rms_norm_kernel");
  CHECK(summary.unread.empty());
}

TEST_CASE("A second table of kernels is not added to the first") {
  const std::string both =
      std::string(samples::kNsysText) + "\nthat was before\n" + std::string(samples::kRocprofCsv);
  const Pasted pasted = read_pasted(both);
  CHECK(pasted.kernels.size() == 2);
  CHECK(has_note(pasted, "a second table of kernels"));
}

TEST_CASE("GPU tools tell use, power, clocks and memory of the devices that work") {
  for (const std::string_view sample : {samples::kNvidiaTable, samples::kNvidiaCsv}) {
    const Values v = values_of(read_pasted(sample));
    CHECK(v.at("profile.busy_fraction") == "97 %");
    CHECK(v.at("memory.used") == "40000 MiB");
    CHECK(v.at("memory.total") == "46068 MiB");
    CHECK(v.at("machine.name") == "NVIDIA L20");
  }
  CHECK(value_in(samples::kNvidiaCsv, "machine.clock") == "2520 MHz");
  CHECK(value_in(samples::kNvidiaTable, "machine.power") == "212 W");  // not the idle one's 25 W
  const Values amd = values_of(read_pasted(samples::kRocmSmi));
  CHECK(amd.at("machine.power") == "512.0 W");
  CHECK(amd.at("machine.power_limit") == "750.0 W");
  CHECK(amd.at("machine.clock") == "2103 MHz");
  CHECK(amd.at("profile.busy_fraction") == "97 %");
  CHECK(amd.at("memory.used_fraction") == "91 %");
  CHECK(amd.at("machine.name") == "AMD Instinct MI300X");
  CHECK(value_in(
            "# gpu    pwr  gtemp  mtemp     sm    mem\n# Idx      W      C      C      %      %\n"
            "    0    212     45     60     97     55\n",
            "profile.busy_fraction") == "97 %");
  CHECK(value_in("GPU  POWER  GPU_T  GFX_CLK  GFX%\n  0  414 W  52 C  2100 MHz  97 %\n",
                 "machine.clock") == "2100 MHz");
}

TEST_CASE("A command is read over its continued lines, with aliases and variables") {
  const Pasted pasted = read_pasted(
      "$ HIP_LAUNCH_BLOCKING=1 python3 -m vllm.entrypoints.openai.api_server \\\n"
      "    --model acme/Chat-70B -tp 8 --max-num-seqs=64 \\\n"
      "    --no-enable-prefix-caching --enforce-eager \\\n"
      "    --kv-cache-dtype fp8 --port 8000\n");
  const Values v = values_of(pasted);
  CHECK(v.at("environment.HIP_LAUNCH_BLOCKING") == "1");
  CHECK(v.at("model.name") == "acme/Chat-70B");
  CHECK(v.at("engine.tensor_parallel_size") == "8");
  CHECK(v.at("engine.max_num_seqs") == "64");
  CHECK(v.at("engine.enable_prefix_caching") == "false");
  CHECK(v.at("engine.enforce_eager") == "true");
  CHECK(v.at("engine.kv_cache_dtype") == "fp8");
  CHECK(pasted.unread.empty());
}

TEST_CASE("The same flag means what its program means by it") {
  CHECK(value_in("llama-server -m chat.gguf --batch-size 4096 -np 4", "engine.n_batch") == "4096");
  CHECK(value_in("vllm bench latency --model m --batch-size 8", "serving.concurrency") == "8");
  CHECK(value_in("python -m sglang.launch_server --model-path acme/Chat --tp 4",
                 "engine.tensor_parallel_size") == "4");
  CHECK(value_in("vllm serve acme/Chat-8B --max-model-len 8192", "model.name") == "acme/Chat-8B");
  CHECK(value_in("docker run --ipc=host -p 8000:8000 vllm/vllm-openai-rocm:latest acme/Chat-8B "
                 "--dtype auto",
                 "model.name") == "acme/Chat-8B");
  CHECK(values_of(read_pasted("I think vllm serve is slow")).empty());
}

TEST_CASE("Shapes without tuned kernels are counted once each") {
  const std::string line =
      "[aiter] shape is M:64, N:2112, K:7168, not found tuned config in /tmp/t.csv, will use "
      "default config!\n";
  CHECK(value_in(line + line + replaced(line, "M:64", "M:128"), "engine.untuned_gemms") == "2");
}

TEST_CASE("What pasting does to text does not change what is read") {
  for (const std::string_view sample : kAll) {
    const Values plain = values_of(read_pasted(sample));
    const auto kernels = read_pasted(sample).kernels.size();
    const std::string text(sample);
    const std::string quoted = "> " + replaced(text, "\n", "\n> ");
    const std::string windows = replaced(replaced(text, "\r\n", "\n"), "\n", "\r\n");
    const std::string coloured = "\x1b[1;36m" + replaced(text, "\n", "\x1b[0m\n\x1b[32m");
    const std::string uncoloured = "[1;36m" + replaced(text, "\n", "[0;0m\n[32m");
    const std::string escaped =
        replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
    for (const std::string& changed : {quoted, windows, coloured, uncoloured, escaped}) {
      INFO(changed);
      const Pasted again = read_pasted(changed);
      CHECK(values_of(again) == plain);
      CHECK(again.kernels.size() == kernels);
    }
  }
}

TEST_CASE("A summary is read behind a log's prefix and in a Markdown table") {
  CHECK(value_in("client-1  | 2026-05-01 12:00:00,123 INFO [bench.py:12] Mean TTFT (ms):  12.30",
                 "measured.ttft") == "12.30 ms");
  CHECK(value_in("| Output token throughput (tok/s)   | 1,078.18   |", "measured.throughput") ==
        "1078.18 /s");
  CHECK(value_in("| Average time to first token (s)   |    0.8962 |", "measured.ttft") ==
        "0.8962 s");
  CHECK(value_in("Mean TPOT: 58.04 ms", "measured.tpot") == "58.04 ms");
}

TEST_CASE("An ambiguous number is a note and no fact") {
  const Pasted unitless = read_pasted("Mean TTFT: 12.30");
  CHECK(unitless.facts.empty());
  CHECK(has_note(unitless, "without a unit"));

  const Pasted twice = read_pasted("Mean TTFT (ms): 12.30\nsome change\nMean TTFT (ms): 10.10\n");
  CHECK(twice.facts.empty());
  CHECK(has_note(twice, "line 1 says 12.30 ms, line 3 says 10.10 ms; neither is taken"));

  const Pasted of_what = read_pasted("Throughput: 812.00 tokens/s");
  CHECK(of_what.facts.empty());
  CHECK(has_note(of_what, "may or may not count prompts"));

  const Pasted nothing = read_pasted("Mean ITL (ms):  0.00");
  CHECK(nothing.facts.empty());
  CHECK(has_note(nothing, "nothing was measured"));
}

TEST_CASE("A decimal comma is not taken for a thousands comma") {
  CHECK(value_in("Mean TTFT (ms): 1,234.5", "measured.ttft") == "1234.5 ms");
  CHECK(value_in("Mean TTFT (ms): 12,5", "measured.ttft").empty());
}

TEST_CASE("A server's own count comes before its client's limit, and a summary before the log") {
  const Pasted pasted =
      read_pasted(std::string(samples::kVllmServe) + std::string(samples::kVllmLog));
  const Values v = values_of(pasted);
  CHECK(v.at("serving.concurrency") == "18");
  CHECK(v.at("measured.throughput") == "800.00 /s");
  CHECK(has_note(pasted, "vllm log (line 46) has 1100.0 /s"));
}

TEST_CASE("Of several engines one's lines are taken") {
  const std::string line =
      "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 100.0 tokens/s, "
      "Running: 8 reqs, Waiting: 0 reqs, GPU KV cache usage: 10.0%\n";
  const Pasted pasted =
      read_pasted(line + replaced(replaced(line, "000", "001"), "100.0", "900.0"));
  CHECK(values_of(pasted).at("measured.throughput") == "100.0 /s");
  CHECK(has_note(pasted, "lines of several engines; those of '000' are taken"));
}

TEST_CASE("What is read of evidence's own fields can be written as evidence") {
  for (const std::string_view sample : kAll) {
    for (const PastedFact& fact : read_pasted(sample).facts) {
      for (const Field& field : evidence_fields()) {
        if (fact.key != std::string(field.section) + "." + std::string(field.key)) continue;
        INFO(fact.key << ": " << fact.value);
        const auto bounds = core::parse_interval(fact.value, field.dimension);
        REQUIRE(bounds);
        CHECK(bounds->low >= 0.0);
        if (field.whole && core::parse_quantity(fact.value, field.dimension))
          CHECK(fact.value.find('.') == std::string::npos);
      }
    }
  }
}

TEST_CASE("Every format has a name of its own and says what it reads") {
  std::set<std::string_view> names;
  for (const PastedFormatInfo& format : pasted_formats()) {
    CHECK(names.insert(format.name).second);
    CHECK(format.reads.size() > 10);
  }
}

TEST_CASE("Truncated and damaged text never fails") {
  std::mt19937 random(7);
  for (const std::string_view sample : kAll) {
    for (std::size_t cut = 0; cut <= sample.size(); cut += 1 + sample.size() / 200)
      (void)read_pasted(sample.substr(0, cut));
    for (int i = 0; i < 100; ++i) {
      std::string damaged(sample);
      for (int j = 0; j < 20; ++j) damaged[random() % damaged.size()] = static_cast<char>(random());
      (void)read_pasted(damaged);
    }
  }
  for (int i = 0; i < 200; ++i) {
    std::string garbage(random() % 5000, ' ');
    for (char& c : garbage) c = static_cast<char>(random());
    const Pasted pasted = read_pasted(garbage);
    CHECK(pasted.kernels.empty());
  }
  SUCCEED();
}

TEST_CASE("Pieces of all formats in any order never fail") {
  std::vector<std::string> lines;
  for (const std::string_view sample : kAll) {
    std::string_view rest = sample;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
      lines.emplace_back(rest.substr(0, end + 1));
      rest.remove_prefix(end + 1);
    }
  }
  std::mt19937 random(11);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(lines.begin(), lines.end(), random);
    std::string text;
    for (const std::string& line : lines) text += line;
    for (const PastedFact& fact : read_pasted(text).facts) {
      REQUIRE(!fact.value.empty());
      REQUIRE(fact.line_number > 0);
    }
  }
}

namespace {

/// Seconds of this process to read so many bytes of a text repeated, the best of three.
double seconds_for(std::string_view sample, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += sample;
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    const Pasted pasted = read_pasted(text);
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

const std::vector<std::string_view> kRepeated{
    samples::kVllmLog, samples::kVllmServe, samples::kTorchTable, samples::kSglangLog,
    "2026-05-01 12:00:00 INFO something that no reader knows of, 12 of 13\n"};

}  // namespace

TEST_CASE("The time to read a log grows as its length") {
  for (const std::string_view sample : kRepeated) {
    // Four times the text: 4 if linear, 16 if quadratic.
    CHECK(seconds_for(sample, 4'000'000) < 10.0 * seconds_for(sample, 1'000'000));
  }
}

TEST_CASE("A long line is read in linear time too") {
  const std::string words(4'000'000, '-');
  const std::string bars =
      "|" + std::string(2'000'000, ' ') + "| a | b |" + std::string(2'000'000, '[');
  const auto begin = std::chrono::steady_clock::now();
  (void)read_pasted(words + "\nNamespace(" + words + "\n" + bars + "\n| Step " + bars);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(took.count() < 10.0);  // well below one; quadratic would be hours
}

TEST_CASE("Fifty megabytes of log are read in less than two seconds", "[.][timing]") {
  for (const std::string_view sample : kRepeated) {
    const double seconds = seconds_for(sample, 50'000'000);
    WARN(seconds << " s");
    CHECK(seconds < 2.0);
  }
}

}  // namespace ridgeline::diagnosis
