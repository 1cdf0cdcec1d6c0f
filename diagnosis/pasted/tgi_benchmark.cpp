// text-generation-benchmark's Markdown tables: parameters, latencies, throughputs, each for several
// batch sizes. Its prefill "tokens/secs" are sequences per second and are not read.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/rows.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 2> kMarkers{"| Parameter ", "| Step "};

constexpr std::array<RowRule, 3> kParameters{{
    {"model", "model.name", Kind::word},
    {"sequence length", "serving.prompt_tokens", Kind::count},
    {"decode length", "serving.output_tokens", Kind::count},
}};

/// "9.20 ms" as evidence has it.
std::string with_unit(std::string_view cell, bool is_rate) {
  const auto number = number_at(cell);
  if (!number) return {};
  if (is_rate) return number->rest == "tokens/secs" ? number->digits + " /s" : std::string{};
  const std::string_view unit = time_unit(number->rest);
  return unit.empty() ? std::string{} : number->digits + " " + std::string(unit);
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const auto cells = cells_of(line.body);
    if (cells.size() < 2) return close();
    if (cells[0].find_first_not_of("-: ") == std::string_view::npos) return table_ != Table::none;
    if (cells[0] == "Parameter") return open(Table::parameters);
    if (cells[0] == "Step" && cells.size() > 2 && cells[1] == "Batch Size")
      return open(Table::steps);
    if (table_ == Table::parameters) {
      if (const auto row = row_of(line.body)) (void)take_row(*row, kParameters, line, out.facts);
      return true;
    }
    if (table_ != Table::steps || cells.size() < 3) return close();
    const bool is_rate = contains(cells[2], "/secs");
    const std::string value = with_unit(cells[2], is_rate);
    out.facts.add("serving.concurrency", std::string(cells[1]), line);
    if (cells[0] == "Prefill" && !is_rate) out.facts.add("measured.ttft", value, line);
    if (cells[0] == "Decode (token)") out.facts.add("measured.step_time", value, line);
    if (cells[0] == "Decode" && is_rate) out.facts.add("measured.throughput", value, line);
    return true;
  }
  [[nodiscard]] bool is_open() const override { return table_ != Table::none; }

 private:
  enum class Table : std::uint8_t { none, parameters, steps };
  bool open(Table table) {
    table_ = table;
    return true;
  }
  bool close() {
    table_ = Table::none;
    return false;
  }
  Table table_ = Table::none;
};

}  // namespace

extern const PastedFormat kTgiBenchmark{"TGI benchmark", "the tables of text-generation-benchmark",
                                        kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
