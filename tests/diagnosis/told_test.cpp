// What a person types and pastes: how numbers are written, where keys belong, text within YAML.

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "diagnosis/evidence_keys.hpp"
#include "diagnosis/evidence_reader.hpp"
#include "diagnosis/evidence_template.hpp"
#include "diagnosis/field_guide.hpp"
#include "diagnosis/pasted_evidence.hpp"
#include "diagnosis/stored_format.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/trials.hpp"
#include "tests/diagnosis/pasted_samples.hpp"
#include "workloads/model_names.hpp"

using namespace ridgeline;
using Catch::Matchers::Contains;
using diagnosis::Evidence;
using diagnosis::EvidenceDocument;

namespace {

const core::ConfigLibrary& library() {
  static const core::ConfigLibrary shipped(std::filesystem::path(RIDGELINE_SOURCE_DIR) / "configs");
  return shipped;
}

/// A model that is known by its name only.
diagnosis::Model named(const core::Node& reference) {
  diagnosis::Model model;
  const core::Node* base = reference.find("base");
  model.name = base != nullptr ? base->scalar : reference.scalar;
  model.parameters = diagnosis::read_exactly(8e9);
  model.weight_dtype = hw::Dtype::bf16;
  return model;
}

EvidenceDocument told(const std::string& text) {
  return diagnosis::read_evidence_document(core::parse_yaml(text, "e.yaml"), library(), named);
}
Evidence read(const std::string& text) { return told(text).evidence; }

Evidence pasted(std::string_view text) {
  const auto document =
      diagnosis::evidence_from_pasted(diagnosis::read_pasted(text), "log", library()).document;
  return diagnosis::read_evidence(document, library(), named);
}

bool holds(const std::vector<std::string>& sentences, const std::string& words) {
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
    return sentence.find(words) != std::string::npos;
  });
}

}  // namespace

// ---------------------------------------------------------------------------- numbers as written

TEST_CASE("Rates count whatever stands before the stroke") {
  const auto throughput = [](const std::string& text) {
    return read("measured:\n  throughput: " + text).measured.throughput->best;
  };
  CHECK(throughput("13,393 tok/s") == Approx(13393));
  CHECK(throughput("2.4 it/s") == Approx(2.4));
  CHECK(throughput("160 output tokens/s") == Approx(160));
  CHECK(throughput("160 tokens per second") == Approx(160));
  CHECK(throughput("160 tokens/sec") == Approx(160));
  const Evidence e = read(
      "measured: {requests_per_second: 23.5 req/s}\nserving: {request_rate: 600 requests/min}");
  CHECK(e.measured.requests_per_second->best == Approx(23.5));
  CHECK(e.serving.request_rate->best == Approx(10));  // 600 / 60
}

TEST_CASE("Requests are not tokens") {
  CHECK_THROWS_WITH(read("measured: {throughput: 23.5 req/s}"),
                    Contains("expected a rate like '160 tokens/s'"));
  CHECK_THROWS_WITH(read("measured: {requests_per_second: 160 tok/s}"),
                    Contains("expected a rate like '5.5 requests/s'"));
}

TEST_CASE("A rate of bytes or of thousands is no rate of tokens") {
  CHECK_THROWS_WITH(read("measured: {throughput: 1.2 GB/s}"), Contains("expected a rate"));
  CHECK_THROWS_WITH(read("measured: {throughput: 5k tok/s}"), Contains("expected a rate"));
}

TEST_CASE("FLOP rates are read in the spellings that people have for them") {
  for (const char* text : {"60 TFLOP/s", "60 TFLOPS", "60 TFLOPs", "60 TFLOPS/s", "60 TF/s"})
    CHECK(read(fmt::format("measured: {{flop_rate: {}}}", text)).measured.flop_rate->best ==
          Approx(60e12));
}

TEST_CASE("A time for each token is a time, and GB/sec is GB/s") {
  CHECK(read("measured: {itl: 12 ms/token}").measured.itl->best == Approx(0.012));
  CHECK(read("measured: {itl: 12 ms per token}").measured.itl->best == Approx(0.012));
  CHECK(read("measured: {hbm_rate: 900 GB/sec}").measured.hbm_rate->best == Approx(900e9));
}

TEST_CASE("A part of a whole is a fraction, with units or without") {
  for (const char* text : {"1580 of 1965", "1580 MHz of 1965 MHz", "1580 of 1965 MHz"})
    CHECK(read(fmt::format("profile: {{clock_fraction: {}}}", text)).profile.clock_fraction->best ==
          Approx(1580.0 / 1965.0));
  CHECK(read("serving: {kv_usage: 20 GB of 80 GB}").serving.kv_usage->best == Approx(0.25));
  CHECK_THROWS_WITH(read("profile: {clock_fraction: 3 MHz of 2 s}"), Contains("a fraction"));
}

TEST_CASE("Shares that add up to all of it but for rounding are accepted") {
  const std::string sevenths = "=0.14285714285714288";  // seven of them exceed one by 2e-16
  std::string text = "profile:\n  kernel_time:\n";
  for (const char* group : {"gemm", "attention", "norm", "elementwise", "cast", "copy", "other"})
    text += fmt::format("    {}: {}\n", group, sevenths);
  CHECK(read(text).profile.kernel_time.size() == 7);
}

// -------------------------------------------------------------------------------- where keys
// belong

TEST_CASE("The number of devices may stand where people look for it") {
  for (const char* text :
       {"devices: 8", "tensor_parallel_size: 8", "engine: {tensor_parallel_size: 8}",
        "serving: {tensor_parallel_size: 8}", "engine: {devices: 8}"})
    CHECK(read(text).machine.devices->best == 8.0);
}

TEST_CASE("A key in the wrong section is told where it belongs") {
  CHECK_THROWS_WITH(read("serving: {throughput: 5 /s}"),
                    Contains("e.yaml:1:") && Contains("'throughput' belongs under 'measured'"));
  CHECK_THROWS_WITH(read("hbm_fraction: 14 %"), Contains("'hbm_fraction' belongs under 'profile'"));
  CHECK_THROWS_WITH(read("measured: {hbm_fractoin: 14 %}"),
                    Contains("did you mean 'hbm_fraction' under 'profile'?"));
  CHECK_THROWS_WITH(read("serving: {concurency: 4}"), Contains("did you mean 'concurrency'?"));
  CHECK_THROWS_WITH(read("measured: {tpott: 5 ms}"), Contains("did you mean 'tpot'?"));
  CHECK_THROWS_WITH(read("mesured: {itl: 5 ms}"), Contains("did you mean 'measured'?"));
}

TEST_CASE("A sweep says that it holds quantities only") {
  CHECK_THROWS_WITH(read("sweep: [{kv_cache_dtype: fp8, itl: 5 ms}, {itl: 6 ms}]"),
                    Contains("a point of a sweep holds quantities only"));
  CHECK(read("sweep: [{kv_usage: 20 %, tpot: 5 ms}, {kv_usage: 90 %, tpot: 6 ms}]").sweep.size() ==
        2);
}

TEST_CASE("A section with nothing in it is as if it were not there") {
  CHECK(read("serving:\nmeasured:\n  itl: 5 ms\nsymptoms:").measured.itl.has_value());
}

// ---------------------------------------------------------------------------------- the template

namespace {

/// The entries of a template, by the number of their line.
std::vector<std::size_t> entries_of(const std::vector<std::string>& lines) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t at = lines[i].find_first_not_of(' ');
    if (at == std::string::npos || lines[i][at] != '#' || at + 1 >= lines[i].size()) continue;
    if (lines[i][at + 1] != ' ') out.push_back(i);
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("Every line of the template is evidence once its mark is taken off") {
  const bool training = GENERATE(false, true);
  const std::vector<std::string> lines =
      lines_of(diagnosis::evidence_template({"mi300x", "llama3_8b"}, training));
  const std::vector<std::size_t> entries = entries_of(lines);
  CHECK(entries.size() > 100);
  for (const std::size_t chosen : entries) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::string line = lines[i];
      // One fact must be there: a title, a proposal or the name of an engine is none.
      if (i == chosen || line.find("#step_time:") != std::string::npos)
        line.erase(line.find('#'), 1);
      text += line + "\n";
    }
    INFO(lines[chosen]);
    CHECK_NOTHROW(read(text));
  }
}

TEST_CASE("The template as it stands says nothing, and its reader says so") {
  CHECK_THROWS_WITH(read(diagnosis::evidence_template({"mi300x", "llama3_8b"})),
                    Contains("expected at least one fact"));
}

TEST_CASE("The template names every symptom, every change and every quantity of its kind") {
  const std::string text = diagnosis::evidence_template({"mi300x", "llama3_8b"}) +
                           diagnosis::evidence_template({"mi300x", "llama3_8b"}, true);
  for (const auto& symptom : diagnosis::symptom_names())
    CHECK_THAT(text, Contains("#- " + symptom));
  for (const auto& change : diagnosis::change_names())
    CHECK_THAT(text, Contains("{change: " + change + ","));
  for (const auto& field : diagnosis::evidence_fields()) {
    INFO(field.path());
    CHECK_THAT(text, Contains("#" + std::string(field.key) + ": "));
    CHECK(diagnosis::find_guide(field.path()) != nullptr);
  }
}

TEST_CASE("What a field looks like is said of fields that there are, in ranges that can be read") {
  for (const auto& guide : diagnosis::field_guides()) {
    INFO(guide.field);
    const diagnosis::Field* field = diagnosis::find_field(guide.field);
    REQUIRE(field != nullptr);
    CHECK(field->path() == guide.field);
    if (guide.low.empty()) continue;
    const auto low = core::parse_quantity(guide.low, field->dimension);
    const auto high = core::parse_quantity(guide.high, field->dimension);
    REQUIRE((low && high));
    CHECK(*low < *high);
  }
}

// ---------------------------------------------------------------------------- text pasted as
// evidence

TEST_CASE("A benchmark's summary is evidence: its TPOT is the ITL") {
  const Evidence e = pasted(diagnosis::samples::kVllmServe);
  CHECK(e.measured.throughput->best == Approx(800.0));
  CHECK(e.measured.itl->best == Approx(17.18e-3));
  CHECK(e.measured.ttft->best == Approx(1417.27e-3));
  CHECK(e.serving.concurrency->best == 16.0);
  CHECK(e.serving.prompt_tokens->best == 131072.0 / 128.0);
  CHECK(e.serving.output_tokens->best == 128000.0 / 128.0);
}

TEST_CASE("A limit is no concurrency where requests come when they come") {
  const auto e =
      pasted("Traffic request rate: 5.0\nMax request concurrency: 256\nMean TPOT (ms): 9.00\n");
  CHECK(e.serving.arrivals == diagnosis::Arrivals::open);
  CHECK_FALSE(e.serving.concurrency.has_value());
}

TEST_CASE("A log names the machine, its devices and what it runs without") {
  const Evidence e = pasted(diagnosis::samples::kVllmLog);
  CHECK(e.machine.name == "AMD Instinct MI300X");
  CHECK(e.machine.devices->best == 2.0);
  CHECK(e.engine.enforce_eager == false);
  CHECK(diagnosis::has_symptom(e, "untuned_moe"));
  // 37.18 GiB on each of two devices.
  CHECK(e.memory.kv_bytes->best == Approx(2.0 * 37.18 * 1073741824.0));
  CHECK(e.memory.kv_tokens->best == Approx(1949520.0));
}

TEST_CASE("An engine's arguments are dtypes where that is what they mean") {
  const Evidence e = pasted(
      "vllm serve meta-llama/Llama-3.1-8B-Instruct -tp 4 --quantization fp8 --kv-cache-dtype "
      "fp8_e4m3");
  CHECK(e.model.name == "llama3_8b");
  CHECK(e.model.weight_dtype == hw::Dtype::fp8);
  CHECK(e.model.activation_dtype == hw::Dtype::fp8);
  CHECK(e.model.kv_cache_dtype == hw::Dtype::fp8);
  CHECK(e.model.weight_bytes->best == Approx(8e9));  // 8e9 weights of one byte
  CHECK(e.machine.devices->best == 4.0);
  CHECK(pasted("vllm serve Qwen/Qwen3-8B-AWQ").model.weight_dtype == hw::Dtype::int4);
  CHECK_FALSE(pasted("vllm serve Qwen/Qwen3-8B-AWQ").model.activation_dtype.has_value());
}

TEST_CASE("A table of kernels becomes shares by class") {
  const Evidence e = pasted(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"
      "\"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64\",100,7500000,75000,75.0\n"
      "\"ncclDevKernel_AllReduce_Sum_bf16\",100,2500000,25000,25.0\n");
  REQUIRE(e.kernels.size() == 2);
  CHECK(e.kernels[0].group == diagnosis::KernelGroup::gemm);
  CHECK(e.kernels[0].share->best == Approx(0.75));
  CHECK(e.kernels[1].group == diagnosis::KernelGroup::collective);
}

TEST_CASE("Text within evidence is laid under what is typed, and a difference names both lines") {
  const EvidenceDocument d = told(
      "machine: mi300x\n"
      "measured: {tpot: 15 ms}\n"
      "text: |\n"
      "  Mean TTFT (ms): 420.00\n"
      "  Mean TPOT (ms): 27.80\n"
      "  nothing that anybody knows\n");
  CHECK(d.evidence.measured.itl->best == Approx(15e-3));
  CHECK(d.evidence.measured.ttft->best == Approx(0.42));
  CHECK(holds(d.notes, "measured.itl: e.yaml:2:18 says 15 ms, e.yaml, text:2:1 says 27.80 ms"));
  CHECK(holds(d.notes, "1 line of the text was not read"));
}

TEST_CASE("What text and typing agree on within their digits is no contradiction") {
  const EvidenceDocument d = told("measured: {itl: 28 ms}\ntext: 'Mean TPOT (ms): 27.80'");
  CHECK(d.evidence.measured.itl->best == Approx(28e-3));
  CHECK_FALSE(holds(d.notes, "says"));
}

TEST_CASE("Several texts count in their order") {
  const EvidenceDocument d =
      told("texts:\n  - 'Mean TPOT (ms): 27.80'\n  - 'Mean TPOT (ms): 20.00'\n");
  CHECK(d.evidence.measured.itl->best == Approx(27.8e-3));
  CHECK(holds(d.notes, "e.yaml, text 1:1:1 says 27.80 ms, e.yaml, text 2:1:1 says 20.00 ms"));
}

TEST_CASE("A typed name keeps what the text adds to it") {
  const EvidenceDocument d = told(
      "machine: mi300x\nmodel: llama3_8b\nmeasured: {itl: 5 ms}\n"
      "text: 'vllm serve acme/Other-8B --quantization fp8 -tp 2'\ndevices: 4\n");
  CHECK(d.evidence.model.name == "llama3_8b");
  CHECK(d.evidence.model.weight_dtype == hw::Dtype::fp8);
  CHECK(d.evidence.machine.devices->best == 4.0);
  CHECK(holds(d.notes, "devices: e.yaml:5:10 says 4"));
}

TEST_CASE("A fact that evidence has no place for is named, and no text makes an error") {
  const auto result = diagnosis::evidence_from_pasted(
      diagnosis::read_pasted(diagnosis::samples::kVllmServe), "log", library());
  CHECK(holds(result.notes, "measured.peak_throughput"));
  const auto nothing =
      diagnosis::evidence_from_pasted(diagnosis::read_pasted("hello\n"), "log", library());
  CHECK_FALSE(nothing.any());
}

TEST_CASE("Whatever a tool printed can be read as evidence or says nothing") {
  using namespace diagnosis::samples;
  for (const std::string_view text :
       {kVllmServe, kSglangServe, kVllmLog, kVllmV0Log, kSglangLog, kOneBatch, kThroughput,
        kLatency, kTrtllm, kLlamaBench, kLlamaCpp, kTgi, kTorchTable, kNsysText, kRocprofSummary,
        kNvidiaTable, kNvidiaCsv, kRocmSmi}) {
    INFO(text);
    const auto result =
        diagnosis::evidence_from_pasted(diagnosis::read_pasted(text), "log", library());
    if (!result.any()) continue;
    CHECK_NOTHROW(diagnosis::read_evidence(result.document, library(), named));
  }
}

// ---------------------------------------------------------------------------------------- names

TEST_CASE("A checkpoint is a shipped model where only its tuning and storage are added") {
  const workloads::ModelNames models(library());
  const auto name = [&](const char* path) {
    const auto found = models.in(path);
    return found ? found->name : "";
  };
  CHECK(name("meta-llama/Llama-3.1-8B-Instruct") == "llama3_8b");
  CHECK(name("RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic") == "llama3_8b");
  CHECK(name("/models/Qwen3-8B-Q4_K_M.gguf") == "qwen3_8b");
  CHECK(name("/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/b968826") ==
        "qwen3_8b");
  CHECK(name("Qwen/Qwen3-30B-A3B-FP8") == "qwen3_30b_a3b");
  CHECK(name("acme/Qwen3-8B-Vision") == "");
  CHECK(name("acme/Chat-8B") == "");
}

TEST_CASE("Words for quantized weights say what is multiplied too, where they do") {
  CHECK(diagnosis::stored_format("awq_marlin")->weights == hw::Dtype::int4);
  CHECK_FALSE(diagnosis::stored_format("gptq")->activations.has_value());
  CHECK(diagnosis::stored_format("fp8")->activations == hw::Dtype::fp8);
  CHECK_FALSE(diagnosis::stored_format("compressed-tensors").has_value());
  CHECK(diagnosis::dtype_called("torch.bfloat16") == hw::Dtype::bf16);
  CHECK_FALSE(diagnosis::dtype_called("auto").has_value());
}
