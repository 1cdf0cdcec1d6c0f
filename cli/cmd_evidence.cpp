// `ridgeline evidence ...`: commands about what is known of a server. Each is a function that
// declares its options, and one line in the table below.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "diagnosis/pasted/line.hpp"
#include "diagnosis/pasted/pasted_json.hpp"
#include "timeline/readers/input.hpp"

namespace ridgeline::cli {
namespace {

using diagnosis::printable;

constexpr std::uint64_t kLargestText = std::uint64_t{2} << 30U;  // far more than people paste
constexpr std::size_t kShown = 20;  // kernels and unread lines that are listed for people

// ------------------------------------------------------------------------------------------- text

/// A scalar as YAML: quoted unless nobody could take it for something else.
std::string yaml(std::string_view value) {
  const std::string text = printable(value);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' ||
           c == '.' || c == '_' || c == '/' || c == '-' || c == '%' || c == '+';
  };
  const bool plain = !text.empty() && text.front() != '-' && text.front() != '%' &&
                     text.front() != ' ' && text.back() != ' ' &&
                     std::all_of(text.begin(), text.end(), is_plain);
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\t') {
      quoted += "\\t";
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

/// What a comment shows of a source line.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 100;
  std::string out = printable(text.substr(0, 2 * kMost));
  std::replace(out.begin(), out.end(), '\t', ' ');
  if (out.size() <= kMost) return out;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80U) --end;
  return out.substr(0, end) + "...";
}

std::string section_of(const diagnosis::PastedFact& fact) {
  return fact.key.substr(0, fact.key.find('.'));
}

void print_facts(const std::vector<diagnosis::PastedFact>& facts) {
  std::vector<std::string> sections;  // in the order in which the text comes to them
  for (const auto& fact : facts) {
    if (std::find(sections.begin(), sections.end(), section_of(fact)) == sections.end())
      sections.push_back(section_of(fact));
  }
  for (const std::string& section : sections) {
    bool is_first = true;
    for (const auto& fact : facts) {
      if (section_of(fact) != section) continue;
      const bool is_nested = fact.key != section;  // "devices" stands by itself
      if (is_nested && is_first) fmt::print("{}:\n", section);
      is_first = false;
      fmt::print("{}{}: {}  # line {}: {}\n", is_nested ? "  " : "",
                 is_nested ? yaml(fact.key.substr(section.size() + 1)) : fact.key, yaml(fact.value),
                 fact.line_number, excerpt(diagnosis::pasted::without_log_prefix(fact.line)));
    }
  }
}

void print_kernels(std::vector<diagnosis::PastedKernel> kernels) {
  if (kernels.empty()) return;
  double all = 0.0;
  for (const auto& kernel : kernels) all += kernel.seconds;
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  fmt::print("# kernels: {}, {:.4g} s together; the longest:\n", kernels.size(), all);
  for (std::size_t i = 0; i < std::min(kShown, kernels.size()); ++i) {
    fmt::print("#   {:5.1f} %  {:>8} calls  {}\n", 100.0 * kernels[i].seconds / all,
               kernels[i].calls, excerpt(kernels[i].name));
  }
}

void print_unread(const std::vector<std::string>& unread) {
  if (unread.empty()) return;
  fmt::print("# lines not read: {}\n", unread.size());
  for (std::size_t i = 0; i < std::min(kShown, unread.size()); ++i)
    fmt::print("#   {}\n", excerpt(unread[i]));
  if (unread.size() > kShown) fmt::print("#   ... and {} more\n", unread.size() - kShown);
}

// ------------------------------------------------------------------------------------------- read

struct ReadOptions {
  std::string file;
  bool json = false;
};

int read(const ReadOptions& options) {
  const std::string name = options.file == "-" ? "standard input" : options.file;
  const auto text = timeline::load_input(options.file, name, kLargestText);
  diagnosis::Pasted pasted = diagnosis::read_pasted(text.view());
  pasted.notes.insert(pasted.notes.begin(), text.notes.begin(), text.notes.end());
  if (options.json) {
    fmt::print("{}\n", diagnosis::to_json(pasted).dump(2));
    return kDone;
  }
  if (pasted.facts.empty() && pasted.kernels.empty()) {
    fmt::print("# nothing here is of a known format; see 'ridgeline evidence formats'\n");
  }
  print_facts(pasted.facts);
  print_kernels(pasted.kernels);
  for (const std::string& note : pasted.notes) fmt::print("# note: {}\n", printable(note));
  print_unread(pasted.unread);
  return kDone;
}

Action declare_read(CLI::App& app) {
  auto options = std::make_shared<ReadOptions>();
  app.add_option("file", options->file, "the text; '-' is standard input")
      ->required()
      ->type_name("FILE|-");
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nPrints what the text says as a fragment of evidence YAML, each value with its line, and "
      "what "
      "was not read.\n"
      "\nFor example:\n"
      "  ridgeline evidence read server.log\n"
      "  vllm bench serve ... | ridgeline evidence read -");
  return [options] { return read(*options); };
}

// ---------------------------------------------------------------------------------------- formats

Action declare_formats(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "for machines");
  return [json] {
    const auto formats = diagnosis::pasted_formats();
    if (*json) {
      auto out = nlohmann::ordered_json::array();
      for (const auto& f : formats) out.push_back({{"name", f.name}, {"reads", f.reads}});
      fmt::print("{}\n", out.dump(2));
      return static_cast<int>(kDone);
    }
    std::size_t width = 0;
    for (const auto& f : formats) width = std::max(width, f.name.size());
    for (const auto& f : formats) fmt::print("{:<{}}  {}\n", f.name, width, f.reads);
    return static_cast<int>(kDone);
  };
}

constexpr Command kCommands[] = {
    {"read", "what pasted text says, as a fragment of evidence", declare_read},
    {"formats", "the formats that 'read' knows", declare_formats},
};

}  // namespace

Action declare_evidence(CLI::App& app) {
  app.require_subcommand(1);
  app.footer(
      "\nFor example:\n"
      "  ridgeline evidence read server.log    what a log says of its server\n"
      "  ridgeline evidence formats            what else can be pasted");
  auto chosen = std::make_shared<Action>();
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->callback([chosen, action = command.declare(*sub)] { *chosen = action; });
  }
  return [chosen] { return (*chosen)(); };
}

}  // namespace ridgeline::cli
