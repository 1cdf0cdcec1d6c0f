#pragma once
// A line of pasted text, freed of what the way here put around it: terminal colours (also those
// that lost their escape character), quotation marks of mail and Markdown, HTML entities, hard
// spaces, Windows line ends, the redrawn part of a progress bar.

#include <string>
#include <string_view>

namespace ridgeline::diagnosis::pasted {

struct Line {
  std::string_view raw;   // as it stood in the text
  std::string_view text;  // cleaned and trimmed; lives until the next line is taken
  std::string_view body;  // `text` without the prefix of a log: time, level, file, process
  int number = 0;         // from 1
};

/// The lines of a text, one after another. The text must outlive this.
class Lines {
 public:
  explicit Lines(std::string_view text);
  /// False at the end.
  [[nodiscard]] bool next(Line& line);

 private:
  std::string_view rest_;
  std::string buffer_;
  int number_ = 0;
};

/// What `raw` is once cleaned. A view of `raw`, or of `buffer` where something had to go.
[[nodiscard]] std::string_view cleaned(std::string_view raw, std::string& buffer);

/// `text` from behind the prefixes that logs begin with.
[[nodiscard]] std::string_view without_log_prefix(std::string_view text);

}  // namespace ridgeline::diagnosis::pasted
