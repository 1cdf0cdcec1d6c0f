#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.hpp"
#include "core/lower.hpp"
#include "diagnosis/explain.hpp"
#include "diagnosis/prose.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

std::string plain(double x) {
  return std::abs(x) < 999.5 ? fmt::format("{:.3g}", x) : number_text(x);
}

std::string amount(double x, const std::optional<Unit>& unit) {
  if (!unit) return plain(x);
  const auto [s, b, f, fraction] = *unit;
  if (fraction) return percent_text(x);
  if (!std::isfinite(x)) return plain(x);
  if (s == 1 && b == 0 && f == 0) return time_text(x);
  if (s == 0 && b == 1 && f == 0) return bytes_text(x);
  if (s == 0 && b == 0 && f == 1) return flop_text(x);
  if (s == -1 && b == 1 && f == 0) return bytes_text(x) + "/s";
  if (s == -1 && b == 0 && f == 1) return flop_text(x) + "/s";
  if (s == -1 && b == 0 && f == 0) return plain(x) + " /s";
  if (s == 0 && b == -1 && f == 1) return plain(x) + " FLOP/byte";
  return plain(x);
}

/// For programs: "s", "byte/s", "FLOP", "1" for a plain number, null where it cannot be told.
nlohmann::ordered_json unit_json(const std::optional<Unit>& unit) {
  if (!unit) return nullptr;
  std::string over;
  std::string under;
  const auto power = [&](std::string_view name, int exponent) {
    std::string& side = exponent > 0 ? over : under;
    for (int i = std::abs(exponent); i > 0; --i)
      side += (side.empty() ? "" : ".") + std::string(name);
  };
  power("FLOP", unit->flop);
  power("byte", unit->bytes);
  power("s", unit->seconds);
  if (over.empty()) over = "1";
  return under.empty() ? over : over + "/" + under;
}

class Text {
 public:
  explicit Text(const Explanation& e) : e_(e) {}

  std::string of(const Answer& answer) {
    std::string out;
    if (answer.kind == Asked::finding) out += wrapped("  " + answer.sentence, 4);
    if (answer.kind == Asked::fix || answer.kind == Asked::reject)
      out += wrapped("  " + answer.sentence + ":", 4);
    // Two lines of a ledger can be one number, which goes by the first name.
    const bool goes_by_another = answer.kind == Asked::ledger && answer.name != label(answer.step);
    if (goes_by_another) out += "  " + answer.name + ":\n";
    return out + tree(answer.step, goes_by_another ? 4 : 2);
  }

 private:
  [[nodiscard]] std::string label(std::size_t at) const {
    const Step& s = e_.steps[at];
    if (s.operation == Operation::constant) return amount(s.best, s.unit);
    return s.name.empty() ? fmt::format("[{}]", at) : s.name;
  }

  [[nodiscard]] std::string joined(const Step& s, std::string_view between) const {
    std::string out;
    for (const std::size_t i : s.from) out += (out.empty() ? "" : std::string(between)) + label(i);
    return out;
  }

  [[nodiscard]] std::string formula(const Step& s) const {
    switch (s.operation) {
      case Operation::sum:
        return joined(s, " + ");
      case Operation::difference:
        return joined(s, " - ");
      case Operation::product:
        return joined(s, " x ");
      case Operation::quotient:
        return joined(s, " / ");
      case Operation::larger:
        return "the larger of " + joined(s, " and ");
      case Operation::overlap:
        return joined(s, " within the bounds of ");
      case Operation::clamped:
        return fmt::format("{}, cut to {} to {}", label(s.from[0]), amount(s.bounds.low, s.unit),
                           amount(s.bounds.high, s.unit));
      case Operation::taken_as:
        return label(s.from[0]);
      case Operation::adjusted:
        return label(s.from[0]) + ", " + (s.text.empty() ? "set beside other numbers" : s.text);
      case Operation::computed:
        return s.text;
      case Operation::constant:
      case Operation::fact:
        break;
    }
    return s.text.empty() ? "of no known place" : s.text;
  }

  std::string tree(std::size_t at, std::size_t indent) {
    const Step& s = e_.steps[at];
    const std::string margin(indent, ' ');
    if (!said_.insert(at).second)
      return margin + fmt::format("{} = {}, as above\n", label(at), amount(s.best, s.unit));
    const std::string_view stop = s.operation == Operation::fact ? ", " : ": ";
    std::string out =
        wrapped(margin + fmt::format("{} = {}, {}{}{}", label(at), number_with_range(s),
                                     name_of(s.origin), stop, formula(s)),
                indent + 4);
    for (const std::size_t operand : s.from) {
      if (e_.steps[operand].operation != Operation::constant) out += tree(operand, indent + 2);
    }
    return out;
  }

  const Explanation& e_;
  std::set<std::size_t> said_;
};

/// "Weights_read" is "weights read".
std::string spelled(std::string_view name) {
  std::string out = core::lower(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

/// The answers of that name. ConfigError where there is none.
std::vector<const Answer*> answers_named(const Explanation& e, std::string_view quantity) {
  std::vector<const Answer*> out;
  std::vector<std::string> known;
  for (const Answer& answer : e.answers) {
    known.push_back(answer.name);
    if (spelled(answer.name) == spelled(quantity)) out.push_back(&answer);
  }
  if (out.empty()) {
    throw core::ConfigError(fmt::format("--explain: unknown quantity '{}'{}", quantity,
                                        core::suggestion(quantity, known)));
  }
  return out;
}

std::set<std::size_t> steps_of(const Explanation& e, std::string_view quantity) {
  std::set<std::size_t> out;
  if (quantity.empty()) {
    for (std::size_t i = 0; i < e.steps.size(); ++i) out.insert(i);
    return out;
  }
  for (const Answer* answer : answers_named(e, quantity)) {
    const auto below = e.below(answer->step);
    out.insert(below.begin(), below.end());
  }
  return out;
}

}  // namespace

std::string number_with_range(const Step& s) {
  const std::string best = amount(s.best, s.unit);
  const std::string low = amount(s.interval.low, s.unit);
  const std::string high = amount(s.interval.high, s.unit);
  if (low == high) return best;
  const std::size_t unit = low.find(' ');
  const bool same_unit = unit != std::string::npos && high.ends_with(low.substr(unit)) &&
                         high.find(' ') == high.size() - (low.size() - unit);
  return fmt::format("{} ({} to {})", best, same_unit ? low.substr(0, unit) : low, high);
}

std::string number_with_origin(const Step& s) {
  return fmt::format("{}, {}{}", number_with_range(s), name_of(s.origin),
                     s.operation == Operation::fact && !s.text.empty() ? " (" + s.text + ")" : "");
}

std::string to_text(const Explanation& e, std::string_view quantity) {
  Text text(e);
  if (!quantity.empty()) {
    std::string one;
    for (const Answer* answer : answers_named(e, quantity)) one += text.of(*answer);
    return one;
  }
  struct Section {
    Asked kind;
    std::string_view heading;
  };
  constexpr Section kSections[] = {{Asked::confidence, "Confidence"},
                                   {Asked::ledger, "Ledger"},
                                   {Asked::finding, "Evidence"},
                                   {Asked::fix, "Fixes"},
                                   {Asked::reject, "Not these"}};
  std::string out =
      "How each number came to be. In brackets its bounds; names in formulas stand below or above "
      "them.\n";
  for (const Section& section : kSections) {
    std::string body;
    for (const Answer& answer : e.answers) {
      if (answer.kind == section.kind) body += text.of(answer);
    }
    if (!body.empty()) out += fmt::format("\n{}\n{}", section.heading, body);
  }
  return out;
}

nlohmann::ordered_json to_json(const Explanation& e, std::string_view quantity) {
  using json = nlohmann::ordered_json;
  const auto number = [](double x) { return std::isfinite(x) ? json(x) : json(nullptr); };
  json out = json::array();
  for (const std::size_t i : steps_of(e, quantity)) {
    const Step& s = e.steps[i];
    json step{{"id", i},
              {"name", s.name},
              {"operation", name_of(s.operation)},
              {"value", number(s.best)},
              {"low", number(s.interval.low)},
              {"high", number(s.interval.high)},
              {"unit", unit_json(s.unit)},
              {"origin", name_of(s.origin)},
              {"from", s.from}};
    if (s.operation == Operation::fact) {
      step["place"] = s.text;
    } else if (!s.text.empty()) {
      step["how"] = s.text;
    }
    if (s.operation == Operation::clamped)
      step["bounds"] = {number(s.bounds.low), number(s.bounds.high)};
    for (const Answer& answer : e.answers) {
      if (answer.step == i && answer.kind != Asked::quantity)
        step["answers"].push_back({{"in", name_of(answer.kind)}, {"name", answer.name}});
    }
    out.push_back(std::move(step));
  }
  return out;
}

}  // namespace ridgeline::diagnosis
