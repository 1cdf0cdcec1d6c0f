#include "whatif/lever.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.hpp"
#include "whatif/number_format.hpp"

namespace ridgeline::whatif {
namespace {

using sim::Scenario;

/// What the fix of that name changes; nothing where it is so already.
LeverEffect by_fix(const char* fix, const Scenario& s) {
  return {intervention(fix).overrides(s).value_or(Overrides{}), fix};
}

LeverEffect set(std::string key, std::string value, std::string fix = "") {
  return {{{std::move(key), std::move(value)}}, std::move(fix)};
}

bool is_training(const Scenario& s) {
  return std::holds_alternative<workloads::TrainingWorkload>(s.workload);
}

/// A training step has no KV cache, no schedule, no drafts.
void require_serving(const Scenario& s, const LeverArgument& a) {
  if (is_training(s))
    throw core::ConfigError(a.text() +
                            ": a training step has no such thing; it takes batch:N, "
                            "fuse, tune, gpu, model, stack, copies and KEY=VALUE");
}

LeverEffect quantize(const Scenario& s, const LeverArgument& a) {
  require_serving(s, a);
  const NumberFormat& format = number_format(a.word("weights"), a.text());
  return {in_format(format, s), std::string(format.fix)};
}

LeverEffect kv_cache(const Scenario& s, const LeverArgument& a) {
  require_serving(s, a);
  const std::string dtype = a.word("dtype");
  return set("engine.kv_cache_dtype", dtype, dtype.starts_with("fp8") ? "fp8_kv_cache" : "");
}

LeverEffect graphs(const Scenario& s, const LeverArgument& a) {
  require_serving(s, a);
  return a.either("on", "off") ? by_fix("graph_capture", s) : set("engine.enforce_eager", "true");
}

LeverEffect attention(const Scenario& s, const LeverArgument& a) {
  const std::string kind = a.word("kind");
  if (kind == "fused") return by_fix("fused_attention", s);
  if (kind == "split") return by_fix("kv_split", s);
  if (kind == "materialised") return set("stack.lowering.prefill_attention", kind);
  a.fail();
}

LeverEffect fuse(const Scenario& s, const LeverArgument&) { return by_fix("compile_fusion", s); }

LeverEffect tune(const Scenario& s, const LeverArgument& a) {
  const std::string what = a.word("kernels", "gemm");
  if (what == "gemm") return by_fix("gemm_tuning", s);
  if (what == "all") return by_fix("faster_kernels", s);
  a.fail();
}

LeverEffect host(const Scenario& s, const LeverArgument& a) {
  require_serving(s, a);
  return a.either("async", "sync") ? by_fix("asynchronous_host", s)
                                   : set("engine.async_scheduling", "false");
}

/// As many sequences at once: the clients of a closed loop, each asking as often as before, the
/// microbatch of a training step, else the engine's limit.
LeverEffect batch(const Scenario& s, const LeverArgument& a) {
  const std::int64_t n = a.count("sequences");
  const std::string text = std::to_string(n);
  const auto larger = [n](std::int64_t now) { return n > now ? "larger_batch" : ""; };
  if (const auto* training = std::get_if<workloads::TrainingWorkload>(&s.workload))
    return set("workload.training.microbatch", text, larger(training->microbatch));
  LeverEffect effect;
  const auto* generated = std::get_if<workloads::GeneratedWorkload>(&s.workload);
  const auto* loop =
      generated != nullptr ? std::get_if<workloads::ClosedLoop>(&generated->arrivals) : nullptr;
  effect.fix = larger(loop == nullptr ? s.engine.max_num_seqs : loop->concurrency);
  if (loop == nullptr) {
    effect.overrides.emplace_back("engine.max_num_seqs", text);
    return effect;
  }
  const std::int64_t requests =
      std::max<std::int64_t>(n, generated->requests * n / loop->concurrency);
  effect.overrides = {{"workload.arrivals.closed_loop.concurrency", text},
                      {"workload.requests", std::to_string(requests)}};
  if (s.engine.max_num_seqs < n) effect.overrides.emplace_back("engine.max_num_seqs", text);
  return effect;
}

LeverEffect chunk(const Scenario& s, const LeverArgument& a) {
  require_serving(s, a);
  const std::int64_t n = a.count("tokens");
  return set("engine.max_num_batched_tokens", std::to_string(n),
             n < s.engine.max_num_batched_tokens ? "smaller_prefill_chunk" : "");
}

LeverEffect prefix_cache(const Scenario& s, const LeverArgument& a) {
  require_serving(s, a);
  return a.either("on", "off") ? by_fix("prefix_cache", s)
                               : set("engine.enable_prefix_caching", "false");
}

/// Drafts of a model, of n-grams, or of one layer of the model's own where none is named.
LeverEffect speculate(const Scenario& s, const LeverArgument& a) {
  require_serving(s, a);
  a.allow({"draft", "k", "acceptance"});
  LeverEffect effect = by_fix("speculative_decoding", s);
  constexpr const char* kConfig = "engine.speculative_config.";
  const auto put = [&](std::string_view key, const char* name) {
    if (const auto value = a.named(key))
      effect.overrides.emplace_back(std::string(kConfig) + name, *value);
  };
  put("draft", "model");
  put("k", "num_speculative_tokens");
  put("acceptance", "acceptance");
  return effect;
}

LeverEffect tensor_parallel(const Scenario& s, const LeverArgument& a) {
  const std::int64_t n = a.count("gpus");
  return set("engine.tensor_parallel_size", std::to_string(n),
             n > s.engine.parallelism.tensor ? "more_tensor_parallelism" : "");
}

LeverEffect copies(const Scenario&, const LeverArgument& a) {
  return set("engine.data_parallel_size", std::to_string(a.count("copies")));
}

LeverEffect gpu(const Scenario&, const LeverArgument& a) {
  return set("hw", a.word("hw"), "faster_device");
}

LeverEffect model(const Scenario&, const LeverArgument& a) { return set("model", a.word("model")); }

LeverEffect stack(const Scenario&, const LeverArgument& a) { return set("stack", a.word("stack")); }

LeverEffect rate(const Scenario& s, const LeverArgument& a) {
  const auto* generated = std::get_if<workloads::GeneratedWorkload>(&s.workload);
  if (generated == nullptr || !workloads::rate_of(generated->arrivals))
    throw core::ConfigError(a.text() +
                            ": the scenario's requests have no rate: they come from a trace, or "
                            "from clients that wait for their answers (batch:N)");
  constexpr std::array<const char*, 3> kNames{"poisson", "gamma", "constant"};
  std::string value = a.word("rate");
  if (value.find('/') == std::string::npos) value += " /s";
  const auto asked = core::parse_quantity(value, core::Dimension::rate);
  return set(fmt::format("workload.arrivals.{}.rate", kNames[generated->arrivals.index()]), value,
             asked && *asked > *workloads::rate_of(generated->arrivals) ? "more_load" : "");
}

LeverEffect none(const Scenario&, const LeverArgument&) { return {}; }

// A new lever is one line here.
constexpr std::array kTable{
    Lever{"quantize", "int4 | int8 | fp8 | w8a8 | mxfp4 | none", "number format of the weights",
          quantize},
    Lever{"kv_cache", "fp8 | bf16 | ...", "number format of the KV cache", kv_cache},
    Lever{"graphs", "on | off", "decode steps captured in graphs", graphs},
    Lever{"attention", "fused | split | materialised",
          "attention that writes no scores; decode attention split over long contexts", attention},
    Lever{"fuse", "", "every fusion that the stack can express", fuse},
    Lever{"tune", "gemm | all",
          "linear layers by the best kernels measured; all: half way to the floor", tune},
    Lever{"host", "async | sync", "the host plans a step while the device works", host},
    Lever{"batch", "N", "sequences at once: clients, or the engine's limit, or the microbatch",
          batch},
    Lever{"chunk", "N", "tokens that a step takes at most (max_num_batched_tokens)", chunk},
    Lever{"prefix_cache", "on | off", "blocks of equal prefixes are computed once", prefix_cache},
    Lever{
        "speculate", "[k=4,acceptance=0.7,draft=MODEL|ngram]",
        "so many drafts a step, each right so often; of one layer of its own if no draft is named",
        speculate},
    Lever{"tp", "N", "every matrix over N GPUs", tensor_parallel},
    Lever{"copies", "N", "data-parallel copies", copies},
    Lever{"rate", "R", "requests a second", rate},
    Lever{"gpu", "NAME", "another machine", gpu},
    Lever{"model", "NAME", "another model", model},
    Lever{"stack", "NAME", "another software stack", stack},
    Lever{"none", "", "nothing: what the others are compared with", none},
};

const Intervention* fix_named(std::string_view name) {
  for (const Intervention& i : interventions()) {
    if (i.fix == name) return &i;
  }
  return nullptr;
}

NamedChange by_name(const std::string& text, const Scenario& scenario) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string argument = colon == std::string::npos ? "" : text.substr(colon + 1);
  std::vector<std::string> known;
  for (const Lever& lever : kTable) {
    if (lever.name == name)
      return {text, lever.effect(scenario, LeverArgument(text, argument, lever.argument))};
    known.emplace_back(lever.name);
  }
  if (const Intervention* fix = fix_named(name)) {
    if (fix->overrides == nullptr)
      throw core::ConfigError(fmt::format("{}: cannot be simulated: {}", text, fix->how));
    if (!argument.empty())
      throw core::ConfigError(fmt::format("{}: expected no argument, got '{}'", text, argument));
    return {text, {fix->overrides(scenario).value_or(Overrides{}), name}};
  }
  for (const Intervention& i : interventions()) known.emplace_back(i.fix);
  throw core::ConfigError(
      fmt::format("no change is named '{}'{}", name, core::suggestion(name, known)));
}

}  // namespace

LeverArgument::LeverArgument(std::string_view lever, std::string_view argument,
                             std::string_view expected)
    : lever_(lever), text_(lever), expected_(expected) {
  while (!argument.empty()) {
    const std::size_t comma = argument.find(',');
    const std::string_view part = argument.substr(0, comma);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      values_.emplace_back("", part);
    else
      values_.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    argument = comma == std::string_view::npos ? "" : argument.substr(comma + 1);
  }
}

void LeverArgument::fail() const {
  const std::string name = lever_.substr(0, lever_.find(':'));
  throw core::ConfigError(expected_.empty()
                              ? fmt::format("{}: expected '{}' alone", lever_, name)
                              : fmt::format("{}: expected {}:{}", lever_, name, expected_));
}

std::string LeverArgument::word(std::string_view key, std::string_view fallback) const {
  if (values_.empty()) return std::string(fallback);
  return word(key);
}

std::string LeverArgument::word(std::string_view key) const {
  if (values_.size() != 1 || values_.front().second.empty() ||
      (!values_.front().first.empty() && values_.front().first != key))
    fail();
  return values_.front().second;
}

std::int64_t LeverArgument::count(std::string_view key) const {
  const std::string text = word(key);
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  constexpr std::int64_t kMost = std::int64_t{1} << 20U;
  if (error != std::errc{} || end != text.data() + text.size() || n < 1 || n > kMost)
    throw core::ConfigError(
        fmt::format("{}: expected a whole number from 1 to {}, got '{}'", lever_, kMost, text));
  return n;
}

std::optional<std::string> LeverArgument::named(std::string_view key) const {
  for (const auto& [known, value] : values_) {
    if (known == key) return value;
  }
  return std::nullopt;
}

void LeverArgument::allow(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : values_) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end() || value.empty()) fail();
  }
}

bool LeverArgument::either(std::string_view yes, std::string_view no) const {
  const std::string text = word("", yes);
  if (text == yes) return true;
  if (text == no) return false;
  fail();
}

std::span<const Lever> levers() { return kTable; }

NamedChange change_named(const std::string& text, const Scenario& scenario) {
  const std::size_t equals = text.find('=');
  // A key has dots or stands alone; a lever's arguments come after its colon.
  if (equals != std::string::npos && text.find(':') > equals)
    return {text, {{sim::parse_override(text)}, ""}};
  return by_name(text, scenario);
}

ChangedScenario with_changes(const Scenario& scenario, const std::vector<std::string>& names,
                             const core::ConfigLibrary& library) {
  ChangedScenario out{scenario, {}, {}};
  for (const std::string& name : names) {
    NamedChange change = change_named(name, out.scenario);
    if (!change.effect.overrides.empty())
      out.scenario = sim::read_scenario(out.scenario.document, change.effect.overrides, library);
    out.overrides.insert(out.overrides.end(), change.effect.overrides.begin(),
                         change.effect.overrides.end());
    out.changes.push_back(std::move(change));
  }
  return out;
}

}  // namespace ridgeline::whatif
