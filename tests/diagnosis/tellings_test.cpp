// The forms in which a diagnosis is told: text, colours, markdown, a memo.

#include <catch2/catch.hpp>
#include <regex>

#include "diagnosis/evidence_reader.hpp"
#include "diagnosis/markdown.hpp"
#include "diagnosis/memo.hpp"
#include "diagnosis/prose.hpp"
#include "diagnosis/report.hpp"
#include "tests/diagnosis/observations.hpp"

using namespace ridgeline;
using Catch::Matchers::Contains;
using diagnosis::Diagnosis;
using diagnosis::Evidence;
using diagnosis::Palette;

namespace {

const char* const kCases[] = {"a_chatbot", "b_training", "c_summarizer", "d_api", "e_gaps"};

Evidence typed(const std::string& name) {
  const std::filesystem::path root(RIDGELINE_SOURCE_DIR);
  return diagnosis::load_evidence(root / "configs/cases" / (name + ".evidence.yaml"),
                                  core::ConfigLibrary(root / "configs"));
}

std::string memo_of(const Evidence& e) {
  const Diagnosis d = diagnosis::diagnose(e);
  return diagnosis::to_memo(d, diagnosis::explain(e, d));
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

}  // namespace

TEST_CASE("Colours taken away leave the plain text to the byte") {
  for (const char* name : kCases) {
    const Diagnosis d = diagnosis::diagnose(typed(name));
    const std::string coloured = diagnosis::to_text(d, Palette(true));
    CHECK(coloured.find('\x1b') != std::string::npos);
    CHECK(std::regex_replace(coloured, std::regex("\x1b\\[[0-9]*m"), "") == diagnosis::to_text(d));
    CHECK(diagnosis::to_text(d).find('\x1b') == std::string::npos);
  }
}

TEST_CASE("Contradictions are red, line by line") {
  const Evidence e = diagnosis::read_evidence(
      core::parse_yaml("machine: mi300x\nmodel: {parameters: 70e9, weight_dtype: fp16}\n"
                       "serving: {concurrency: 1}\nmeasured: {throughput: 400 tokens/s}",
                       "e.yaml"),
      core::ConfigLibrary(std::filesystem::path(RIDGELINE_SOURCE_DIR) / "configs"));
  const std::string text = diagnosis::to_text(diagnosis::diagnose(e), Palette(true));
  CHECK_THAT(text, Contains("\x1b[31mContradictions\x1b[0m\n\x1b[31m  time, "));
}

TEST_CASE("What a sentence holds by chance is no markup, no column and no call to anybody") {
  using diagnosis::markdown::code;
  using diagnosis::markdown::escaped;
  CHECK(escaped("a | b") == "a \\| b");
  CHECK(escaped("*kv_cache* <b> `x`") == "\\*kv\\_cache\\* \\<b\\> \\`x\\`");
  CHECK(escaped("# one\ntwo") == "\\# one two");
  CHECK(escaped("@somebody").find("@somebody") == std::string::npos);
  CHECK(escaped("see #12").find("#12") == std::string::npos);
  CHECK(code("kv_cache") == "`kv_cache`");
  CHECK(code("a|b") == "`a\\|b`");
  CHECK(code("a`b") == "`` a`b ``");
}

TEST_CASE("Markdown begins with three lines, and each row of its table has the same columns") {
  for (const char* name : kCases) {
    const Diagnosis d = diagnosis::diagnose(typed(name));
    const std::string text = diagnosis::to_markdown(d);
    INFO(text);
    const std::size_t binds = text.find("- **Binds:** ");
    const std::size_t proof = text.find("\n- **Proof:** ");
    const std::size_t todo = text.find("\n- **Do:** ");
    CHECK(binds < proof);
    CHECK(proof < todo);
    CHECK(count(text.substr(0, todo), "\n- ") == 2);  // nothing between the three
    const std::size_t columns = d.time_budget->in_seconds ? 5 : 4;
    std::size_t rows = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (!line.starts_with("|")) continue;
      ++rows;
      CHECK(count(line, "|") - count(line, "\\|") == columns);
    }
    CHECK(rows == d.time_budget->lines.size() + 2);
  }
}

TEST_CASE("A memo is a page: a pitch of two sentences, at most six numbers, and a question") {
  for (const char* name : kCases) {
    const Evidence e = typed(name);
    const Diagnosis d = diagnosis::diagnose(e);
    const std::string memo = memo_of(e);
    INFO(memo);
    CHECK(count(memo, "\n") <= 60);
    CHECK(count(memo, "\n| ") <= 6 + 1);  // and the header
    CHECK_THAT(memo, Contains("We recommend to "));
    CHECK_THAT(memo, Contains("`" + d.fixes.front().name + "`"));
    CHECK_THAT(memo, Contains("`" + d.rejects.front().name + "`"));
    CHECK_THAT(memo, Contains("## What it costs"));
    CHECK_THAT(memo, Contains("- **To answer first:** " + d.question));
  }
}

TEST_CASE("A memo on evidence that settles nothing recommends to change nothing") {
  Evidence e;
  e.measured.itl = diagnosis::Value({0.0195, 0.0205}, diagnosis::Origin::given, "measured.itl");
  const std::string memo = memo_of(e);
  CHECK_THAT(memo, Contains("Change nothing yet"));
  CHECK_THAT(memo, !Contains("We recommend"));
  CHECK_THAT(memo_of(Evidence{}), Contains("**To answer first:**"));
}
