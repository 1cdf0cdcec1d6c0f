#include "diagnosis/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "diagnosis/ledger_trail.hpp"
#include "diagnosis/prose.hpp"
#include "diagnosis/work_names.hpp"

namespace ridgeline::diagnosis {
namespace {

Unit unit_of(core::Dimension dimension) {
  using core::Dimension;
  switch (dimension) {
    case Dimension::none:
      return {};
    case Dimension::fraction:
      return {.fraction = true};
    case Dimension::time:
      return {.seconds = 1};
    case Dimension::bytes:
      return {.bytes = 1};
    case Dimension::bytes_per_second:
      return {.seconds = -1, .bytes = 1};
    case Dimension::flop:
      return {.flop = 1};
    case Dimension::flop_per_second:
      return {.seconds = -1, .flop = 1};
    case Dimension::rate:
      return {.seconds = -1};
  }
  return {};
}

std::optional<Unit> unit_of(std::string_view word) {
  if (word == "fraction") return Unit{.fraction = true};
  if (word == "ratio" || word == "tokens") return Unit{};
  if (word == "seconds") return Unit{.seconds = 1};
  if (word == "bytes") return Unit{.bytes = 1};
  if (word == "bytes/s") return Unit{.seconds = -1, .bytes = 1};
  if (word == "FLOP") return Unit{.flop = 1};
  if (word == "FLOP/byte") return Unit{.bytes = -1, .flop = 1};
  if (word == "tokens/s" || word == "steps/s") return Unit{.seconds = -1};
  return std::nullopt;
}

/// Of what one operation makes of two units.
std::optional<Unit> unit_of(const Step& step, const std::vector<Step>& steps) {
  if (step.operation == Operation::constant) return Unit{};
  if (step.from.empty()) return std::nullopt;
  const Step& a = steps[step.from.front()];
  if (step.operation == Operation::product || step.operation == Operation::quotient) {
    const Step& b = steps[step.from.back()];
    if (!a.unit || !b.unit) return std::nullopt;
    const int sign = step.operation == Operation::product ? 1 : -1;
    return Unit{a.unit->seconds + sign * b.unit->seconds, a.unit->bytes + sign * b.unit->bytes,
                a.unit->flop + sign * b.unit->flop};
  }
  // Of one number a formula makes another of its kind.
  if (step.operation == Operation::computed && step.from.size() > 1) return std::nullopt;
  for (const std::size_t i : step.from) {
    if (steps[i].operation != Operation::constant) return steps[i].unit;
  }
  return a.unit;
}

class Builder {
 public:
  Builder(const Evidence& evidence, const Diagnosis& diagnosis, const Places& places)
      : evidence_(evidence), d_(diagnosis), places_(places) {}

  Explanation build() {
    add_facts();
    add_work();
    if (d_.time_budget) add_budget(*d_.time_budget);
    add_answers();
    return std::move(out_);
  }

 private:
  using Key =
      std::tuple<Operation, std::vector<std::size_t>, std::string, Origin, std::array<double, 5>>;

  static Key key_of(const Step& s) {
    return {s.operation,
            s.from,
            s.text,
            s.origin,
            {s.interval.low, s.interval.high, s.best, s.bounds.low, s.bounds.high}};
  }

  std::size_t add(Step step) {
    step.unit = step.unit ? step.unit : unit_of(step, out_.steps);
    const auto [it, is_new] = index_.try_emplace(key_of(step), out_.steps.size());
    if (is_new) out_.steps.push_back(std::move(step));
    return it->second;
  }

  [[nodiscard]] bool is_constant(std::size_t step, double x) const {
    const Step& s = out_.steps[step];
    return s.operation == Operation::constant && s.best == x;
  }

  std::size_t step_of(const Why& why) {
    if (const auto it = facts_.find(why.get()); it != facts_.end()) return it->second;
    Step step{why->operation, {},         why->interval, why->best, why->origin, {}, {},
              why->text,      why->bounds};
    if (why->first) step.from.push_back(step_of(why->first));
    if (why->second) step.from.push_back(step_of(why->second));
    for (const Why& operand : why->more) step.from.push_back(step_of(operand));
    // One device, or nothing before the first of a sum, is no step that anyone asks about.
    const bool scaled =
        step.operation == Operation::product || step.operation == Operation::quotient;
    if (scaled && is_constant(step.from.back(), 1.0)) return step.from.front();
    if (step.operation == Operation::product && is_constant(step.from.front(), 1.0))
      return step.from.back();
    if (step.operation == Operation::sum && is_constant(step.from.front(), 0.0))
      return step.from.back();
    const std::size_t at = add(std::move(step));
    call(at, why->name, std::nullopt);
    return at;
  }
  std::size_t step_of(const Value& value) { return step_of(value.derivation()); }

  void call(std::size_t at, std::string_view name, std::optional<Unit> unit) {
    Step& step = out_.steps[at];
    if (step.name.empty() && step.operation != Operation::constant) step.name = name;
    // One number can be two things: the time between tokens that somebody gave is that of a step.
    if (!name.empty() && step.name != name) also_called_.emplace_back(name, at);
    // "2" is FLOP a parameter or bytes a parameter: only a name can tell.
    if (unit && (!step.unit || *step.unit == Unit{})) step.unit = unit;
  }

  void add_fact(const std::string& quantity, core::Dimension dimension, const Value& value) {
    const Why why = value.derivation();
    if (why->operation != Operation::fact) {
      call(step_of(why), quantity, unit_of(dimension));
      return;
    }
    Step step{Operation::fact,
              quantity,
              value.interval,
              value.best,
              value.origin,
              unit_of(dimension),
              {},
              place_of(quantity, value),
              {}};
    // Equal numbers read off one place are different facts all the same.
    const std::size_t at = out_.steps.size();
    index_.try_emplace(key_of(step), at);
    Step as_carried = step;
    as_carried.text = why->text;
    index_.try_emplace(key_of(as_carried), at);
    out_.steps.push_back(std::move(step));
    facts_.emplace(why.get(), at);
    kept_.push_back(why);
  }

  [[nodiscard]] std::string place_of(const std::string& quantity, const Value& value) const {
    std::string place = places_.of(quantity);
    if (place.empty() && !value.from.empty()) place = places_.of(value.from);
    return place.empty() ? value.from : place;
  }

  void add_facts() {
    Evidence copy = evidence_;  // the table of fields hands out references to write through
    for (const Field& field : evidence_fields()) {
      if (const Maybe& value = field.at(copy))
        add_fact(std::string(field.section) + "." + std::string(field.key), field.dimension,
                 *value);
    }
    for (const auto& [dtype, rate] : copy.machine.peak)
      add_fact("machine.peak." + std::string(hw::name_of(dtype)), core::Dimension::flop_per_second,
               rate);
    for (const auto& [group, share] : copy.profile.kernel_time)
      add_fact("profile.kernel_time." + std::string(name_of(group)), core::Dimension::fraction,
               share);
  }

  void add_work() {
    const Work work = work_of(evidence_);
    for (const WorkName& known : work_names()) {
      if (const Maybe& value = work.*known.at)
        call(step_of(*value), known.name, unit_of(known.dimension));
    }
  }

  void add_budget(const TimeBudget& budget) {
    const Unit unit = budget.in_seconds ? Unit{.seconds = 1} : Unit{.fraction = true};
    out_.total = step_of(budget.total);
    if (!budget.in_seconds && out_.steps[*out_.total].text.empty())
      out_.steps[*out_.total].text = "the whole: how long it takes was not said";
    call(*out_.total, time_name(budget), unit);
    TimeBudget traced = budget;
    leave_trail(traced);
    for (const Line& line : traced.lines) {
      const std::size_t at = step_of(line.time);
      call(at, line.part, unit);
      answer(Asked::ledger, line.part, "", at);
    }
    const auto name = [&](const Maybe& value, std::string_view words) {
      if (value) call(step_of(*value), words, unit);
    };
    name(budget.compute_floor, "arithmetic at peak rate");
    name(budget.bandwidth_floor, "bytes at peak bandwidth");
    name(budget.kernels, "time in kernels");
  }

  void answer(Asked kind, std::string name, std::string sentence, std::size_t step) {
    out_.answers.push_back({kind, std::move(name), std::move(sentence), step});
  }

  /// A number that the diagnosis keeps without its derivation: the sentence says how it came to be.
  std::size_t told(const std::string& sentence, core::Interval interval, double best,
                   Origin origin) {
    return add({Operation::computed, {}, interval, best, origin, {}, {}, sentence, {}});
  }

  void add_answers() {
    const std::size_t certain = d_.certainty
                                    ? step_of(d_.certainty)
                                    : told("", d_.confidence, d_.confidence, Origin::derived);
    call(certain, "confidence", Unit{.fraction = true});
    answer(Asked::confidence, "confidence", "", certain);
    std::rotate(out_.answers.begin(), out_.answers.end() - 1, out_.answers.end());
    for (std::size_t i = 0; i < d_.settling_evidence.size(); ++i) {
      const Finding& f = d_.settling_evidence[i];
      const bool traced = f.number.why && f.number.best == f.value;
      const std::size_t at =
          traced ? step_of(f.number) : told("as the sentence says", f.value, f.value, f.origin);
      call(at, "", unit_of(f.unit));
      answer(Asked::finding, "finding " + std::to_string(i + 1), f.statement, at);
    }
    for (const auto* list : {&d_.fixes, &d_.rejects}) {
      for (const Recommendation& r : *list) {
        const std::size_t at = r.computed && r.computed->interval == r.speedup
                                   ? step_of(r.computed)
                                   : told("old time over new: " + r.why, r.speedup,
                                          r.speedup.middle(), Origin::derived);
        call(at, "gain of " + r.name, Unit{});
        answer(list == &d_.fixes ? Asked::fix : Asked::reject, r.name, r.title, at);
      }
    }
    for (std::size_t i = 0; i < out_.steps.size(); ++i) {
      const std::string& name = out_.steps[i].name;
      const bool asked_for = std::any_of(out_.answers.begin(), out_.answers.end(),
                                         [&](const Answer& a) { return a.step == i; });
      if (!name.empty() && !asked_for) answer(Asked::quantity, name, "", i);
    }
    for (const auto& [name, at] : also_called_) {
      const bool known = std::any_of(out_.answers.begin(), out_.answers.end(),
                                     [&](const Answer& a) { return a.name == name; });
      if (!known) answer(Asked::quantity, name, "", at);
    }
  }

  const Evidence& evidence_;
  const Diagnosis& d_;
  const Places& places_;
  Explanation out_;
  std::map<Key, std::size_t> index_;
  std::map<const Derivation*, std::size_t> facts_;
  std::vector<std::pair<std::string, std::size_t>> also_called_;
  std::vector<Why> kept_;  // so that no other derivation gets the address of a fact
};

}  // namespace

std::string_view name_of(Asked asked) {
  constexpr std::string_view kNames[] = {"confidence", "ledger", "finding",
                                         "fix",        "reject", "quantity"};
  return kNames[static_cast<std::size_t>(asked)];
}

Explanation explain(const Evidence& evidence, const Diagnosis& diagnosis, const Places& places) {
  return Builder(evidence, diagnosis, places).build();
}

std::vector<std::size_t> Explanation::below(std::size_t step) const {
  std::vector<bool> needed(step + 1, false);
  needed[step] = true;
  std::vector<std::size_t> out;
  for (std::size_t i = step + 1; i-- > 0;) {
    if (!needed[i]) continue;
    out.push_back(i);
    for (const std::size_t operand : steps[i].from) needed[operand] = true;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::size_t> Explanation::facts_below(std::size_t step) const {
  std::vector<std::size_t> out = below(step);
  std::erase_if(out, [&](std::size_t i) { return steps[i].operation != Operation::fact; });
  return out;
}

Value evaluated(const Explanation& explanation, std::size_t at) {
  const Step& step = explanation.steps[at];
  const auto value = [&](std::size_t i) {
    const Step& s = explanation.steps[step.from[i]];
    return Value(s.interval, s.best, s.origin);
  };
  switch (step.operation) {
    case Operation::sum: {
      Value sum = value(0);
      for (std::size_t i = 1; i < step.from.size(); ++i) sum = sum + value(i);
      return sum;
    }
    case Operation::difference:
      return value(0) - value(1);
    case Operation::product:
      return value(0) * value(1);
    case Operation::quotient:
      return value(0) / value(1);
    case Operation::larger:
      return larger(value(0), value(1));
    case Operation::overlap:
      return overlap(value(0), value(1)).value_or(value(0));
    case Operation::clamped:
      return value(0).clamped(step.bounds.low, step.bounds.high);
    case Operation::taken_as:
      return value(0).as(step.origin);
    case Operation::constant:
    case Operation::fact:
    case Operation::adjusted:
    case Operation::computed:
      break;
  }
  return {step.interval, step.best, step.origin};
}

}  // namespace ridgeline::diagnosis
