#include "whatif/exercise/deck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "diagnosis/words.hpp"
#include "sim/run.hpp"
#include "whatif/corpus/corpus.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/exercise/questions.hpp"
#include "whatif/known_answers.hpp"
#include "whatif/run_case.hpp"
#include "whatif/told_evidence.hpp"

namespace ridgeline::whatif {
namespace {

using diagnosis::Evidence;

std::string words_of(Objective objective) {
  switch (objective) {
    case Objective::output_rate:
      return "output tokens a second, all sequences together.";
    case Objective::first_token:
      return "the time to the first token.";
    case Objective::latency:
      return "the time from a request's arrival to its last token.";
    case Objective::training_rate:
      return "tokens a second.";
  }
  return "";
}

/// What the people who measured this would call the speed.
Objective objective_of(const Evidence& e) {
  const diagnosis::Window window = e.profile.window.value_or(diagnosis::Window::decode);
  if (window == diagnosis::Window::training) return Objective::training_rate;
  if (window == diagnosis::Window::prefill) return Objective::first_token;
  const diagnosis::Measured& m = e.measured;
  const bool of_all = m.throughput || m.total_throughput || m.requests_per_second;
  return !of_all && (m.throughput_per_sequence || m.itl) ? Objective::latency
                                                         : Objective::output_rate;
}

std::string reason(const diagnosis::Recommendation& r) {
  return fmt::format("{} ({})", r.why, diagnosis::gain_text(r.speedup));
}

void add_finding(const diagnosis::Diagnosis& d, std::vector<Elsewhere>& out) {
  if (!d.settling_evidence.empty())
    out.push_back({d.title, d.phase, d.regime, d.settling_evidence.front().statement});
}

/// What settles each of the shipped pieces of evidence.
std::vector<Elsewhere> findings_elsewhere(const core::ConfigLibrary& library) {
  std::vector<Elsewhere> out;
  for (const char* folder : {"cases", "reports"}) {
    for (const std::string& name : library.names(folder)) {
      if (!name.ends_with(".evidence")) continue;
      add_finding(diagnosis::diagnose(
                      load_evidence_file(library.root() / folder / (name + ".yaml"), library)),
                  out);
    }
  }
  return out;
}

template <class T>
std::vector<T> shuffled(std::vector<T> things, Draw draw) {
  for (std::size_t i = things.size(); i > 1; --i) std::swap(things[i - 1], things[draw.one_of(i)]);
  return things;
}

template <class E>
E named(const char* what, const std::string& word,
        const std::vector<std::pair<std::string, E>>& words) {
  std::vector<std::string> names;
  for (const auto& [name, value] : words) {
    if (name == word) return value;
    names.push_back(name);
  }
  throw core::ConfigError(fmt::format("{}: expected one of {}, got '{}'{}", what,
                                      fmt::join(names, ", "), word, core::suggestion(word, names)));
}

}  // namespace

DrillSource drill_source_named(const std::string& word) {
  return named<DrillSource>("from", word,
                            {{"cases", DrillSource::cases},
                             {"generated", DrillSource::generated},
                             {"reports", DrillSource::reports},
                             {"all", DrillSource::all}});
}

DrillLevel drill_level_named(const std::string& word) {
  return named<DrillLevel>(
      "level", word,
      {{"throughput", DrillLevel::throughput}, {"percentages", DrillLevel::percentages}});
}

class Deck::Source {
 public:
  Source(const DrillOptions& options, const core::ConfigLibrary& library,
         std::shared_ptr<const std::vector<Elsewhere>> elsewhere)
      : options_(options), library_(library), elsewhere_(std::move(elsewhere)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::optional<Exercise> next() {
    // So many sheets in a row that do not lead to their truth mean that none will.
    constexpr std::int64_t kMostTries = 100;
    for (std::int64_t i = 0; i < kMostTries; ++i) {
      const std::int64_t n = n_++;
      const std::optional<Material> material = at(n);
      if (!material) return std::nullopt;
      if (auto exercise = exercise_of(*material, *elsewhere_,
                                      Draw(options_.seed, "drill " + material->kind, n)))
        return exercise;
    }
    return std::nullopt;
  }

 protected:
  /// The n-th, or nothing where there are not so many.
  [[nodiscard]] virtual std::optional<Material> at(std::int64_t n) const = 0;

  [[nodiscard]] std::vector<std::filesystem::path> shuffled_files(
      std::vector<std::filesystem::path> files, std::string_view stream) const {
    return shuffled(std::move(files), Draw(options_.seed, stream, 0));
  }

  DrillOptions options_;
  core::ConfigLibrary library_;
  std::shared_ptr<const std::vector<Elsewhere>> elsewhere_;

 private:
  std::int64_t n_ = 0;
};

class Deck::Cases : public Deck::Source {
 public:
  template <class... Args>
  explicit Cases(Args&&... args) : Source(std::forward<Args>(args)...) {
    files_ = shuffled_files(case_files(library_), "drill order of cases");
  }

 protected:
  [[nodiscard]] std::optional<Material> at(std::int64_t n) const override {
    const auto i = static_cast<std::size_t>(n);
    if (i >= files_.size()) return std::nullopt;
    const Case what = load_case(files_[i], library_);
    const CaseOutcome outcome = run_case(what, library_);
    Material out;
    out.kind = "case";
    out.shown = load_evidence_file(what.evidence_file, library_);
    const Objective objective = objective_of(out.shown);
    out.head = {out.shown.title, "", words_of(objective)};
    out.truth = truth_of(what, outcome, objective);
    return out;
  }

 private:
  /// As the case has it, and what comes out when it runs again; of the regimes that its responses
  /// leave open only where its own is among them.
  [[nodiscard]] Truth truth_of(const Case& what, const CaseOutcome& outcome,
                               Objective objective) const {
    const sim::RunResult result = sim::run(what.scenario);
    const sim::Metrics metrics = sim::measure(result);
    Truth out;
    out.label = label_of(result, metrics);
    out.label->objective = objective;
    out.label->speed = value_of(objective, result, metrics);
    out.label->gains = true_gains(what.scenario, *out.label, library_);
    const diagnosis::Regime regime = outcome.from_timeline.regime;
    out.regimes = {regime};
    if (out.label->accepts(regime)) {
      for (const diagnosis::Regime r : out.label->accepted) {
        if (r != regime) out.regimes.push_back(r);
      }
    }
    const auto list = [&](const std::vector<diagnosis::Recommendation>& recommended,
                          std::vector<Truth::Listed>& listed) {
      for (const diagnosis::Recommendation& r : recommended) {
        const auto gain = out.gain_of(r.name);
        listed.push_back(
            {r.name,
             reason(r) + (gain ? fmt::format("; run with it, the speed is {:.2f}x", *gain) : "")});
      }
    };
    list(outcome.from_timeline.fixes, out.fixes);
    list(outcome.from_timeline.rejects, out.rejects);
    return out;
  }

  std::vector<std::filesystem::path> files_;
};

class Deck::Generated : public Deck::Source {
 public:
  template <class... Args>
  explicit Generated(Args&&... args) : Source(std::forward<Args>(args)...), pool_(library_) {
    add_own_kind();
  }

 protected:
  [[nodiscard]] std::optional<Material> at(std::int64_t n) const override {
    const CorpusItem item = make_item(pool_, options_.seed, n);
    Material out;
    out.kind = "generated";
    out.head = {
        fmt::format("A generated server, number {} of seed {}", n, options_.seed),
        item.server.sketch.load == LoadKind::training ? "" : item.server.sketch.stack->spec.name,
        words_of(item.label.objective)};
    out.shown = shown_of(item);
    out.shown.title = out.head.title;
    out.truth.regimes = item.label.accepted;
    out.truth.label = item.label;
    return out;
  }

 private:
  /// Sentences about servers like these are harder to tell from the right one. They are of servers
  /// that no exercise comes to.
  void add_own_kind() {
    constexpr std::int64_t kServers = 6;
    constexpr std::int64_t kFar = 1'000'000;
    auto all = std::make_shared<std::vector<Elsewhere>>(*elsewhere_);
    for (std::int64_t i = 0; i < kServers; ++i) {
      const CorpusItem item = make_item(pool_, options_.seed, kFar + i, {.gains = false});
      add_finding(diagnosis::diagnose(shown_of(item)), *all);
    }
    elsewhere_ = std::move(all);
  }

  [[nodiscard]] const Evidence& shown_of(const CorpusItem& item) const {
    return options_.level == DrillLevel::throughput ? item.throughput : item.percentages;
  }

  ServerPool pool_;
};

class Deck::Reports : public Deck::Source {
 public:
  template <class... Args>
  explicit Reports(Args&&... args) : Source(std::forward<Args>(args)...) {
    truths_ = shuffled(read_known_answers(library_, "reports"),
                       Draw(options_.seed, "drill order of reports", 0));
  }

 protected:
  [[nodiscard]] std::optional<Material> at(std::int64_t n) const override {
    const auto i = static_cast<std::size_t>(n);
    if (i >= truths_.size()) return std::nullopt;
    const KnownAnswer& truth = truths_[i];
    Material out;
    out.kind = "report";
    out.shown = load_evidence_file(truth.path, library_);
    out.head = {out.shown.title, "", words_of(objective_of(out.shown))};
    const diagnosis::Diagnosis known = diagnosis::diagnose(out.shown);
    out.truth.regimes = truth.regimes;
    out.truth.why = known.settling_evidence.empty() ? "as its author found"
                                                    : known.settling_evidence.front().statement;
    const auto list = [&](const std::vector<std::string>& names,
                          std::vector<Truth::Listed>& listed) {
      for (const std::string& name : names) listed.push_back({name, why(name, out.shown, known)});
    };
    list(truth.fixes, out.truth.fixes);
    list(truth.rejects, out.truth.rejects);
    std::erase_if(out.shown.trials,
                  [&](const diagnosis::Trial& t) { return out.truth.knows(t.change); });
    if (truth.inconsistent)
      out.note = "The report contradicts itself: two roads to one number do not meet.";
    return out;
  }

 private:
  /// What came of it where somebody tried, else what the ledger says.
  static std::string why(const std::string& name, const Evidence& evidence,
                         const diagnosis::Diagnosis& known) {
    for (const auto* list : {&known.fixes, &known.rejects}) {
      for (const diagnosis::Recommendation& r : *list) {
        if (r.name == name) return reason(r);
      }
    }
    for (const diagnosis::Trial& trial : evidence.trials) {
      if (trial.change == name && !trial.effects.empty())
        return fmt::format("tried: {:.2f}x", trial.effects.front().gain.best);
    }
    return "as its author found";
  }

  std::vector<KnownAnswer> truths_;
};

Deck::Deck(const DrillOptions& options, const core::ConfigLibrary& library) {
  const auto elsewhere =
      std::make_shared<const std::vector<Elsewhere>>(findings_elsewhere(library));
  const bool all = options.from == DrillSource::all;
  if (all || options.from == DrillSource::generated)
    sources_.push_back(std::make_unique<Generated>(options, library, elsewhere));
  if (all || options.from == DrillSource::cases)
    sources_.push_back(std::make_unique<Cases>(options, library, elsewhere));
  if (all || options.from == DrillSource::reports)
    sources_.push_back(std::make_unique<Reports>(options, library, elsewhere));
}

Deck::~Deck() = default;

std::optional<Exercise> Deck::next() {
  while (!sources_.empty()) {
    turn_ %= sources_.size();
    if (auto exercise = sources_[turn_]->next()) {
      ++turn_;
      return exercise;
    }
    sources_.erase(sources_.begin() + static_cast<std::ptrdiff_t>(turn_));
  }
  return std::nullopt;
}

}  // namespace ridgeline::whatif
