#pragma once
// Answers that somebody wrote down beforehand: a line each, in the order of the questions, or a
// YAML list of the same, or a YAML list with a map for each exercise:
//
//   b            - b                 - {regime: overhead_bound, observation: c, fix: a, reject: ?}
//   c            - graph_capture     - {regime: b}
//   ?            - ?
//
// Empty lines and what follows a '#' are nothing. "?" passes, and so does what a map leaves out.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "whatif/exercise/exercise.hpp"

namespace ridgeline::whatif {

class WrittenAnswers {
 public:
  /// `name` is what errors call the file.
  WrittenAnswers(std::string_view text, const std::string& name);

  struct Written {
    std::string text;
    std::string place;  // "answers.txt:3"
  };
  /// To the next question; nothing when there is no more, and then the exercise ends there.
  /// Questions must be asked in their order; `begins`: the first of an exercise.
  [[nodiscard]] std::optional<Written> next(const Question& question, bool begins);
  /// ConfigError when there are more answers than were asked for.
  void finish() const;

 private:
  struct Entry {
    std::vector<std::pair<std::string, Written>> by_question;  // of a map
    Written alone;
  };
  std::string name_;
  bool maps_ = false;
  std::vector<Entry> entries_;
  std::size_t taken_ = 0;
};

/// The choice that was written, nothing for "?". ConfigError with its place.
[[nodiscard]] Answer answer_of(const Question& question, const WrittenAnswers::Written& written);

}  // namespace ridgeline::whatif
