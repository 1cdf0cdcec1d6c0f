#include "whatif/exercise/answers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/document.hpp"
#include "core/error.hpp"

namespace ridgeline::whatif {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

/// A list in YAML begins with its bracket or with a dash and a space.
bool looks_like_yaml(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return false;
  return text[first] == '[' || text.substr(first, 4) == "--- " ||
         text.substr(first, 4) == "---\n" || text.substr(first, 2) == "- ";
}

}  // namespace

WrittenAnswers::WrittenAnswers(std::string_view text, const std::string& name) : name_(name) {
  if (!looks_like_yaml(text)) {
    for (int line = 1; !text.empty(); ++line) {
      const auto end = std::min(text.find('\n'), text.size());
      std::string_view answer = text.substr(0, end);
      answer = answer.substr(0, answer.find('#'));
      if (const auto first = answer.find_first_not_of(kSpace); first != std::string_view::npos) {
        answer = answer.substr(first, answer.find_last_not_of(kSpace) - first + 1);
        entries_.push_back({{}, {std::string(answer), fmt::format("{}:{}", name, line)}});
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return;
  }
  const core::Node document = core::parse_yaml(text, name);
  const auto place = [](const core::Node& node) { return node.position.text(); };
  for (const core::Node& item : document.items) {
    // What is left empty passes.
    const auto word = [](const core::Node& node) {
      return node.kind == core::Node::Kind::null ? std::string("?") : node.scalar;
    };
    Entry entry{{}, {word(item), place(item)}};
    for (const auto& [question, answer] : item.entries)
      entry.by_question.push_back({question, {word(answer), place(answer)}});
    const bool map = item.kind == core::Node::Kind::map;
    if (item.kind == core::Node::Kind::list || (!entries_.empty() && map != maps_)) {
      throw core::ConfigError(
          fmt::format("{}: expected answers, or a map of them for each exercise, got {}",
                      place(item), item.describe()));
    }
    maps_ = map;
    entries_.push_back(std::move(entry));
  }
}

std::optional<WrittenAnswers::Written> WrittenAnswers::next(const Question& question, bool begins) {
  if (!maps_) {
    if (taken_ == entries_.size()) return std::nullopt;
    return entries_[taken_++].alone;
  }
  if (begins) {
    if (taken_ == entries_.size()) return std::nullopt;
    ++taken_;
    const std::vector<std::string> known{"regime", "observation", "fix", "reject"};
    for (const auto& [key, written] : entries_[taken_ - 1].by_question) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw core::ConfigError(fmt::format("{}: unknown question '{}'{}", written.place, key,
                                            core::suggestion(key, known)));
      }
    }
  }
  const Entry& entry = entries_[taken_ - 1];
  for (const auto& [key, written] : entry.by_question) {
    if (key == question.name) return written;
  }
  return Written{"?", entry.alone.place};
}

void WrittenAnswers::finish() const {
  if (taken_ == entries_.size()) return;
  const Entry& entry = entries_[taken_];
  throw core::ConfigError(fmt::format("{}: {} more answer{} than questions; ask for more with --n",
                                      entry.alone.place, entries_.size() - taken_,
                                      entries_.size() - taken_ == 1 ? "" : "s"));
}

Answer answer_of(const Question& question, const WrittenAnswers::Written& written) {
  try {
    return question.choice_of(written.text);
  } catch (const core::ConfigError& e) {
    throw core::ConfigError(fmt::format("{}: {}", written.place, e.what()));
  }
}

}  // namespace ridgeline::whatif
