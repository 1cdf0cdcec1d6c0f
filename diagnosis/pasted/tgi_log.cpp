// A line that text-generation-inference's router writes for every request.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/rows.hpp"
#include "diagnosis/pasted/series.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 1> kMarkers{"time_per_token=\""};

struct Field {
  std::string_view marker;
  std::string_view key;
};
constexpr std::array<Field, 3> kFields{{{"time_per_token=\"", "measured.tpot"},
                                        {"queue_time=\"", "measured.queue_time"},
                                        {"total_time=\"", "measured.e2e"}}};

/// Rust prints 49.382µs, 14.8ms or 1.2s.
std::optional<Number> duration_after(std::string_view text, std::string_view marker) {
  auto number = number_after(text, marker);
  if (!number) return std::nullopt;
  number->rest = time_unit(number->rest.substr(0, number->rest.find('"')));
  return number->rest.empty() ? std::nullopt : number;
}

double seconds_of(const Number& number) {
  constexpr double kMilli = 1e-3;
  constexpr double kMicro = 1e-6;
  constexpr double kNano = 1e-9;
  return number.value * (number.rest == "ms"   ? kMilli
                         : number.rest == "us" ? kMicro
                         : number.rest == "ns" ? kNano
                                               : 1.0);
}

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& /*out*/) override {
    Series<kFields.size()>::Values values{};
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const auto number = duration_after(line.text, kFields[i].marker);
      values[i] = number ? seconds_of(*number) : kAbsent;
    }
    requests_.add(line, values, false);
    return true;
  }

  void finish(Findings& out) override {
    requests_.finish("TGI requests", out, [&](std::size_t i, const Line& line) {
      const auto number = duration_after(line.text, kFields[i].marker);
      if (!number || number->value == 0.0) return;
      out.facts.add(kFields[i].key, number->digits + " " + std::string(number->rest), line,
                    Source::sampled);
    });
  }

 private:
  Series<kFields.size()> requests_;
};

}  // namespace

extern const PastedFormat kTgiLog{"TGI log",
                                  "the router's line for a request (text-generation-inference)",
                                  kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
