#include "timeline/step_annotations.hpp"

#include <charconv>

namespace ridgeline::timeline {
namespace {

using Form = StepAnnotation::Form;

/// Reads a text from the left; once something does not fit, nothing fits.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool word(std::string_view expected) {
    good_ = good_ && rest_.starts_with(expected);
    if (good_) rest_.remove_prefix(expected.size());
    return good_;
  }
  /// Takes `expected` if it is next; no harm if not.
  bool maybe(std::string_view expected) {
    if (!good_ || !rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    good_ = good_ && error == std::errc{} && value >= 0;
    if (!good_) return 0;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

struct Sums {
  std::int64_t sequences = 0;
  std::int64_t q = 0;
  std::int64_t k = 0;
  std::int64_t qq = 0;
  std::int64_t qk = 0;
};

void set_prefill(StepSpan& step, const Sums& s) {
  step.prefill_sequences = s.sequences;
  step.prefill_tokens = s.q;
  step.prefill_context = s.k;
  step.prefill_qq = static_cast<double>(s.qq);
  step.prefill_qk = static_cast<double>(s.qk);
}

Sums detailed_sums(Scanner& in) {
  Sums s;
  s.sequences = in.number();
  in.word("(sq");
  s.q = in.number();
  in.word("sk");
  s.k = in.number();
  in.word("sqsq");
  s.qq = in.number();
  in.word("sqsk");
  s.qk = in.number();
  in.word(")");
  return s;
}

std::optional<StepAnnotation> vllm_detailed(std::string_view name) {
  Scanner in(name);
  in.word("execute_");
  static_cast<void>(in.number());  // all tokens
  in.word("_context_");
  const Sums context = detailed_sums(in);
  in.word("_generation_");
  const Sums generation = detailed_sums(in);
  if (!in.good()) return std::nullopt;
  StepAnnotation out{Form::vllm_detailed, {}};
  set_prefill(out.shape, context);
  out.shape.decode_sequences = generation.sequences;
  out.shape.decode_context = generation.k;
  return out;
}

Sums short_sums(Scanner& in) {
  Sums s;
  s.sequences = in.number();
  in.word("(");
  s.q = in.number();
  if (in.maybe("_")) s.qk = in.number();
  in.word(")");
  if (s.sequences == 1 && s.q > 0 && s.qk > 0) {  // one sequence: its sums are products
    s.k = s.qk / s.q;
    s.qq = s.q * s.q;
  }
  return s;
}

std::optional<StepAnnotation> vllm_native(std::string_view name) {
  Scanner in(name);
  in.word("execute_context_");
  const Sums context = short_sums(in);
  in.word("_generation_");
  const Sums generation = short_sums(in);
  if (!in.good()) return std::nullopt;
  StepAnnotation out{Form::vllm, {}};
  set_prefill(out.shape, context);
  out.shape.decode_sequences = generation.sequences;
  out.shape.decode_context = generation.qk;  // each has one q, or a few with speculation
  return out;
}

/// The number after " key=" or "[key=" in "… bs=2 toks=14721 …".
std::optional<std::int64_t> value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t after = at + key.size();
    const bool whole = at > 0 && (text[at - 1] == ' ' || text[at - 1] == '[') &&
                       after < text.size() && text[after] == '=';
    if (!whole) continue;
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + after + 1, text.data() + text.size(), value);
    if (error == std::errc{} && value >= 0) return value;
  }
  return std::nullopt;
}

std::optional<StepAnnotation> sglang(std::string_view name) {
  if (!name.starts_with("step[")) return std::nullopt;
  const auto number = [&](std::string_view key) { return value_of(name, key).value_or(0); };
  const std::int64_t sequences = number("bs");
  const bool detailed = value_of(name, "c_sq") || value_of(name, "g_sq");
  StepAnnotation out{detailed ? Form::sglang_detailed : Form::sglang, {}};
  if (detailed) {
    const std::int64_t decoding = number("g_sq");
    set_prefill(out.shape, {sequences - std::min(decoding, sequences), number("c_sq"),
                            number("c_sk"), number("c_sqsq"), number("c_sqsk")});
    out.shape.decode_sequences = decoding;
    out.shape.decode_context = number("g_sk");
  } else if (name.starts_with("step[DECODE")) {
    out.shape.decode_sequences = sequences;
  } else if (name.starts_with("step[EXTEND") || name.starts_with("step[MIXED")) {
    set_prefill(out.shape, {sequences, number("toks"), 0, 0,
                            0});  // of a mixed step the form does not say who decodes
  } else if (!value_of(name, "bs")) {
    return std::nullopt;
  }
  return out;
}

/// "ctx=[512, 688]" gives 1200.
std::int64_t sum_of_list(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  std::int64_t sum = 0;
  const char* next = text.data() + at + key.size();
  const char* const end = text.data() + text.size();
  while (next < end && *next != ']') {
    std::int64_t value = 0;
    const auto [after, error] = std::from_chars(next, end, value);
    if (error == std::errc{} && value > 0) sum += value;
    next = error == std::errc{} ? after : next + 1;
  }
  return sum;
}

std::optional<StepAnnotation> atom(std::string_view name) {
  const bool prefill = name.starts_with("prefill[");
  if ((!prefill && !name.starts_with("decode[")) || !value_of(name, "bs")) return std::nullopt;
  StepAnnotation out{Form::atom, {}};
  const std::int64_t sequences =
      *value_of(name, "bs");  // of "117/128" the first: the second is padding
  if (prefill) {
    Sums s{sequences, value_of(name, "tok").value_or(0), sum_of_list(name, "ctx=["), 0, 0};
    if (sequences == 1) {
      s.qq = s.q * s.q;
      s.qk = s.q * s.k;
    }
    set_prefill(out.shape, s);
  } else {
    out.shape.decode_sequences = sequences;
    out.shape.decode_context = sum_of_list(name, "ctx=[");
  }
  return out;
}

std::optional<StepAnnotation> profiler_step(std::string_view name) {
  Scanner in(name);
  in.word("ProfilerStep#");
  static_cast<void>(in.number());
  if (!in.good()) return std::nullopt;
  return StepAnnotation{Form::profiler_step, {}};
}

constexpr std::optional<StepAnnotation> (*kForms[])(std::string_view) = {
    vllm_detailed, vllm_native, sglang, atom, profiler_step};

}  // namespace

std::string_view name_of(StepAnnotation::Form form) {
  switch (form) {
    case Form::profiler_step:
      return "ProfilerStep";
    case Form::atom:
      return "ATOM";
    case Form::sglang:
      return "SGLang";
    case Form::vllm:
      return "vLLM";
    case Form::sglang_detailed:
      return "detailed SGLang";
    case Form::vllm_detailed:
      return "detailed vLLM";
  }
  return "";
}

std::optional<StepAnnotation> read_step_annotation(std::string_view name) {
  for (const auto form : kForms) {
    if (auto read = form(name)) return read;
  }
  return std::nullopt;
}

}  // namespace ridgeline::timeline
