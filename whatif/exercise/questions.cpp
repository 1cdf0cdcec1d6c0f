#include "whatif/exercise/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnosis/fixes/table.hpp"
#include "diagnosis/prose.hpp"
#include "diagnosis/trials.hpp"

namespace ridgeline::whatif {
namespace {

using diagnosis::Fix;
using diagnosis::Regime;

constexpr std::size_t kFixes = 8;
constexpr std::size_t kObservations = 4;

template <class T>
void shuffle(std::vector<T>& things, Draw& draw) {
  for (std::size_t i = things.size(); i > 1; --i) std::swap(things[i - 1], things[draw.one_of(i)]);
}

std::string words_of(Regime regime) {
  diagnosis::Diagnosis bare;
  bare.regime = regime;
  return diagnosis::binding_words(bare);
}

bool right(const Mark& mark) { return mark.verdict == Verdict::right; }

Question regime_question(const Truth& truth) {
  Question out{"regime", "Which regime binds?", {}, 0};
  for (std::size_t i = 0; i < diagnosis::kRegimeNames.size(); ++i) {
    const auto regime = static_cast<Regime>(i);
    const std::string name(diagnosis::name_of(regime));
    out.choices.push_back(
        {name, fmt::format("{:<20} {}", name, words_of(regime)), truth.of_regime(regime)});
  }
  out.key = static_cast<std::size_t>(truth.regimes.front());
  return out;
}

/// "At least": sentences that begin alike are of one kind, and one would give the other away.
std::string beginning(const std::string& sentence) {
  const std::size_t word = sentence.find(' ');
  return sentence.substr(0, word == std::string::npos ? word : sentence.find(' ', word + 1));
}

/// Such a sentence gives a fix away, or is about something that was tried elsewhere.
bool names_a_change(const std::string& sentence) {
  const std::vector<std::string> names = diagnosis::change_names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return sentence.find(diagnosis::find_change(name)->title) != std::string::npos ||
           sentence.find(name) != std::string::npos;
  });
}

Question observation_question(const Material& material, const diagnosis::Diagnosis& diagnosis,
                              std::vector<Elsewhere> elsewhere, Draw& draw) {
  const auto& findings = diagnosis.settling_evidence;
  const std::string& settling = findings.front().statement;
  const std::string regime(diagnosis::name_of(diagnosis.regime));
  std::vector<Choice> choices{
      {"", settling, {Verdict::right, fmt::format("from it follows {}", regime)}}};
  std::vector<std::string> later;
  for (std::size_t i = 1; i < findings.size(); ++i) {
    if (!findings[i].repeats && !names_a_change(findings[i].statement))
      later.push_back(findings[i].statement);
  }
  if (!later.empty()) {
    choices.push_back({"",
                       later[draw.one_of(later.size())],
                       {Verdict::wrong, fmt::format("it is so, and does not settle {}", regime)}});
  }
  shuffle(elsewhere, draw);
  std::stable_partition(elsewhere.begin(), elsewhere.end(),
                        [&](const Elsewhere& e) { return e.phase == diagnosis.phase; });
  for (const Elsewhere& other : elsewhere) {
    if (choices.size() == kObservations) break;
    const bool alike = std::any_of(choices.begin(), choices.end(), [&](const Choice& c) {
      return beginning(c.text) == beginning(other.statement);
    });
    if (alike || other.title == material.shown.title || other.regime == diagnosis.regime ||
        names_a_change(other.statement))
      continue;
    choices.push_back({"",
                       other.statement,
                       {Verdict::wrong, "these are another server's numbers, not this sheet's"}});
  }
  shuffle(choices, draw);
  Question out{"observation", "Which observation settles it?", std::move(choices), 0};
  while (!right(out.choices[out.key].mark)) ++out.key;
  return out;
}

/// The fixes of the menu, and which of them are the best answers.
class FixMenu {
 public:
  FixMenu(const Material& material, const diagnosis::Diagnosis& diagnosis, Draw& draw)
      : m_(material), truth_(material.truth) {
    best_ = best([this](const Fix& fix) { return right(truth_.of_fix(fix.name)); },
                 [this](const Fix& fix) { return truth_.gain_of(fix.name).value_or(1.0); },
                 truth_.fixes);
    worst_ = best(
        [this](const Fix& fix) { return right(truth_.of_reject(fix.name)); },
        [this](const Fix& fix) { return temptation(fix) + (truth_.gain_of(fix.name) ? 1.0 : 0.0); },
        truth_.rejects);
    add(best_);
    add(worst_);
    for (const auto* listed : {&truth_.fixes, &truth_.rejects}) {
      for (const Truth::Listed& l : *listed) add(diagnosis::find_fix(l.fix));
    }
    fill(diagnosis, draw);
    shuffle(fixes_, draw);
  }

  [[nodiscard]] bool has_fix() const { return best_ != nullptr; }
  [[nodiscard]] bool has_reject() const { return worst_ != nullptr; }

  [[nodiscard]] Question fix_question() const {
    return question("fix", "Which fix comes first?", best_,
                    [this](const Fix& fix) { return truth_.of_fix(fix.name); });
  }
  [[nodiscard]] Question reject_question() const {
    return question("reject", "Which of them is to be rejected?", worst_,
                    [this](const Fix& fix) { return truth_.of_reject(fix.name); });
  }

 private:
  /// What the truth lists first, else the one of most merit among those that are good.
  template <class Good, class Merit>
  [[nodiscard]] const Fix* best(Good good, Merit merit,
                                const std::vector<Truth::Listed>& listed) const {
    if (!listed.empty()) return diagnosis::find_fix(listed.front().fix);
    const Fix* out = nullptr;
    for (const Fix* fix : diagnosis::all_fixes()) {
      if (truth_.knows(fix->name) && good(*fix) && (out == nullptr || merit(*fix) > merit(*out)))
        out = fix;
    }
    return out;
  }

  [[nodiscard]] bool proposed(const Fix& fix) const {
    const auto& proposals = m_.shown.proposals;
    return std::find(proposals.begin(), proposals.end(), fix.name) != proposals.end();
  }

  /// How likely somebody is to ask for it: it is proposed everywhere or here, or does what the best
  /// one does.
  [[nodiscard]] double temptation(const Fix& fix) const {
    constexpr double kAlike = 0.3;
    const bool alike =
        best_ != nullptr && (fix.family == best_->family || fix.acts_on.meets(best_->acts_on));
    return fix.popularity + (proposed(fix) ? 1.0 : 0.0) + (alike ? kAlike : 0.0);
  }

  void add(const Fix* fix) {
    if (fix == nullptr || fixes_.size() == kFixes) return;
    if (std::find(fixes_.begin(), fixes_.end(), fix) == fixes_.end()) fixes_.push_back(fix);
  }

  /// The most tempting of the rest, a little by chance. What the sheet says of a change would give
  /// it away; what only the diagnosis thinks of, nobody can be marked by.
  void fill(const diagnosis::Diagnosis& diagnosis, Draw& draw) {
    const auto said = [&](const Fix& fix) {
      return std::any_of(m_.shown.trials.begin(), m_.shown.trials.end(),
                         [&](const diagnosis::Trial& t) { return t.change == fix.name; });
    };
    const auto only_thought = [&](const Fix& fix) {
      const auto is = [&](const diagnosis::Recommendation& r) { return r.name == fix.name; };
      return !truth_.knows(fix.name) &&
             (std::any_of(diagnosis.fixes.begin(), diagnosis.fixes.end(), is) ||
              std::any_of(diagnosis.rejects.begin(), diagnosis.rejects.end(), is));
    };
    constexpr double kChance = 0.4;
    std::vector<std::pair<double, const Fix*>> rest;
    for (const Fix* fix : diagnosis::all_fixes()) {
      const double chance = draw.uniform(0.0, kChance);
      if (said(*fix) || only_thought(*fix)) continue;
      if (truth_.label && !truth_.knows(fix->name)) continue;
      rest.emplace_back(temptation(*fix) + chance, fix);
    }
    std::stable_sort(rest.begin(), rest.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [score, fix] : rest) add(fix);
  }

  template <class MarkOf>
  [[nodiscard]] Question question(const char* name, const char* text, const Fix* key,
                                  MarkOf mark_of) const {
    Question out{name, text, {}, 0};
    for (const Fix* fix : fixes_) {
      if (fix == key) out.key = out.choices.size();
      out.choices.push_back(
          {std::string(fix->name), fmt::format("{} ({})", fix->title, fix->name), mark_of(*fix)});
    }
    return out;
  }

  const Material& m_;
  const Truth& truth_;
  const Fix* best_ = nullptr;
  const Fix* worst_ = nullptr;
  std::vector<const Fix*> fixes_;
};

/// The marks that the diagnosis itself would have got.
std::string own_marks(const Truth& truth, const diagnosis::Diagnosis& d) {
  const auto judged = [&](const std::string& name, const Mark& mark) {
    return fmt::format("{} ({})", name,
                       truth.knows(name) ? name_of(mark.verdict) : "cannot be judged");
  };
  std::string out =
      fmt::format("Ridgeline from the same sheet: {} ({})", diagnosis::name_of(d.regime),
                  name_of(truth.of_regime(d.regime).verdict));
  if (!d.fixes.empty())
    out += ", first " + judged(d.fixes.front().name, truth.of_fix(d.fixes.front().name));
  if (!d.rejects.empty())
    out += ", not " + judged(d.rejects.front().name, truth.of_reject(d.rejects.front().name));
  return out + ".";
}

}  // namespace

std::optional<Exercise> exercise_of(const Material& material,
                                    const std::vector<Elsewhere>& elsewhere, Draw draw) {
  const Truth& truth = material.truth;
  diagnosis::Diagnosis diagnosis = diagnosis::diagnose(material.shown);
  if (truth.of_regime(diagnosis.regime).points() == 0 || diagnosis.settling_evidence.empty() ||
      names_a_change(diagnosis.settling_evidence.front().statement))
    return std::nullopt;
  const FixMenu menu(material, diagnosis, draw);
  if (!menu.has_fix()) return std::nullopt;
  Exercise out;
  out.kind = material.kind;
  out.title = material.head.title;
  out.sheet = sheet_of(material.shown, material.head);
  out.questions = {regime_question(truth),
                   observation_question(material, diagnosis, elsewhere, draw), menu.fix_question()};
  if (menu.has_reject()) out.questions.push_back(menu.reject_question());
  out.own_marks = own_marks(truth, diagnosis);
  out.note = material.note;
  out.diagnosis = std::move(diagnosis);
  return out;
}

}  // namespace ridgeline::whatif
