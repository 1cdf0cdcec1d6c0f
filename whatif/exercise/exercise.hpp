#pragma once
// An exercise: the evidence of a slow server as a sheet, and questions about it whose choices are
// marked before anybody answers, each with its reason.
//
//   regime       what binds, of all nine
//   observation  which sentence settles it: the first finding of the diagnosis of this sheet, among
//                later ones and those of other servers
//   fix          what to do first, of eight
//   reject       what not to do, of the same eight
//
// What is right is known otherwise than from the sheet (whatif/exercise/truth.hpp). Left out:
// explaining in one's own words, and fixes one after the other.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/diagnose.hpp"

namespace ridgeline::whatif {

enum class Verdict : std::uint8_t {
  right,
  near_tie,  // as good: nobody could blame a diagnosis for it
  wrong,
  unanswered,
};
[[nodiscard]] std::string_view name_of(Verdict verdict);

struct Mark {
  Verdict verdict = Verdict::unanswered;
  std::string why;  // a sentence with its numbers

  [[nodiscard]] int points() const {
    return verdict == Verdict::right || verdict == Verdict::near_tie ? 1 : 0;
  }
};

struct Choice {
  std::string name;  // as reports spell it; "" where it has none
  std::string text;  // as the menu shows it
  Mark mark;
};

struct Question {
  std::string name;  // "regime"
  std::string text;  // "Which regime binds?"
  std::vector<Choice> choices;
  std::size_t key = 0;  // the best answer

  /// What somebody answered: a letter, or a name in any spelling. Nothing for "?", which passes.
  /// ConfigError with the nearest name, or the letters that there are.
  [[nodiscard]] std::optional<std::size_t> choice_of(std::string_view answer) const;
};

[[nodiscard]] inline std::string letter_of(std::size_t choice) {
  return {static_cast<char>('a' + choice)};
}

struct Exercise {
  std::string kind;  // "case", "generated", "report"
  std::string title;
  std::string sheet;
  std::vector<Question> questions;
  diagnosis::Diagnosis diagnosis;  // of what is on the sheet
  std::string own_marks;           // what the diagnosis would have got: a sentence
  std::string note;                // to be said afterwards; "" mostly
};

using Answer = std::optional<std::size_t>;

/// An exercise that somebody worked through, as far as they came.
struct Marked {
  const Exercise& exercise;
  std::vector<Answer> answers;  // of its questions, in their order
  double seconds = 0.0;         // that it took; 0 where nobody looked at the clock

  [[nodiscard]] Mark mark(std::size_t question) const;
  [[nodiscard]] int points() const;
  [[nodiscard]] int of() const { return static_cast<int>(exercise.questions.size()); }
};

/// The sheet and its menus, to be worked on; no answers.
[[nodiscard]] std::string to_text(const Exercise& exercise);
[[nodiscard]] std::string menu_text(const Question& question);
/// "right: ...", with the right answer where it was not.
[[nodiscard]] std::string mark_text(const Question& question, const Answer& answer);

/// `{kind, title, sheet, questions: [{question, text, choices: [{letter, name, text}]}]}`, and
/// with the key each choice's `verdict` and `why`.
[[nodiscard]] nlohmann::ordered_json to_json(const Exercise& exercise, bool with_key);
/// `{kind, title, marks: {regime: {answer, right, verdict, points, why}}, points, of, seconds}`
[[nodiscard]] nlohmann::ordered_json to_json(const Marked& marked);

}  // namespace ridgeline::whatif
