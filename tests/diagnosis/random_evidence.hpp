#pragma once
// Evidence that nobody would send: parts of true observations, some quantities absurd, some clues
// on top.

#include <cmath>

#include "core/random.hpp"
#include "diagnosis/fixes/table.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/trials.hpp"
#include "tests/diagnosis/observations.hpp"

namespace ridgeline::tests {

class RandomEvidence {
 public:
  explicit RandomEvidence(std::uint64_t seed) : random_(seed, "evidence") {}

  double uniform() { return random_.uniform(n_++); }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(
        random_.uniform_int(n_++, 0, static_cast<std::int64_t>(choices.size()) - 1))];
  }

  /// Quantities of a step and its server.
  diagnosis::Evidence facts() {
    diagnosis::Evidence e;
    switch (random_.uniform_int(n_++, 0, 5)) {
      case 0:
        e = diagnosis::observe(chatbot());
        break;
      case 1:
        e = diagnosis::observe(training());
        break;
      case 2:
        e = diagnosis::observe(summarizer());
        break;
      case 3:
        e = diagnosis::observe(api());
        break;
      case 4:
        e = diagnosis::observe(gaps());
        break;
      default:
        break;
    }
    const double dropped = uniform();
    const double absurd = 0.3 * uniform();
    for (const diagnosis::Field& field : diagnosis::evidence_fields()) {
      diagnosis::Maybe& value = field.at(e);
      if (uniform() < dropped) value.reset();
      if (uniform() < absurd) value = anything(field);
    }
    if (uniform() < 0.5) e.profile.kernel_time.clear();
    if (uniform() < 0.3) e.profile.window.reset();
    if (uniform() < 0.2)
      e.profile.kernel_time[static_cast<diagnosis::KernelGroup>(random_.uniform_int(n_++, 0, 7))] =
          fact(uniform());
    return e;
  }

  /// The same with trials, symptoms, proposals, kernels and a sweep.
  diagnosis::Evidence facts_and_clues() {
    diagnosis::Evidence e = facts();
    while (uniform() < 0.4) e.trials.push_back(trial(e.trials.size()));
    while (uniform() < 0.4) e.symptoms.push_back(one_of(diagnosis::symptom_names()));
    while (uniform() < 0.4) e.proposals.push_back(one_of(diagnosis::fix_names()));
    while (uniform() < 0.3) e.kernels.push_back(kernel());
    if (uniform() < 0.3) sweep(e);
    return e;
  }

  diagnosis::Trial trial(std::size_t index) {
    const std::string from = "trials[" + std::to_string(index) + "]";
    const double gain = std::pow(10.0, 2.0 * uniform() - 1.0);
    return {one_of(diagnosis::change_names()),
            "",
            {{"speedup", diagnosis::Value({gain * (0.8 + 0.2 * uniform()), gain},
                                          diagnosis::Origin::given, from)}},
            uniform() < 0.3,
            from};
  }

 private:
  diagnosis::Value anything(const diagnosis::Field& field) {
    const bool fraction = field.dimension == core::Dimension::fraction;
    const double x = fraction ? uniform() : std::pow(10.0, 24.0 * uniform() - 9.0);
    return {core::Interval(x * uniform(), x), diagnosis::Origin::given};
  }

  diagnosis::KernelRow kernel() {
    diagnosis::KernelRow row;
    row.name = "kernel";
    row.group = static_cast<diagnosis::KernelGroup>(random_.uniform_int(n_++, 0, 7));
    const auto maybe = [&](diagnosis::Maybe& value, double most) {
      if (uniform() < 0.5) value = fact(most * uniform() + 1e-9);
    };
    maybe(row.calls, 1000.0);
    maybe(row.share, 1.0);
    maybe(row.bytes, 1e11);
    maybe(row.flop, 1e15);
    maybe(row.occupied, 1.0);
    row.time = fact(uniform() * 0.1 + 1e-9);
    return row;
  }

  /// Some points that differ in one quantity and in what was measured there.
  void sweep(diagnosis::Evidence& e) {
    const diagnosis::Field* x = diagnosis::find_field(one_of(std::vector<std::string>{
        "machine.devices", "serving.concurrency", "serving.context_tokens", "request_rate"}));
    for (int i = 1; i < 5; ++i) {
      diagnosis::Evidence point = e;
      point.sweep.clear();
      x->at(point) = fact(static_cast<double>(i * i));
      if (point.measured.step_time || uniform() < 0.5)
        point.measured.step_time = fact(1e-3 + 0.1 * uniform());
      else
        point.measured.throughput = fact(1.0 + 1e4 * uniform());
      e.sweep.push_back(point);
    }
  }

  core::RandomStream random_;
  std::uint64_t n_ = 0;
};

}  // namespace ridgeline::tests
