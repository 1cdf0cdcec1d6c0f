#include "whatif/exercise/exercise.hpp"

#include <catch2/catch.hpp>

#include <cctype>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "diagnosis/fixes/table.hpp"
#include "tests/core/fixtures.hpp"
#include "tests/sim/fixtures.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/exercise/amounts.hpp"
#include "whatif/exercise/answers.hpp"
#include "whatif/exercise/deck.hpp"
#include "whatif/exercise/sheet.hpp"
#include "whatif/exercise/truth.hpp"
#include "whatif/told_evidence.hpp"

using namespace ridgeline;
using core::Dimension;
using core::Interval;
using whatif::Answer;
using whatif::DrillLevel;
using whatif::DrillSource;
using whatif::Exercise;
using whatif::Verdict;

namespace {

std::vector<Exercise> dealt(const whatif::DrillOptions& options, std::size_t n,
                            const core::ConfigLibrary& library = tests::shipped()) {
  whatif::Deck deck(options, library);
  std::vector<Exercise> out;
  while (out.size() < n) {
    auto exercise = deck.next();
    if (!exercise) break;
    out.push_back(std::move(*exercise));
  }
  return out;
}

const std::vector<Exercise>& cases() {
  static const std::vector<Exercise> all = dealt({.from = DrillSource::cases}, 9);
  return all;
}

/// One of each of ten seeds, at either level in turn.
const std::vector<Exercise>& generated() {
  static const std::vector<Exercise> all = [] {
    std::vector<Exercise> out;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const DrillLevel level = seed % 2 == 0 ? DrillLevel::throughput : DrillLevel::percentages;
      for (Exercise& e : dealt({.from = DrillSource::generated, .level = level, .seed = seed}, 1))
        out.push_back(std::move(e));
    }
    return out;
  }();
  return all;
}

std::vector<const Exercise*> everything() {
  std::vector<const Exercise*> out;
  for (const auto* list : {&cases(), &generated()}) {
    for (const Exercise& e : *list) out.push_back(&e);
  }
  return out;
}

std::vector<Answer> key_of(const Exercise& exercise) {
  std::vector<Answer> out;
  for (const whatif::Question& q : exercise.questions) out.emplace_back(q.key);
  return out;
}

bool has_digit(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

const whatif::Choice& called(const whatif::Question& question, const std::string& name) {
  for (const whatif::Choice& c : question.choices) {
    if (c.name == name) return c;
  }
  throw core::InvariantError("no choice " + name);
}

const Exercise& case_of(char letter) {
  for (const Exercise& e : cases()) {
    if (e.title.starts_with(std::string("Case ") + letter)) return e;
  }
  throw core::InvariantError("no such case");
}

}  // namespace

TEST_CASE("Perfect answers have all marks, in every case and of ten seeds", "[whatif][exercise]") {
  REQUIRE(cases().size() == 5);
  REQUIRE(generated().size() == 10);
  for (const Exercise* e : everything()) {
    INFO(e->title);
    const whatif::Marked marked{*e, key_of(*e), 0.0};
    CHECK(e->questions.size() == 4);
    CHECK(marked.points() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(marked.mark(i).verdict == Verdict::right);
  }
}

TEST_CASE("No answers have no marks, and say what was right", "[whatif][exercise]") {
  const Exercise& e = cases().front();
  const whatif::Marked marked{e, {}, 0.0};
  CHECK(marked.points() == 0);
  CHECK(marked.of() == 4);
  CHECK(marked.mark(0).verdict == Verdict::unanswered);
  CHECK(whatif::mark_text(e.questions[0], std::nullopt).find("unanswered: it is ") == 2);
}

TEST_CASE("A wrong answer is marked wrong, with a reason that has a number", "[whatif][exercise]") {
  for (const Exercise* e : everything()) {
    for (const whatif::Question& question : e->questions) {
      INFO(e->title << ", " << question.name);
      std::size_t wrong = 0;
      for (const whatif::Choice& c : question.choices) {
        CHECK_FALSE(c.mark.why.empty());
        wrong += c.mark.verdict == Verdict::wrong ? 1U : 0U;
      }
      CHECK(wrong >= 1);
      if (question.name != "regime") continue;
      for (const whatif::Choice& c : question.choices) CHECK(has_digit(c.mark.why));
    }
  }
}

TEST_CASE("Case A is bandwidth, fewer bits help it, and a larger batch does not",
          "[whatif][exercise]") {
  const Exercise& a = case_of('A');
  CHECK(called(a.questions[0], "bandwidth_bound").mark.verdict == Verdict::right);
  CHECK(called(a.questions[0], "transfer_bound").mark.verdict == Verdict::wrong);
  CHECK(called(a.questions[2], "weight_quantization_4bit").mark.verdict == Verdict::right);
  CHECK(called(a.questions[2], "larger_batch").mark.verdict == Verdict::wrong);
  CHECK(called(a.questions[3], "larger_batch").mark.verdict == Verdict::right);
  CHECK(called(a.questions[3], "weight_quantization_4bit").mark.verdict == Verdict::wrong);
}

TEST_CASE("What somebody proposes in a case stands in its menu", "[whatif][exercise]") {
  CHECK_NOTHROW(called(case_of('B').questions[2], "hand_fusion"));
  CHECK(called(case_of('D').questions[3], "weight_quantization_4bit").mark.verdict ==
        Verdict::right);
}

TEST_CASE("A sheet names no regime and no fix", "[whatif][exercise]") {
  for (const Exercise* e : everything()) {
    INFO(e->sheet);
    for (const std::string_view regime : diagnosis::kRegimeNames) {
      std::string in_words(regime);
      std::replace(in_words.begin(), in_words.end(), '_', ' ');
      CHECK(e->sheet.find(regime) == std::string::npos);
      CHECK(e->sheet.find(in_words) == std::string::npos);
    }
    for (const diagnosis::Fix* fix : diagnosis::all_fixes()) {
      CHECK(e->sheet.find(fix->name) == std::string::npos);
      CHECK(e->sheet.find(fix->title) == std::string::npos);
    }
  }
}

TEST_CASE("A menu has eight different fixes and four different sentences", "[whatif][exercise]") {
  for (const Exercise* e : everything()) {
    INFO(e->title);
    const std::vector<std::size_t> sizes{9, 4, 8, 8};
    for (std::size_t q = 0; q < 4; ++q) {
      std::set<std::string> texts;
      for (const whatif::Choice& c : e->questions[q].choices) texts.insert(c.text);
      CHECK(texts.size() == sizes[q]);
    }
    const auto& observations = e->questions[1];
    CHECK(observations.choices[observations.key].text ==
          e->diagnosis.settling_evidence.front().statement);
  }
}

TEST_CASE("The same seed gives the same exercises, another one others", "[whatif][exercise]") {
  const auto text = [](std::uint64_t seed) {
    std::string out;
    for (const Exercise& e : dealt({.seed = seed}, 3)) out += to_json(e, true).dump();
    return out;
  };
  CHECK(text(3) == text(3));
  CHECK(text(3) != text(4));
}

TEST_CASE("A fix is right from 5 % on and from half of the best one's logarithm on",
          "[whatif][exercise]") {
  whatif::Truth truth;
  truth.label.emplace();
  // sqrt(1.44) = 1.2
  truth.label->gains = {{"graph_capture", 1.44, {}},
                        {"asynchronous_host", 1.21, {}},
                        {"compile_fusion", 1.19, {}},
                        {"kv_split", 1.04, {}},
                        {"fused_attention", std::nullopt, "there is nothing to change"},
                        {"speculative_decoding", std::nullopt, "no draft model"}};
  CHECK(truth.of_fix("graph_capture").verdict == Verdict::right);
  CHECK(truth.of_fix("asynchronous_host").verdict == Verdict::right);
  CHECK(truth.of_fix("compile_fusion").verdict == Verdict::wrong);
  CHECK(truth.of_fix("fused_attention").verdict == Verdict::wrong);
  CHECK(truth.of_reject("kv_split").verdict == Verdict::right);
  CHECK(truth.of_reject("fused_attention").verdict == Verdict::right);
  CHECK(truth.of_reject("compile_fusion").verdict == Verdict::wrong);
  CHECK_FALSE(truth.knows("speculative_decoding"));
  CHECK(truth.of_fix("compile_fusion").why.find("1.19x; graph_capture brings 1.44x") !=
        std::string::npos);

  truth.rejects = {{"graph_capture", "nobody may"}};
  CHECK(truth.of_fix("graph_capture").verdict == Verdict::wrong);
  CHECK(truth.of_reject("graph_capture").verdict == Verdict::right);
}

TEST_CASE("A near tie is as good as the right regime", "[whatif][exercise]") {
  whatif::Truth truth;
  truth.regimes = {diagnosis::Regime::compute_bound, diagnosis::Regime::mixed};
  truth.why = "both roofs stand at 60 %";
  CHECK(truth.of_regime(diagnosis::Regime::mixed).verdict == Verdict::near_tie);
  CHECK(truth.of_regime(diagnosis::Regime::mixed).points() == 1);
  CHECK(truth.of_regime(diagnosis::Regime::load_bound).verdict == Verdict::wrong);
  CHECK(truth.of_regime(diagnosis::Regime::load_bound).why ==
        "it is compute_bound: both roofs stand at 60 %");
}

TEST_CASE("A quantity is shown as it was written", "[whatif][exercise]") {
  const auto shown = [](const char* typed, Dimension dimension, const char* counted = "") {
    return whatif::as_written(*core::parse_interval(typed, dimension), dimension, counted);
  };
  CHECK(shown("14 %", Dimension::fraction) == "14 %");
  CHECK(shown("3.5 %", Dimension::fraction) == "3.5 %");
  CHECK(shown("27.8 ms", Dimension::time) == "27.8 ms");
  CHECK(shown("6-30 us", Dimension::time) == "6 to 30 us");
  CHECK(shown("~40 GB", Dimension::bytes) == "about 40 GB");
  CHECK(shown("6100 /s", Dimension::rate, "tokens") == "6,100 tokens/s");
  CHECK(shown("8e9", Dimension::none) == "8 billion");
  CHECK(shown("=26 GB", Dimension::bytes) == "26 GB");
  CHECK(whatif::as_written({0.0, 0.0005}, Dimension::fraction) == "0.0 %");
  CHECK(whatif::as_written(Interval(0.0), Dimension::none) == "0");
  CHECK(whatif::as_written(Interval(25000.0), Dimension::none) == "25,000");
}

TEST_CASE("Every public report makes a sheet with its numbers on it", "[whatif][exercise]") {
  std::size_t reports = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(tests::shipped().root() / "reports")) {
    if (!entry.path().string().ends_with(".evidence.yaml")) continue;
    const auto evidence = whatif::load_evidence_file(entry.path(), tests::shipped());
    const std::string sheet = whatif::sheet_of(evidence, {evidence.title, "", ""});
    INFO(sheet);
    CHECK(has_digit(sheet));
    CHECK(sheet.find("nan") == std::string::npos);
    CHECK(sheet.find("inf ") == std::string::npos);
    ++reports;
  }
  CHECK(reports >= 45);
}

TEST_CASE("Reports are marked by what their authors found, and do not show what helped",
          "[whatif][exercise]") {
  // A library whose reports have a truth: everything else is the shipped one's.
  const auto root = std::filesystem::temp_directory_path() / "ridgeline_exercise_test";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / "reports");
  std::filesystem::create_directories(root / "truth");
  for (const auto& entry : std::filesystem::directory_iterator(tests::shipped().root())) {
    if (entry.path().filename() != "reports" && entry.path().filename() != "truth")
      std::filesystem::create_symlink(entry.path(), root / entry.path().filename());
  }
  const std::string report = "r12_busy_with_copies";
  std::filesystem::copy(tests::shipped().root() / "reports" / (report + ".evidence.yaml"),
                        root / "reports");
  const core::ConfigLibrary library(root);
  const auto truth = [&](const std::string& text) {
    std::ofstream(root / "truth" / "reports.yaml") << text;
  };

  CHECK(tests::error_of([&] {
          static_cast<void>(dealt({.from = DrillSource::reports}, 1, library));
        }).find("reports.yaml") != std::string::npos);
  truth(report +
        ": {regimes: [kernel_inefficiency, mixed], fixes: [remove_casts], "
        "rejects: [more_tensor_parallelism]}");
  const auto found = dealt({.from = DrillSource::reports}, 2, library);
  REQUIRE(found.size() == 1);
  CHECK(found[0].sheet.find("Somebody tried") == std::string::npos);
  CHECK(found[0].sheet.find("4.42 tokens/s") != std::string::npos);
  CHECK(whatif::Marked{found[0], key_of(found[0]), 0.0}.points() == 4);
  CHECK(called(found[0].questions[3], "more_tensor_parallelism").mark.why.find("0.93x") !=
        std::string::npos);  // 4.09 / 4.42
  CHECK(called(found[0].questions[0], "mixed").mark.verdict == Verdict::near_tie);

  truth(report + ": {regimes: [overhead], fixes: []}");
  CHECK(tests::error_of([&] {
          static_cast<void>(dealt({.from = DrillSource::reports}, 1, library));
        }).find("unknown regime 'overhead'") != std::string::npos);
  std::filesystem::remove_all(root);
}

TEST_CASE("An answer is a letter or a name in any spelling", "[whatif][exercise]") {
  const whatif::Question& regime = cases().front().questions[0];
  CHECK(regime.choice_of(" b ") == std::size_t{1});
  CHECK(regime.choice_of("B)") == std::size_t{1});
  CHECK(regime.choice_of("Bandwidth-bound") == std::size_t{1});
  CHECK(regime.choice_of("?") == std::nullopt);
  const auto error = [&](const char* typed) {
    return tests::error_of([&] { static_cast<void>(regime.choice_of(typed)); });
  };
  CHECK(error("bandwith_bound") ==
        "regime: expected a letter from a to i or a name, or ? to pass, got 'bandwith_bound'; did "
        "you mean 'bandwidth_bound'?");
  CHECK(error("") == "regime: expected a letter from a to i or a name, or ? to pass, got nothing");
}

TEST_CASE("Answers are read from lines, from a list, and from maps by question",
          "[whatif][exercise]") {
  const Exercise& e = case_of('A');
  const auto answers = [&](const char* text) {
    whatif::WrittenAnswers written(text, "a.txt");
    std::vector<Answer> out;
    for (std::size_t i = 0; i < e.questions.size(); ++i) {
      const auto next = written.next(e.questions[i], i == 0);
      if (!next) break;
      out.push_back(whatif::answer_of(e.questions[i], *next));
    }
    written.finish();
    return out;
  };
  const std::vector<Answer> expected{1, std::nullopt, 0, 2};
  CHECK(answers("b  # HBM\n\n?\na\nc\n") == expected);
  CHECK(answers("- b\n-\n- a\n- c\n") == expected);
  CHECK(answers("[b, '?', a, c]") == expected);
  CHECK(answers("- {reject: c, fix: a, regime: b}\n") == expected);
  CHECK(answers("b") == std::vector<Answer>{1});
  CHECK(tests::error_of([&] { answers("b\nb\nb\nzz\n"); }).starts_with("a.txt:4: reject: "));
  CHECK(tests::error_of([&] { answers("- {regime: b, fixx: a}"); }) ==
        "a.txt:1:21: unknown question 'fixx'; did you mean 'fix'?");
  CHECK(tests::error_of([&] { answers("a\na\na\na\na\nb"); }) ==
        "a.txt:5: 2 more answers than questions; ask for more with --n");
}
