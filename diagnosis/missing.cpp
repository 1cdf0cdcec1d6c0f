#include "diagnosis/missing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/error.hpp"
#include "diagnosis/complete.hpp"
#include "diagnosis/field_guide.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using core::Dimension;

constexpr std::size_t kSteps = 9;
constexpr int kBisections = 5;       // a border to a thirtieth of a step
constexpr double kReadOff = 0.02;    // how exactly somebody reads a number off a screen
constexpr double kTooLittle = 0.02;  // a change that nobody would act on
constexpr double kStartling = 0.02;  // confidences that differ by less read the same

struct Answer {
  double value = 0.0;
  Regime regime = Regime::mixed;
  double confidence = 0.0;
};

std::size_t contradictions(const Diagnosis& d) {
  const auto unexplained = [](const Inconsistency& i) { return !i.explained; };
  return static_cast<std::size_t>(
             std::count_if(d.inconsistencies.begin(), d.inconsistencies.end(), unexplained)) +
         (d.time_budget && d.time_budget->overfull ? 1U : 0U);
}

/// How far one diagnosis lies from another, 0 to 1.
double distance(Regime a, double sure_a, Regime b, double sure_b) {
  const auto belief = [](Regime regime, double sure, std::size_t at) {
    return kRegimeNames[at] == name_of(regime)
               ? sure
               : (1.0 - sure) / static_cast<double>(kRegimeNames.size() - 1);
  };
  double sum = 0.0;
  for (std::size_t i = 0; i < kRegimeNames.size(); ++i)
    sum += std::abs(belief(a, sure_a, i) - belief(b, sure_b, i));
  return 0.5 * sum;
}

class Asker {
 public:
  explicit Asker(const Evidence& evidence)
      : evidence_(evidence),
        known_(completed(evidence)),
        window_(work_of(known_).window),
        base_(diagnose(evidence)) {}

  [[nodiscard]] std::optional<Missing> ask(const FieldGuide& guide) const {
    const Field* field = find_field(guide.field);
    if (guide.low.empty() || field == nullptr || is_known(guide.field) || says_the_same(guide))
      return std::nullopt;
    const bool of_training = field->key == "microbatch" || field->key == "sequence_tokens";
    if (of_training != (window_ == Window::training) && of_training) return std::nullopt;
    const auto low = core::parse_quantity(guide.low, field->dimension);
    const auto high = core::parse_quantity(guide.high, field->dimension);
    if (!low || !high) return std::nullopt;
    const auto with = [&](double x) {
      Evidence e = evidence_;
      const double least = field->whole ? x : x * (1.0 - kReadOff);
      const double most = field->whole ? x : x * (1.0 + kReadOff);
      const bool part = field->dimension == Dimension::fraction;
      field->at(e) = Value({least, part ? std::min(most, 1.0) : most}, x, Origin::given,
                           std::string(guide.field));
      return e;
    };
    Missing out;
    out.path = field->path();
    out.meaning = field->meaning;
    out.dimension = field->dimension;
    if (!answered(out, values(*low, *high, *field), with, field->whole)) return std::nullopt;
    return out;
  }

  [[nodiscard]] std::optional<Missing> ask_eager() const {
    if (evidence_.engine.enforce_eager || window_ == Window::training || window_ == Window::kernel)
      return std::nullopt;
    const auto with = [&](double x) {
      Evidence e = evidence_;
      e.engine.enforce_eager = x > 0.5;
      return e;
    };
    Missing out;
    out.path = "engine.enforce_eager";
    out.meaning = "true: no graphs are captured";
    out.is_switch = true;
    if (!answered(out, {0.0, 1.0}, with, true)) return std::nullopt;
    return out;
  }

 private:
  using With = std::function<Evidence(double)>;

  [[nodiscard]] bool is_known(std::string_view path) const {
    Evidence copy = known_;  // the table of fields hands out references that may be written through
    const Field* field = find_field(path);
    return field != nullptr && field->at(copy).has_value();
  }

  [[nodiscard]] bool says_the_same(const FieldGuide& guide) const {
    std::string_view rest = guide.instead;
    while (!rest.empty()) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      if (is_known(rest.substr(0, blank))) return true;
      rest = rest.substr(std::min(blank + 1, rest.size()));
    }
    return false;
  }

  static std::vector<double> values(double low, double high, const Field& field) {
    std::vector<double> out;
    const bool equal_steps = field.dimension == Dimension::fraction || low <= 0.0;
    for (std::size_t i = 0; i < kSteps; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(kSteps - 1);
      double x = equal_steps ? low + t * (high - low) : low * std::pow(high / low, t);
      if (field.whole) x = std::round(x);
      if (out.empty() || x > out.back()) out.push_back(x);
    }
    return out;
  }

  /// Nothing where the value contradicts what is known, or is of another question.
  [[nodiscard]] std::optional<Answer> answer(double x, const With& with) const {
    const Evidence e = with(x);
    if (work_of(completed(e)).window != window_) return std::nullopt;
    try {
      const Diagnosis d = diagnose(e);
      if (contradictions(d) > contradictions(base_)) return std::nullopt;
      return Answer{x, d.regime, d.confidence};
    } catch (const core::ConfigError&) {
      return std::nullopt;  // a value that cannot be
    }
  }

  /// Where between two values of different regimes the first one ends.
  [[nodiscard]] double border(const Answer& below, const Answer& above, const With& with) const {
    double low = below.value;
    double high = above.value;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = 0.5 * (low + high);
      const auto between = answer(middle, with);
      if (between && between->regime == below.regime) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return 0.5 * (low + high);
  }

  bool answered(Missing& out, const std::vector<double>& values, const With& with,
                bool whole) const {
    std::vector<Answer> answers;
    for (const double x : values) {
      if (const auto a = answer(x, with)) answers.push_back(*a);
    }
    if (answers.empty()) return false;
    double sum = 0.0;
    for (const Answer& a : answers)
      sum += distance(a.regime, a.confidence, base_.regime, base_.confidence);
    out.separates = sum / static_cast<double>(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Answer& a = answers[i];
      if (i == 0 || a.regime != out.bands.back().regime) {
        double from = a.value;
        if (i > 0 && !out.is_switch) {
          from = border(answers[i - 1], a, with);
          if (whole) from = std::ceil(from);
          out.bands.back().values.high = from;
        }
        out.bands.push_back({{from, a.value}, a.regime, {a.confidence, a.confidence}});
      }
      Band& band = out.bands.back();
      band.values.high = a.value;
      band.confidence.low = std::min(band.confidence.low, a.confidence);
      band.confidence.high = std::max(band.confidence.high, a.confidence);
    }
    out.sentence = sentence(out);
    return out.separates >= kTooLittle && depends(out);
  }

  /// A quantity whose value decides nothing is no evidence, whatever its mere presence does.
  [[nodiscard]] bool depends(const Missing& m) const {
    const Band& first = m.bands.front();
    return m.bands.size() > 1 || first.regime == base_.regime ||
           first.confidence.high - first.confidence.low > 1e-6;
  }

  static std::string value_text(double x, Dimension dimension) {
    // Borders are searched for, not known to three digits.
    if (dimension == Dimension::fraction) return fmt::format("{:.0f} %", 100.0 * x);
    if (dimension == Dimension::none && x >= 1e6) return fmt::format("{:.2g}", x);
    return quantity_text(x, dimension);
  }

  [[nodiscard]] static std::string sure(const core::Interval& confidence) {
    const double low = 100.0 * confidence.low;
    const double high = 100.0 * confidence.high;
    return confidence.high - confidence.low < kStartling
               ? fmt::format("{:.0f} %", high)
               : fmt::format("{:.0f} to {:.0f} %", low, high);
  }

  [[nodiscard]] std::string sentence(const Missing& m) const {
    const auto is = [](const Band& band) {
      return fmt::format("{} ({})", name_of(band.regime), sure(band.confidence));
    };
    if (m.bands.size() == 1) {
      const Band& only = m.bands.front();
      return only.regime == base_.regime
                 ? fmt::format("{} whatever it is, with confidence {} instead of {:.0f} %",
                               name_of(only.regime), sure(only.confidence),
                               100.0 * base_.confidence)
                 : fmt::format("whatever it is, {} instead of {}", is(only), name_of(base_.regime));
    }
    if (m.is_switch)
      return fmt::format("if true it is {}, if false {}", is(m.bands.back()), is(m.bands.front()));
    const auto at = [&](double x) { return value_text(x, m.dimension); };
    if (m.bands.size() == 2) {
      return fmt::format("above about {} it is {}, below {}", at(m.bands.back().values.low),
                         is(m.bands.back()), is(m.bands.front()));
    }
    std::string out;
    for (std::size_t i = 0; i < m.bands.size(); ++i) {
      const Band& band = m.bands[i];
      if (i == 0) {
        out = fmt::format("below about {} it is {}", at(band.values.high), is(band));
      } else if (i + 1 < m.bands.size()) {
        out += fmt::format(", up to {} {}", at(band.values.high), is(band));
      } else {
        out += fmt::format(", above {}", is(band));
      }
    }
    return out;
  }

  const Evidence& evidence_;
  Evidence known_;
  Window window_;
  Diagnosis base_;
};

}  // namespace

std::vector<Missing> missing_numbers(const Evidence& evidence, std::size_t most) {
  const Asker asker(evidence);
  std::vector<Missing> out;
  for (const FieldGuide& guide : field_guides()) {
    if (auto missing = asker.ask(guide)) out.push_back(std::move(*missing));
  }
  if (auto missing = asker.ask_eager()) out.push_back(std::move(*missing));
  std::stable_sort(out.begin(), out.end(),
                   [](const Missing& a, const Missing& b) { return a.separates > b.separates; });
  if (out.size() > most) out.resize(most);
  return out;
}

std::vector<std::string> unknown_things(const Evidence& as_told) {
  const Evidence e = completed(as_told);
  const Work w = work_of(e);
  std::vector<std::string> out;
  const Machine& machine = e.machine;
  if (!machine.hbm_bandwidth || !machine.hbm_capacity || machine.peak.empty()) {
    std::string lacks;
    const auto lack = [&](bool is_missing, std::string_view what) {
      if (is_missing) lacks += (lacks.empty() ? "" : ", ") + std::string(what);
    };
    lack(!machine.hbm_bandwidth, "hbm_bandwidth (2.04 TB/s)");
    lack(!machine.hbm_capacity, "hbm_capacity (80 GB)");
    lack(machine.peak.empty(), "peak ({bf16: 312 TFLOP/s}, dense)");
    out.push_back(
        fmt::format("machine{}: name one that is shipped ('ridgeline list'), or take from "
                    "its datasheet: {}",
                    machine.name.empty() ? "" : " '" + machine.name + "'", lacks));
  }
  const Model& model = e.model;
  const std::string who = model.name.empty() ? "model" : "model '" + model.name + "'";
  if (!w.weight_bytes && !w.parameters) {
    out.push_back(
        fmt::format("{}: name one that is shipped ('ridgeline list'), its repository or "
                    "the path of its config.json; or give parameters (8e9) and "
                    "weight_dtype (bf16)",
                    who));
  } else if (!model.layers || !either(model.kv_heads, model.heads) ||
             !either(model.head_dim, model.hidden)) {
    out.push_back(
        fmt::format("{}: its KV cache and attention need layers, kv_heads and head_dim, "
                    "as its config.json has them (num_hidden_layers, "
                    "num_key_value_heads, head_dim)",
                    who));
  }
  return out;
}

}  // namespace ridgeline::diagnosis
