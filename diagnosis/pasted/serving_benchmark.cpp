// The summary of `vllm bench serve`, and of those that descend from the same script:
// benchmark_serving.py, SGLang's bench_serving, trtllm-serve's, EvalScope's table.
//
// Rows are known by their labels, so a summary that was cut, or put in a Markdown table, is read
// too. Total throughput counts prompts; output throughput is what servers are compared by.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/rows.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<RowRule, 34> kRows{{
    {"successful requests", "serving.requests", Kind::count},
    {"succeed requests", "serving.requests", Kind::count},
    {"failed requests", "serving.failed_requests", Kind::count},
    {"benchmark duration", "measured.duration", Kind::time},
    {"time taken for tests", "measured.duration", Kind::time},
    {"total input tokens", "serving.total_prompt_tokens", Kind::count},
    {"total generated tokens", "serving.total_output_tokens", Kind::count},
    {"total input text tokens", "", Kind::silent},
    {"total input vision tokens", "", Kind::silent},
    {"total generated tokens (retokenized)", "", Kind::silent},
    {"request throughput", "measured.requests_per_second", Kind::rate},
    {"request goodput", "", Kind::silent},
    {"input token throughput", "measured.prompt_throughput", Kind::rate},
    {"output token throughput", "measured.throughput", Kind::rate},
    {"peak output token throughput", "measured.peak_throughput", Kind::rate},
    {"total token throughput", "measured.total_throughput", Kind::rate},
    {"total throughput", "measured.total_throughput", Kind::rate},
    {"peak concurrent requests", "serving.peak_concurrency", Kind::count},
    {"accept length", "serving.acceptance_length", Kind::word},
    {"acceptance length", "serving.acceptance_length", Kind::word},
    {"backend", "", Kind::silent},
    {"burstiness factor", "", Kind::silent},
    {"total requests", "", Kind::silent},
    {"max itl", "", Kind::silent},
    {"request rate configured", "serving.request_rate", Kind::rate},
    {"average input tokens per request", "serving.prompt_tokens", Kind::count},
    {"average output tokens per request", "serving.output_tokens", Kind::count},
    {"average latency", "measured.e2e", Kind::time},
    {"average time to first token", "measured.ttft", Kind::time},
    {"average time per output token", "measured.tpot", Kind::time},
    {"average inter-token latency", "measured.itl", Kind::time},
    {"starting initial single prompt test run...", "", Kind::silent},
    {"traffic request rate", "", Kind::silent},  // these three below
    {"maximum request concurrency", "", Kind::silent},
}};

struct Metric {
  std::string_view written;
  std::string_view key;
};
constexpr std::array<Metric, 6> kMetrics{{{"ttft", "measured.ttft"},
                                          {"tpot", "measured.tpot"},
                                          {"itl", "measured.itl"},
                                          {"e2el", "measured.e2e"},
                                          {"e2e latency", "measured.e2e"},
                                          {"latency", "measured.e2e"}}};

constexpr std::array<std::string_view, 24> kMarkers{"requests:",
                                                    "uccessful requests",
                                                    "ucceed requests",
                                                    "ailed requests",
                                                    "enchmark duration",
                                                    "for tests",
                                                    "otal input",
                                                    "otal generated",
                                                    "hroughput",
                                                    "oncurren",
                                                    "request rate",
                                                    "TTFT",
                                                    "TPOT",
                                                    "ITL (ms)",
                                                    "E2E",
                                                    "ccept length",
                                                    "cceptance length",
                                                    "tokens per request",
                                                    "Average latency",
                                                    "verage time",
                                                    "nter-token",
                                                    "Backend:",
                                                    "goodput",
                                                    "single prompt test"};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const std::string_view body = line.body;
    if (is_open_ && (body.starts_with("----") || body.starts_with("====") ||
                     body.starts_with("|--") || body.starts_with("+--") || body.starts_with("+==")))
      return true;
    const bool in_summary = is_open_;
    is_open_ = false;
    if (contains(body, "Serving Benchmark Result")) return is_open_ = true;
    const auto row = row_of(body);
    if (!row) return false;
    is_open_ = take_load(*row, in_summary, line, out.facts) ||
               take_statistic(*row, line, out.facts) || take_row(*row, kRows, line, out.facts);
    return is_open_;
  }
  [[nodiscard]] bool is_open() const override { return is_open_; }

  void finish(Findings& out) override {
    if (!arrivals_line_.text.empty()) out.facts.add("serving.arrivals", arrivals_, arrivals_line_);
  }

 private:
  /// How the client offered its requests.
  bool take_load(const Row& row, bool in_summary, const Line& line, Gathered& out) {
    const auto number = number_at(row.value);
    if (row.label == "traffic request rate" || row.label == "request rate configured") {
      is_endless_ = row.value.starts_with("inf");
      if (number && number->value > 0.0) {
        out.add("serving.request_rate", number->digits + " /s", line);
        set_arrivals("open", line);
      } else if (is_endless_) {
        set_arrivals("saturated", line);
      }
      return true;
    }
    if (row.label == "maximum request concurrency" || row.label == "max request concurrency" ||
        row.label == "number of concurrency") {
      if (number && number->rest.empty() && number->value >= 1.0) {
        out.add("serving.max_concurrency", whole_text(number->value), line);
        if (number->value == 1.0) set_arrivals("one_at_a_time", line);
        // Without a rate the client keeps just so many in flight; with one it may be fewer.
        if (arrivals_ != "open")
          out.add("serving.concurrency", whole_text(number->value), line, Source::implied);
      }
      return true;
    }
    if (row.label == "concurrency" && in_summary) {  // SGLang: mean of those in flight
      if (number && number->value > 0.0)
        out.add("serving.concurrency", whole_text(number->value), line, Source::implied,
                Repeat::contradiction);
      return true;
    }
    return false;
  }

  void set_arrivals(std::string_view word, const Line& line) {
    arrivals_ = word;
    line_text_ = line.text;
    arrivals_line_ = line;
    arrivals_line_.text = line_text_;
  }

  /// "mean ttft", "p99.9 itl".
  static bool take_statistic(const Row& row, const Line& line, Gathered& out) {
    const std::size_t blank = row.label.find(' ');
    if (blank == std::string::npos) return false;
    const std::string_view statistic = std::string_view(row.label).substr(0, blank);
    const std::string_view what = std::string_view(row.label).substr(blank + 1);
    for (const Metric& metric : kMetrics) {
      if (what != metric.written) continue;
      std::string key(metric.key);
      if (statistic == "median" || (statistic.starts_with('p') && number_at(statistic.substr(1)))) {
        key += "_" + std::string(statistic);
      } else if (statistic != "mean" && statistic != "average") {
        return statistic == "std" || statistic == "max" || statistic == "min";
      }
      if (const auto value = value_of(row, Kind::time)) {
        out.add(key, *value, line);
      } else if (number_at(row.value)) {
        out.doubt(line, "a time without a unit");
      }
      return true;
    }
    return false;
  }

  bool is_open_ = false;
  bool is_endless_ = false;
  std::string arrivals_;
  std::string line_text_;
  Line arrivals_line_;
};

}  // namespace

extern const PastedFormat kServingBenchmark{
    "serving benchmark",
    "the summary of `vllm bench serve`, benchmark_serving.py, SGLang's bench_serving or EvalScope",
    kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
