// `vllm bench throughput` and `vllm bench latency`, and their scripts before. Older versions print
// one number of tokens per second, which counts prompts.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/rows.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 6> kMarkers{
    "Throughput: ", "otal num prompt tokens", "otal num output tokens",
    "Avg latency:", "% percentile latency:",  "Profiling iterations"};

constexpr std::array<RowRule, 4> kRows{{
    {"total num prompt tokens", "serving.total_prompt_tokens", Kind::count},
    {"total num output tokens", "serving.total_output_tokens", Kind::count},
    {"avg latency", "measured.e2e", Kind::time},
    {"profiling iterations", "", Kind::silent},
}};

/// "Throughput: 34.14 requests/s, 17466.30 total tokens/s, 8739.16 output tokens/s"
bool take_throughput(std::string_view values, const Line& line, Gathered& out) {
  bool known = false;
  bool output = false;
  std::string bare;
  while (const auto number = number_at(values)) {
    const std::size_t comma = number->rest.find(", ");
    const std::string_view unit = trim(number->rest.substr(0, comma));
    const std::string rate = number->digits + " /s";
    known = true;
    if (unit == "requests/s") {
      out.add("measured.requests_per_second", rate, line);
    } else if (unit == "total tokens/s") {
      out.add("measured.total_throughput", rate, line);
    } else if (unit == "output tokens/s") {
      out.add("measured.throughput", rate, line);
      output = true;
    } else if (unit == "tokens/s") {
      bare = rate;
    } else {
      out.doubt(line, "a throughput that does not say of what");
    }
    if (comma == std::string_view::npos) break;
    values = trim(number->rest.substr(comma + 2));
  }
  if (!bare.empty() && !output) {
    if (contains(line.text, "requests/s")) {
      out.add("measured.total_throughput", bare, line);
      out.doubt(line, "tokens/s beside requests/s counts prompts and output together");
    } else {
      out.doubt(line, "tokens/s that may or may not count prompts");
    }
  }
  return known;
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    if (line.body.starts_with("Throughput: "))
      return take_throughput(*after(line.body, "Throughput: "), line, out.facts);
    const auto row = row_of(line.body);
    if (!row) return false;
    if (take_row(*row, kRows, line, out.facts)) return true;
    if (!row->label.ends_with("% percentile latency")) return false;
    const auto percent = number_at(row->label);
    const auto value = value_of(*row, Kind::time);
    if (percent && value) out.facts.add("measured.e2e_p" + percent->digits, *value, line);
    return true;
  }
};

}  // namespace

extern const PastedFormat kOfflineBenchmark{
    "offline benchmark",
    "`vllm bench throughput` and `vllm bench latency`, and the scripts before them", kMarkers,
    make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
