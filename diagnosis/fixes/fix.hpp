#pragma once
// A candidate change and what it would be worth. Its gain is computed by rewriting lines of the
// ledger: old time over new, as an interval. A new candidate is one .cpp with one `const Fix`, and
// one line in fixes/table.cpp.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnosis/regime.hpp"
#include "diagnosis/time_budget.hpp"

namespace ridgeline::diagnosis {

/// What a fix is judged on.
struct Situation {
  const Evidence& evidence;
  const Work& work;
  const TimeBudget& budget;
  Regime regime;
  bool overloaded =
      false;  // more is offered than the server can do: only what raises the total helps
};

/// Old time over new as a ledger that was rewritten gives it, and how.
struct Gain : core::Interval {
  Gain(core::Interval bounds, Why how) : core::Interval(bounds), computed(std::move(how)) {}
  Why computed;
};

/// A gain is an interval however it was computed: whichever bound is smaller is the lower one, and
/// neither is below zero.
struct Assessment {
  core::Interval gain{1.0};
  std::string why;
  Why computed{};  // how the gain came to be, where the ledger was rewritten for it

  Assessment(core::Interval bounds, std::string reason)
      : gain(std::max(0.0, std::min(bounds.low, bounds.high)),
             std::max({0.0, bounds.low, bounds.high})),
        why(std::move(reason)) {}
  Assessment(const Gain& rewritten, std::string reason)
      : Assessment(core::Interval(rewritten), std::move(reason)) {
    computed = rewritten.computed;
  }
};

struct Fix {
  std::string_view name;    // as scenarios, proposals and reports spell it
  std::string_view title;   // for people
  std::string_view family;  // of several that do the same to the ledger, one is recommended
  int effort =
      1;  // 0 a switch, 1 a supported feature to set up, 2 another model or new code, 3 weeks of it
  bool needs_hardware = false;
  std::string_view after{};                     // the fix that must come first, or ""
  Causes acts_on{};                             // whose time it shortens: what a trial of it tells
  core::Interval leaves{0.0, 1.0};              // share of that time that remains
  double popularity = 0.0;                      // how often it is proposed without looking, 0 to 1
  bool (*applies)(const Situation&) = nullptr;  // it can be computed here, worthwhile or not
  Assessment (*assess)(const Situation&) = nullptr;
};

/// The ledger with some lines multiplied. Where the host paces the device, time saved inside
/// kernels turns into longer gaps and is mostly lost.
class Rewrite {
 public:
  explicit Rewrite(const TimeBudget& budget) : budget_(budget) {}

  Rewrite& scale(LineId id, core::Interval factor);
  /// A line that is bytes at peak bandwidth: never below the arithmetic that was hidden beneath it.
  Rewrite& shrink_bytes(LineId id, core::Interval factor);
  /// The matrix arithmetic: never below the bytes hidden beneath it, themselves scaled by
  /// `bytes_factor`.
  Rewrite& shrink_arithmetic(core::Interval factor, core::Interval bytes_factor);
  /// A line replaced by a time.
  Rewrite& replace(LineId id, core::Interval seconds);
  /// Work that was not there before.
  Rewrite& add(core::Interval seconds);

  /// Old time over new. Lines that trade with one another cannot turn the bounds around: low <=
  /// high always.
  [[nodiscard]] Gain gain() const;

 private:
  /// What a line loses, as shares of its own time.
  struct Saving {
    const Line* line;
    core::Interval share;
  };
  void save(const Line& line, core::Interval seconds);
  [[nodiscard]] double saved(bool most) const;
  [[nodiscard]] Gain derived(core::Interval gain) const;

  const TimeBudget& budget_;
  std::vector<Saving> savings_;
  core::Interval added_{0.0};
};

/// The matrix products' bytes or arithmetic, whichever of them a decode step is made of.
[[nodiscard]] inline bool is_decoding(const Situation& s) {
  return s.work.window == Window::decode;
}
[[nodiscard]] inline bool is_inference(const Situation& s) {
  return s.work.window != Window::training;
}
[[nodiscard]] bool has_wide_weights(const Situation& s);
/// The matrix arithmetic is on the ledger and is not a trifle beside what nobody separated.
[[nodiscard]] bool arithmetic_binds(const Situation& s);

}  // namespace ridgeline::diagnosis
