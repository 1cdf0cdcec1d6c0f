// llama-bench's Markdown table. "tg128" generates 128 tokens of one sequence, "pp512" reads a
// prompt of 512, and "pp512+tg128" does both and is neither rate. The two tests are apart: the
// sequence that is generated had no prompt.

#include <algorithm>
#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 2> kMarkers{"| model", "|model"};

/// "1.54 B" parameters as a number.
std::string parameters_of(std::string_view cell) {
  const auto number = number_at(cell);
  if (!number) return {};
  if (number->rest == "B") return number->digits + "e9";
  if (number->rest == "M") return number->digits + "e6";
  return {};
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& out) override {
    const auto cells = cells_of(line.body);
    if (cells.size() < 3) return close();
    if (cells.front() == "model" && cells.back() == "t/s") {
      header_.assign(cells.begin(), cells.end());
      return true;
    }
    if (header_.size() != cells.size()) return close();
    if (cells.front().find_first_not_of("-: ") == std::string_view::npos) return true;
    take(cells, line, out.facts);
    return true;
  }
  [[nodiscard]] bool is_open() const override { return !header_.empty(); }

 private:
  bool close() {
    header_.clear();
    return false;
  }

  void take(const std::vector<std::string_view>& cells, const Line& line, Gathered& out) const {
    const auto cell = [&](std::string_view column) {
      const auto it = std::find(header_.begin(), header_.end(), column);
      return it == header_.end() ? std::string_view{}
                                 : cells[static_cast<std::size_t>(it - header_.begin())];
    };
    const auto text = [&](std::string_view key, std::string_view column) {
      out.add(key, std::string(cell(column)), line);
    };
    text("model.name", "model");
    if (cell("size").ends_with("iB")) text("model.weight_bytes", "size");
    out.add("model.parameters", parameters_of(cell("params")), line);
    text("engine.n_gpu_layers", "ngl");
    out.add("engine.flash_attn", truth_text(cell("fa")), line);
    text("engine.n_batch", "n_batch");
    text("engine.n_ubatch", "n_ubatch");
    const std::string_view test = cell("test");
    const auto rate = number_at(cell("t/s"));
    if (!rate || contains(test, "+")) return;
    if (test.starts_with("pp")) {
      out.add("measured.prompt_throughput", rate->digits + " /s", line);
    } else if (test.starts_with("tg")) {
      out.add("measured.throughput", rate->digits + " /s", line);
      out.add("serving.concurrency", "1", line);
      if (const auto tokens = number_at(test.substr(2)))
        out.add("serving.output_tokens", tokens->digits, line);
    }
  }

  std::vector<std::string> header_;
};

}  // namespace

extern const PastedFormat kLlamaBench{"llama-bench", "the Markdown table of llama-bench", kMarkers,
                                      make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
