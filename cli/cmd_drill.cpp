#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/colour.hpp"
#include "cli/command.hpp"
#include "cli/line_input.hpp"
#include "cli/table.hpp"
#include "core/document.hpp"
#include "core/error.hpp"
#include "diagnosis/prose.hpp"
#include "diagnosis/report.hpp"
#include "whatif/exercise/answers.hpp"
#include "whatif/exercise/deck.hpp"

namespace ridgeline::cli {
namespace {

using whatif::Answer;
using Clock = LineInput::Clock;

struct Options {
  whatif::DrillOptions drill;
  std::int64_t n = 5;
  std::optional<double> limit;
  std::string answers;
  std::string colour = "auto";
  bool json = false;
  bool show_only = false;
  bool key = false;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// One exercise as it was worked through; it owns what the marks refer to.
struct Done {
  std::unique_ptr<const whatif::Exercise> exercise;
  std::vector<Answer> answers;
  double seconds = 0.0;

  [[nodiscard]] whatif::Marked marked() const { return {*exercise, answers, seconds}; }
};

class Drill {
 public:
  explicit Drill(const Options& options)
      : options_(options),
        palette_(coloured(options.colour)),
        // With --json standard output is for the marks; who works on the sheets still sees them.
        out_(options.json ? stderr : stdout),
        silent_(options.json && !options.answers.empty()) {
    if (options.answers.empty()) return;
    const bool piped = options.answers == "-";
    const std::string text = piped ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                                   : core::read_text_file(options.answers);
    written_.emplace(text, piped ? "answers" : options.answers);
  }

  int run() {
    whatif::Deck deck(options_.drill, core::ConfigLibrary::standard());
    for (std::int64_t i = 0; i < options_.n && !over_; ++i) {
      auto exercise = deck.next();
      if (!exercise) break;
      work(std::make_unique<const whatif::Exercise>(std::move(*exercise)));
    }
    if (written_ && !over_) written_->finish();
    conclude();
    return kDone;
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) const {
    if (!silent_) fmt::print(out_, format, std::forward<Args>(args)...);
  }

  void work(std::unique_ptr<const whatif::Exercise> exercise) {
    say("{}\n\n{}", palette_.head(fmt::format("Exercise {} of {}", done_.size() + 1, options_.n)),
        exercise->sheet);
    Done done{std::move(exercise), {}, 0.0};
    begin_ = Clock::now();
    bool late = false;
    for (const whatif::Question& question : done.exercise->questions) {
      if (over_ || late) break;
      say("\n{}", whatif::menu_text(question));
      std::optional<Answer> answer =
          written_ ? from_script(question, done.answers.empty()) : from_person(question, late);
      if (answer) done.answers.push_back(*answer);
    }
    if (!written_) done.seconds = seconds_since(begin_);
    if (over_ && done.answers.empty()) return;
    reveal(done);
    done_.push_back(std::move(done));
  }

  /// Nothing when there are no more answers.
  std::optional<Answer> from_script(const whatif::Question& question, bool begins) {
    const auto written = written_->next(question, begins);
    over_ = !written;
    if (!written) return std::nullopt;
    say("> {}\n", written->text);
    return whatif::answer_of(question, *written);
  }

  /// Asks until the answer is one; nothing when the person leaves or the time is up.
  std::optional<Answer> from_person(const whatif::Question& question, bool& late) {
    for (;;) {
      say("[{}] > ", clock_text(seconds_since(begin_)));
      std::fflush(out_);
      std::optional<Clock::time_point> until;
      if (options_.limit) {
        until = begin_ + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(*options_.limit));
      }
      const LineInput::Got got = input_.next(until);
      if (got.end == LineInput::End::line) {
        try {
          return question.choice_of(got.text);
        } catch (const core::ConfigError& e) {
          say("  {}\n", e.what());
          continue;
        }
      }
      late = got.end == LineInput::End::time_is_up;
      over_ = !late;
      say("\n");
      if (late) say("  The time is up.\n");
      return std::nullopt;
    }
  }

  void reveal(const Done& done) const {
    const whatif::Exercise& exercise = *done.exercise;
    const whatif::Marked marked = done.marked();
    const std::string time =
        done.seconds > 0.0 ? fmt::format(" in {}", clock_text(done.seconds)) : "";
    say("\n{}", palette_.head(fmt::format("{} of {}{}\n", marked.points(), marked.of(), time)));
    for (std::size_t i = 0; i < exercise.questions.size(); ++i) {
      const Answer answer = i < done.answers.size() ? done.answers[i] : std::nullopt;
      say("{}\n{}", exercise.questions[i].name, whatif::mark_text(exercise.questions[i], answer));
    }
    if (!exercise.note.empty()) say("{}\n", exercise.note);
    say("\n{}\n{}\n", diagnosis::to_text(exercise.diagnosis, palette_),
        diagnosis::wrapped(exercise.own_marks, 2));
  }

  void conclude() const {
    int points = 0;
    int of = 0;
    nlohmann::ordered_json items = nlohmann::ordered_json::array();
    Table table({"exercise", "marks", "time"});
    for (const Done& done : done_) {
      const whatif::Marked marked = done.marked();
      points += marked.points();
      of += marked.of();
      items.push_back(whatif::to_json(marked));
      table.add({done.exercise->title, fmt::format("{} of {}", marked.points(), marked.of()),
                 done.seconds > 0.0 ? clock_text(done.seconds) : "-"});
    }
    if (options_.json) {
      fmt::print(
          "{}\n",
          nlohmann::ordered_json(
              {{"seed", options_.drill.seed}, {"items", items}, {"points", points}, {"of", of}})
              .dump(2));
      return;
    }
    if (done_.empty()) return say("Nothing was answered.\n");
    say("{}\n{} of {} marks\n", table.text({1, 2}), points, of);
  }

  const Options& options_;
  diagnosis::Palette palette_;
  std::FILE* out_;
  bool silent_;
  std::optional<whatif::WrittenAnswers> written_;
  LineInput input_;
  Clock::time_point begin_;
  bool over_ = false;
  std::vector<Done> done_;
};

std::string key_text(const whatif::Exercise& exercise) {
  std::string out = "\nAnswers\n";
  for (const whatif::Question& question : exercise.questions)
    out += question.name + "\n" + whatif::mark_text(question, question.key);
  return out;
}

int show(const Options& options) {
  whatif::Deck deck(options.drill, core::ConfigLibrary::standard());
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (std::int64_t i = 0; i < options.n; ++i) {
    const auto exercise = deck.next();
    if (!exercise) break;
    if (options.json) {
      items.push_back(whatif::to_json(*exercise, options.key));
      continue;
    }
    fmt::print("{}Exercise {}\n\n{}{}", i > 0 ? "\n\n" : "", i + 1, whatif::to_text(*exercise),
               options.key ? key_text(*exercise) : "");
  }
  if (options.json) fmt::print("{}\n", items.dump(2));
  return kDone;
}

int drill(const Options& options) {
  if (options.show_only && (!options.answers.empty() || options.limit)) {
    throw core::ConfigError(
        "drill: --show-only asks nothing: --answers and --limit cannot stand beside it");
  }
  if (!options.answers.empty() && options.limit)
    throw core::ConfigError("drill: --limit is for people, and --answers are written already");
  if (options.key && !options.show_only)
    throw core::ConfigError("drill: --key goes with --show-only");
  return options.show_only ? show(options) : Drill(options).run();
}

}  // namespace

Action declare_drill(CLI::App& app) {
  struct Typed {
    Options options;
    std::string from = "all";
    std::string level = "percentages";
  };
  auto typed = std::make_shared<Typed>();
  Options& options = typed->options;
  app.add_option("--n", options.n, "how many exercises")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}))
      ->capture_default_str();
  app.add_option("--seed", options.drill.seed, "the same exercises for the same seed")
      ->type_name("SEED")
      ->capture_default_str();
  app.add_option("--from", typed->from, "the shipped cases, servers generated now, public reports")
      ->type_name("cases|generated|reports|all")
      ->capture_default_str();
  app.add_option("--level", typed->level, "what is known of a generated server")
      ->type_name("throughput|percentages")
      ->capture_default_str();
  app.add_option("--limit", options.limit,
                 "seconds for an exercise; what comes later is not counted")
      ->type_name("SECONDS")
      ->check(CLI::Range(1.0, 86400.0));
  app.add_option("--answers", options.answers,
                 "answers written beforehand, a line each or a YAML list; - is standard input")
      ->type_name("FILE");
  app.add_flag("--show-only", options.show_only, "the sheets and their questions, to print");
  app.add_flag("--key", options.key, "with --show-only: the answers too");
  app.add_flag("--json", options.json, "the marks of each exercise and in all, for machines");
  add_colour(app, options.colour);
  app.footer(
      "\nFor example:\n"
      "  ridgeline drill                                five exercises\n"
      "  ridgeline drill --from cases --limit 300       the five cases, five minutes each\n"
      "  ridgeline drill --from generated --level throughput --seed 7\n"
      "  ridgeline drill --n 10 --seed 3 --show-only > sheets.txt\n"
      "  ridgeline drill --n 10 --seed 3 --answers ada.txt --json > ada.json\n"
      "\nAn answer is a letter or a name; ? passes, Ctrl-D ends with the marks so far.");
  return [typed] {
    typed->options.drill.from = whatif::drill_source_named(typed->from);
    typed->options.drill.level = whatif::drill_level_named(typed->level);
    return drill(typed->options);
  };
}

}  // namespace ridgeline::cli
