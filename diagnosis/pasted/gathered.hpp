#pragma once
// What the readers found, before it is one value a key. Lines repeat themselves (eight ranks load
// the same weights), and sources differ (a client's limit, a server's count): equal values are one,
// the better source wins, and of two equals that differ neither is taken.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/pasted/line.hpp"
#include "diagnosis/pasted/pasted.hpp"

namespace ridgeline::diagnosis::pasted {

/// How directly a source says it. The most direct one counts.
enum class Source : std::uint8_t {
  implied,  // it was asked for, or follows from what was said
  sampled,  // measured at moments
  stated,   // said of the whole
};

/// What several lines mean that differ.
enum class Repeat : std::uint8_t {
  contradiction,  // one of them is not about this run: none is taken
  ranks,          // as many devices or moments: the middle one is taken
  running_total,  // a counter: the largest is taken
};

class Gathered {
 public:
  explicit Gathered(std::vector<std::string>& notes) : notes_(notes) {}

  /// The name of the format in turn; facts get it.
  void set_format(std::string_view name) { format_ = name; }

  /// Values that are nothing (a time or a rate of zero) become a note.
  void add(std::string_view key, std::string value, const Line& line,
           Source source = Source::stated, Repeat repeat = Repeat::contradiction);
  /// A sentence, once.
  void note(std::string sentence);
  /// A number that is there but not taken: "line 3: <why>: <line>".
  void doubt(const Line& line, std::string_view why);

  /// One fact a key, in the order of their lines.
  [[nodiscard]] std::vector<PastedFact> settled();

 private:
  struct Said {
    PastedFact fact;
    double number = 0.0;
    Source source{};
  };
  struct Entry {
    std::vector<Said> said;  // values that differ, up to a bound
    std::size_t more = 0;    // that did not fit
    Repeat repeat{};
  };
  [[nodiscard]] PastedFact middle_of(const std::string& key, std::vector<Said> said,
                                     std::size_t more);

  std::vector<std::string>& notes_;
  std::set<std::string, std::less<>> noted_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::string_view format_;
};

}  // namespace ridgeline::diagnosis::pasted
