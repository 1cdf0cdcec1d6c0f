#include "workloads/lengths.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/law.hpp"
#include "workloads/trace_formats.hpp"

namespace ridgeline::workloads {
namespace {

using ReadLength = LengthLaw (*)(const core::Reader&);

LengthLaw read_fixed(const core::Reader& in) {
  return FixedLength{in.integer("fixed", 1, kMostTokens)};
}

LengthLaw read_uniform(const core::Reader& law) {
  const core::Reader in = law.child("uniform");
  UniformLength out{.low = in.integer("low", 1, kMostTokens),
                    .high = in.integer("high", 1, kMostTokens)};
  in.require(out.low <= out.high, "high", "a number of tokens not below 'low'");
  return out;
}

LengthLaw read_lognormal(const core::Reader& law) {
  const core::Reader in = law.child("lognormal");
  LognormalLength out{.median = in.get<double>("median"), .sigma = in.get<double>("sigma")};
  constexpr double kWidest =
      10.0;  // the middle two thirds from median / 22,000 to 22,000 times the median
  in.require(out.median >= 1.0 && out.median <= static_cast<double>(kMostTokens), "median",
             "a number of tokens from 1 to " + std::to_string(kMostTokens));
  in.require(out.sigma > 0.0 && out.sigma <= kWidest, "sigma", "a number above 0 and at most 10");
  if (in.has("min")) out.min = in.integer("min", 1, kMostTokens);
  if (in.has("max")) out.max = in.integer("max", 1, kMostTokens);
  in.require(out.min <= out.max, in.has("max") ? "max" : "min", "'min' not above 'max'");
  return out;
}

LengthLaw read_quantiles(const core::Reader& in) {
  QuantileLength out;
  out.quantiles = in.integers("quantiles", 1, kMostTokens);
  in.require(out.quantiles.size() >= 2, "quantiles", "at least the shortest and the longest length");
  in.require(std::is_sorted(out.quantiles.begin(), out.quantiles.end()), "quantiles",
             "lengths in ascending order");
  return out;
}

LengthLaw read_empirical(const core::Reader& in) {
  return EmpiricalLength{read_trace_path(in, "empirical")};
}

struct Draw {
  const core::RandomStream& stream;
  const std::vector<std::int64_t>& observed;
  std::uint64_t n;

  std::int64_t operator()(const FixedLength& law) const { return law.tokens; }
  std::int64_t operator()(const UniformLength& law) const {
    return stream.uniform_int(n, law.low, law.high);
  }
  std::int64_t operator()(const LognormalLength& law) const {
    const double tokens = core::lognormal_quantile(stream.uniform(n), law.median, law.sigma);
    // Clamped before it is rounded: the tail may lie beyond what an integer holds.
    return std::llround(
        std::clamp(tokens, static_cast<double>(law.min), static_cast<double>(law.max)));
  }
  std::int64_t operator()(const QuantileLength& law) const {
    const double at = stream.uniform(n) * static_cast<double>(law.quantiles.size() - 1);
    const std::size_t below = std::min(static_cast<std::size_t>(at), law.quantiles.size() - 2);
    return std::llround(std::lerp(static_cast<double>(law.quantiles[below]),
                                  static_cast<double>(law.quantiles[below + 1]),
                                  at - static_cast<double>(below)));
  }
  std::int64_t operator()(const EmpiricalLength&) const {
    const auto last = static_cast<std::int64_t>(observed.size()) - 1;
    return observed[static_cast<std::size_t>(stream.uniform_int(n, 0, last))];
  }
};

}  // namespace

std::string_view key_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::prompt:
      return "prompt_tokens";
    case TokenKind::output:
      return "output_tokens";
  }
  throw core::InvariantError("unknown kind of tokens");
}

LengthLaw read_length_law(const core::Reader& in, TokenKind kind) {
  static const std::vector<core::Choice<ReadLength>> laws{
      {"fixed", read_fixed},
      {"uniform", read_uniform},
      {"lognormal", read_lognormal},
      {"quantiles", read_quantiles},
      {"empirical", read_empirical},
  };
  const std::string_view key = key_of(kind);
  const core::Node* found = in.node().find(key);
  const bool bare = found != nullptr && found->kind == core::Node::Kind::scalar;
  if (bare) return FixedLength{in.integer(key, 1, kMostTokens)};
  return read_law(in, key, laws);
}

Lengths::Lengths(const LengthLaw& law, TokenKind kind, std::uint64_t seed)
    : law_(law), stream_(seed, key_of(kind)) {
  if (const auto* empirical = std::get_if<EmpiricalLength>(&law_)) {
    empirical->trace.require_file();
    const TraceFile trace = read_trace(empirical->trace.path);
    notes_ = trace.notes(empirical->trace.path.string());
    observed_.reserve(trace.requests.size());
    for (const Request& request : trace.requests) {
      observed_.push_back(kind == TokenKind::prompt ? request.prompt_tokens
                                                    : request.output_tokens);
    }
  }
}

std::int64_t Lengths::tokens_of(std::uint64_t request) const {
  return std::visit(Draw{stream_, observed_, request}, law_);
}

}  // namespace ridgeline::workloads
