#include "diagnosis/ledger_trail.hpp"

#include <cmath>

namespace ridgeline::diagnosis {
namespace {

/// Sums over a ledger are exact but for rounding.
constexpr double kRounding = 1e-9;

bool written_to(const TimeBudget& budget, const Line& line) {
  return !line.time.why ||
         std::abs(line.time.why->best - line.time.best) > kRounding * budget.total.best;
}

/// The line that takes what the others leave, if one does.
Line* rest_of(TimeBudget& budget) {
  Line* rest = nullptr;
  for (Line& line : budget.lines) {
    if (!line.time.why) return &line;
    if (!written_to(budget, line)) continue;
    if (rest != nullptr) return nullptr;  // several gave way
    rest = &line;
  }
  return rest;
}

Why derivation(Operation operation, const Value& value, Why first, Why second = {}) {
  return std::make_shared<const Derivation>(Derivation{operation,
                                                       value.origin,
                                                       value.interval,
                                                       value.best,
                                                       {},
                                                       std::move(first),
                                                       std::move(second)});
}

Why adjusted(const Value& value, Why before, const Value& total, std::string how) {
  Derivation d{Operation::adjusted, value.origin,      value.interval, value.best, {},
               std::move(before),   total.derivation()};
  d.text = std::move(how);
  return std::make_shared<const Derivation>(std::move(d));
}

Why total_less(const TimeBudget& budget, const Line& rest) {
  Derivation others{.operation = Operation::sum};
  std::size_t count = 0;
  for (const Line& line : budget.lines) {
    if (&line == &rest) continue;
    others.interval = others.interval + line.time.interval;
    others.best += line.time.best;
    others.origin = count == 0 ? line.time.origin : weakest(others.origin, line.time.origin);
    Why& place = count == 0   ? others.first
                 : count == 1 ? others.second
                              : others.more.emplace_back();
    place = line.time.derivation();
    ++count;
  }
  if (count == 0) return derivation(Operation::taken_as, rest.time, budget.total.derivation());
  others.name = "the other lines";
  Why all = count == 1 ? others.first : std::make_shared<const Derivation>(std::move(others));
  return derivation(Operation::difference, rest.time, budget.total.derivation(), std::move(all));
}

}  // namespace

void leave_trail(TimeBudget& budget) {
  Line* rest = rest_of(budget);
  for (Line& line : budget.lines) {
    Value& t = line.time;
    if (&line == rest || t.derivation() == t.why) continue;
    t.why = adjusted(t, t.why, budget.total,
                     written_to(budget, line) ? "made to fit, so that the lines add up to the total"
                                              : "within what the other lines leave of the total");
  }
  if (rest != nullptr) rest->time.why = total_less(budget, *rest);
}

}  // namespace ridgeline::diagnosis
