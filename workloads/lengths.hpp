#pragma once
// How many tokens a prompt or an answer has. Each request's length is drawn for itself, and prompts
// apart from answers: fair for Azure's traces (rank correlation 0.07 and -0.02), wrong where long
// prompts have short answers.
//
//   prompt_tokens: 512                                              the same as {fixed: 512}
//   prompt_tokens: {uniform: {low: 10, high: 90}}                   both ends included
//   prompt_tokens: {lognormal: {median: 120, sigma: 0.8, max: 4096}}
//   prompt_tokens: {quantiles: [48, 85, 120, 186, 1021]}            the 0th, 25th, 50th ...
//   percentile prompt_tokens: {empirical: conv.csv}                            this column of a
//   trace, drawn with replacement

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/random.hpp"
#include "core/reader.hpp"
#include "workloads/limits.hpp"
#include "workloads/trace_path.hpp"

namespace ridgeline::workloads {

struct FixedLength {
  std::int64_t tokens = 1;
  bool operator==(const FixedLength&) const = default;
};
struct UniformLength {
  std::int64_t low = 1;
  std::int64_t high = 1;
  bool operator==(const UniformLength&) const = default;
};
/// exp(N(ln median, sigma)), rounded; what falls outside [min, max] becomes the bound.
struct LognormalLength {
  double median = 1.0;
  double sigma = 1.0;
  std::int64_t min = 1;
  std::int64_t max = kMostTokens;
  bool operator==(const LognormalLength&) const = default;
};
/// Quantiles at equal steps of probability, from the shortest to the longest; between two of them
/// every length is as likely, rounded to whole tokens.
struct QuantileLength {
  std::vector<std::int64_t> quantiles;  // at least two, ascending
  bool operator==(const QuantileLength&) const = default;
};
struct EmpiricalLength {
  TracePath trace;
  bool operator==(const EmpiricalLength&) const = default;
};
using LengthLaw =
    std::variant<FixedLength, UniformLength, LognormalLength, QuantileLength, EmpiricalLength>;

/// Which end of a request a length is of: the name of its random stream, its key in YAML, and its
/// column in a trace.
enum class TokenKind { prompt, output };
[[nodiscard]] std::string_view key_of(TokenKind kind);

/// The law at key_of(kind).
[[nodiscard]] LengthLaw read_length_law(const core::Reader& in, TokenKind kind);

/// A law ready to be drawn from: the n-th length is a function of (law, seed, kind, n).
class Lengths {
 public:
  /// Reads the trace of an empirical law; throws ConfigError when it cannot.
  Lengths(const LengthLaw& law, TokenKind kind, std::uint64_t seed);

  [[nodiscard]] std::int64_t tokens_of(std::uint64_t request) const;
  /// What was left out of an empirical law's trace.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  LengthLaw law_;
  core::RandomStream stream_;
  std::vector<std::int64_t> observed_;  // of an empirical law
  std::vector<std::string> notes_;
};

}  // namespace ridgeline::workloads
