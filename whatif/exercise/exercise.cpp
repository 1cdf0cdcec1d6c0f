#include "whatif/exercise/exercise.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/spelling.hpp"
#include "diagnosis/prose.hpp"

namespace ridgeline::whatif {
namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

/// "c", or what it is called where it has a name.
std::string called(const Question& question, std::size_t choice) {
  const Choice& c = question.choices[choice];
  return c.name.empty() ? letter_of(choice) : fmt::format("{} ({})", letter_of(choice), c.name);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::right:
      return "right";
    case Verdict::near_tie:
      return "near tie";
    case Verdict::wrong:
      return "wrong";
    case Verdict::unanswered:
      return "unanswered";
  }
  return "";
}

std::optional<std::size_t> Question::choice_of(std::string_view answer) const {
  std::string typed = trimmed(answer);
  if (typed.size() == 2 && (typed[1] == ')' || typed[1] == '.')) typed.pop_back();
  if (typed == "?") return std::nullopt;
  std::vector<std::string> names;
  const std::string plain = core::plain(typed);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!plain.empty() && (plain == letter_of(i) || plain == core::plain(choices[i].name) ||
                           plain == core::plain(choices[i].text)))
      return i;
    if (!choices[i].name.empty()) names.push_back(choices[i].name);
  }
  std::string near = core::nearest_name(typed, names);
  for (const Choice& choice : choices) {  // "graph" for graph_capture
    if (near.empty() && !plain.empty() && !choice.name.empty() &&
        core::plain(choice.text).find(plain) != std::string::npos)
      near = choice.name;
  }
  throw core::ConfigError(
      fmt::format("{}: expected a letter from a to {}{}, or ? to pass, got {}{}", name,
                  letter_of(choices.size() - 1), names.empty() ? "" : " or a name",
                  typed.empty() ? "nothing" : "'" + typed + "'",
                  near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

Mark Marked::mark(std::size_t question) const {
  const Question& asked = exercise.questions[question];
  if (question >= answers.size() || !answers[question]) {
    const Choice& right = asked.choices[asked.key];
    return {Verdict::unanswered, right.mark.why};
  }
  return asked.choices[*answers[question]].mark;
}

int Marked::points() const {
  int sum = 0;
  for (std::size_t i = 0; i < exercise.questions.size(); ++i) sum += mark(i).points();
  return sum;
}

std::string menu_text(const Question& question) {
  std::string out = question.text + "\n";
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    out += diagnosis::wrapped(fmt::format("  {}  {}", letter_of(i), question.choices[i].text), 5);
  }
  return out;
}

std::string to_text(const Exercise& exercise) {
  std::string out = exercise.sheet;
  for (const Question& question : exercise.questions) out += "\n" + menu_text(question);
  return out;
}

std::string mark_text(const Question& question, const Answer& answer) {
  const std::size_t key = question.key;
  if (!answer) {
    return diagnosis::wrapped(fmt::format("  {}: it is {}: {}", name_of(Verdict::unanswered),
                                          called(question, key), question.choices[key].mark.why),
                              4);
  }
  const Mark& mark = question.choices[*answer].mark;
  std::string out = diagnosis::wrapped(fmt::format("  {}: {}", name_of(mark.verdict), mark.why), 4);
  const Choice& right = question.choices[key];
  const bool said = !right.name.empty() && mark.why.find(right.name) != std::string::npos;
  if (mark.verdict == Verdict::wrong) {
    out += diagnosis::wrapped(
        fmt::format("  Right is {}{}", called(question, key), said ? "." : ": " + right.mark.why),
        4);
  }
  return out;
}

nlohmann::ordered_json to_json(const Exercise& exercise, bool with_key) {
  nlohmann::ordered_json out{
      {"kind", exercise.kind}, {"title", exercise.title}, {"sheet", exercise.sheet}};
  out["questions"] = nlohmann::ordered_json::array();
  for (const Question& question : exercise.questions) {
    nlohmann::ordered_json asked{{"question", question.name}, {"text", question.text}};
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
      const Choice& c = question.choices[i];
      nlohmann::ordered_json choice{{"letter", letter_of(i)}, {"name", c.name}, {"text", c.text}};
      if (with_key) {
        choice["verdict"] = name_of(c.mark.verdict);
        choice["why"] = c.mark.why;
      }
      asked["choices"].push_back(std::move(choice));
    }
    if (with_key) asked["right"] = letter_of(question.key);
    out["questions"].push_back(std::move(asked));
  }
  return out;
}

nlohmann::ordered_json to_json(const Marked& marked) {
  const Exercise& exercise = marked.exercise;
  nlohmann::ordered_json out{{"kind", exercise.kind}, {"title", exercise.title}};
  const auto shown = [](const Question& question, std::size_t choice) {
    const Choice& c = question.choices[choice];
    return c.name.empty() ? letter_of(choice) : c.name;
  };
  for (std::size_t i = 0; i < exercise.questions.size(); ++i) {
    const Question& question = exercise.questions[i];
    const Mark mark = marked.mark(i);
    const bool answered = i < marked.answers.size() && marked.answers[i];
    nlohmann::ordered_json& line = out["marks"][question.name];
    line["answer"] = nullptr;
    if (answered) line["answer"] = shown(question, *marked.answers[i]);
    line["right"] = shown(question, question.key);
    line["verdict"] = name_of(mark.verdict);
    line["points"] = mark.points();
    line["why"] = mark.why;
  }
  out["points"] = marked.points();
  out["of"] = marked.of();
  out["seconds"] = marked.seconds;
  return out;
}

}  // namespace ridgeline::whatif
