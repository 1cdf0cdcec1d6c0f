#include "diagnosis/quantity_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "diagnosis/values_possible.hpp"

namespace ridgeline::diagnosis {
namespace {

using core::Dimension;

/// What people also call a quantity.
constexpr std::pair<std::string_view, std::string_view> kAlsoCalled[]{
    {"tpot", "itl"},
    {"tpot_p99", "itl_p99"},
    {"output_throughput", "throughput"},
    {"batch", "concurrency"},
    {"batch_size", "concurrency"},
    {"max_concurrency", "concurrency"},
    {"tensor_parallel_size", "devices"},
    {"e2e_latency", "latency"},
};

struct Ending {
  Dimension dimension;
  std::string_view written;
  std::string_view means;
};
// The longer first: the first that fits is replaced.
constexpr Ending kEndings[]{
    {Dimension::rate, " per second", "/s"},
    {Dimension::rate, " a second", "/s"},
    {Dimension::rate, "/second", "/s"},
    {Dimension::rate, "/sec", "/s"},
    {Dimension::rate, " per minute", "/min"},
    {Dimension::flop_per_second, "FLOPS/s", "FLOP/s"},
    {Dimension::flop_per_second, "FLOPs/s", "FLOP/s"},
    {Dimension::flop_per_second, "FLOPS", "FLOP/s"},
    {Dimension::flop_per_second, "FLOPs", "FLOP/s"},
    {Dimension::flop_per_second, "TF/s", "TFLOP/s"},
    {Dimension::flop_per_second, "GF/s", "GFLOP/s"},
    {Dimension::flop_per_second, "PF/s", "PFLOP/s"},
    {Dimension::flop_per_second, "TOPS", "TOP/s"},
    {Dimension::flop_per_second, "TOPs", "TOP/s"},
    {Dimension::bytes_per_second, "B/sec", "B/s"},
    {Dimension::bytes_per_second, "Bps", "B/s"},
    {Dimension::time, "/token", ""},
    {Dimension::time, "/tok", ""},
    {Dimension::time, "/step", ""},
    {Dimension::time, "/it", ""},
    {Dimension::time, "/iteration", ""},
    {Dimension::time, "/request", ""},
    {Dimension::time, "/req", ""},
    {Dimension::time, " per token", ""},
    {Dimension::time, " per step", ""},
    {Dimension::time, " per request", ""},
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// A unit of something, or a prefix of one: not the name of what is counted.
bool is_unit(std::string_view word) {
  if (word.size() < 2) return true;
  for (const Dimension dimension :
       {Dimension::bytes, Dimension::flop, Dimension::time, Dimension::bytes_per_second}) {
    const auto& units = core::units_of(dimension);
    if (std::any_of(units.begin(), units.end(), [&](const auto& u) { return u.name == word; }))
      return true;
  }
  return false;
}

/// "160 output tokens/s" as "160 /s".
std::string without_noun(std::string text) {
  const std::size_t stroke = text.rfind('/');
  if (stroke == std::string::npos) return text;
  std::size_t begin = stroke;
  while (begin > 0) {
    std::size_t word = begin;
    while (word > 0 && (is_letter(text[word - 1]) || text[word - 1] == '_')) --word;
    if (word == begin || is_unit(std::string_view(text).substr(word, begin - word))) break;
    begin = word;
    while (begin > 0 && text[begin - 1] == ' ') --begin;
  }
  return text.substr(0, begin) + text.substr(stroke);
}

/// "4 of 108", "1580 MHz of 1965 MHz" as a fraction.
std::optional<double> part_of(std::string_view text) {
  const std::size_t at = text.find(" of ");
  if (at == std::string_view::npos) return std::nullopt;
  std::string part(text.substr(0, at));
  std::string whole(text.substr(at + 4));
  const auto unit = [](const std::string& side) {
    std::size_t begin = side.size();
    while (begin > 0 && is_letter(side[begin - 1])) --begin;
    return side.substr(begin);
  };
  const std::string of_part = unit(part);
  const std::string of_whole = unit(whole);
  const bool same = of_part.empty() || of_part == of_whole;
  if (same) {
    part.resize(part.size() - of_part.size());
    whole.resize(whole.size() - of_whole.size());
  }
  const Dimension dimension = same ? Dimension::none : Dimension::bytes;
  const auto x = core::parse_quantity(part, dimension);
  const auto y = core::parse_quantity(whole, dimension);
  if (!x || !y || !(*y > 0.0)) return std::nullopt;
  return *x / *y;
}

/// Requests where tokens are meant, or tokens where requests are: a factor of hundreds.
bool counts_another_thing(std::string_view written, std::string_view name) {
  const bool of_requests = name.starts_with("request");
  return written.find(of_requests ? "tok" : "req") != std::string_view::npos;
}

std::string expected(Dimension dimension, std::string_view name) {
  if (dimension == Dimension::rate)
    return name.starts_with("request") ? "a rate like '5.5 requests/s'"
                                       : "a rate like '160 tokens/s'";
  return core::expected_text(dimension) + " (a range 'a-b', '~a' and '=a' are understood)";
}

}  // namespace

std::string plainly_written(std::string_view text, Dimension dimension) {
  std::string out(text);
  for (const Ending& ending : kEndings) {
    if (ending.dimension != dimension || !out.ends_with(ending.written)) continue;
    out.replace(out.size() - ending.written.size(), ending.written.size(), ending.means);
    break;
  }
  return dimension == Dimension::rate ? without_noun(std::move(out)) : out;
}

Value read_value(const core::Reader& in, std::string_view key, Dimension dimension, bool whole,
                 std::string_view means) {
  const std::string_view name = means.empty() ? key : means;
  const bool zero = may_be_zero(name, dimension);
  const std::string& written = in.scalar(key, expected(dimension, name));
  const std::string text = plainly_written(written, dimension);
  if (dimension == Dimension::rate && counts_another_thing(written, name))
    in.fail(key, expected(dimension, name));
  core::Interval bounds;
  const auto ratio = dimension == Dimension::fraction ? part_of(text) : std::nullopt;
  if (ratio) {
    bounds = core::Interval(*ratio);
  } else if (const auto exact = whole ? core::parse_quantity(text, dimension) : std::nullopt) {
    in.require(*exact == std::floor(*exact), key,
               zero ? "a whole number of zero or more" : "a whole number above zero");
    bounds = core::Interval(*exact);
  } else if (const auto typed = core::parse_interval(text, dimension)) {
    bounds = *typed;
  } else {
    in.fail(key, expected(dimension, name));
  }
  const double middle = bounds.middle();
  if (dimension == Dimension::fraction) {
    if (middle < 0.0 || middle > 1.0)
      in.fail(key, "a fraction between 0 and 1", core::per_cent_hint(text));
    bounds = core::clamp(bounds, 0.0, 1.0);
  } else {
    in.require(zero ? middle >= 0.0 : middle > 0.0, key,
               zero ? "zero or more" : "a value above zero");
    in.require(middle <= kMostSensible && (middle == 0.0 || middle >= kLeastSensible), key,
               "a value from 1e-12 to 1e18");
    bounds.low = std::max(bounds.low, 0.0);
  }
  const std::string path =
      in.path().empty() ? std::string(key) : in.path() + "." + std::string(key);
  return {bounds, std::clamp(middle, bounds.low, bounds.high), Origin::given, path};
}

Value read_value(const core::Reader& in, std::string_view key, const Field& field) {
  return read_value(in, key, field.dimension, field.whole, field.key);
}

std::string_view own_name(std::string_view key) {
  for (const auto& [alias, meaning] : kAlsoCalled) {
    if (alias == key) return meaning;
  }
  return key;
}

std::vector<std::string_view> also_called(std::string_view name) {
  std::vector<std::string_view> out;
  for (const auto& [alias, meaning] : kAlsoCalled) {
    if (meaning == name) out.push_back(alias);
  }
  return out;
}

std::string_view key_of(const core::Node& map, std::string_view name) {
  if (map.find(name) != nullptr) return name;
  for (const auto& [alias, meaning] : kAlsoCalled) {
    if (meaning == name && map.find(alias) != nullptr) return alias;
  }
  return "";
}

}  // namespace ridgeline::diagnosis
