// `ridgeline evidence ...`: commands about what is known of a server. Each is a function that
// declares its options, and one line in the table below.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "diagnosis/evidence_check.hpp"
#include "diagnosis/evidence_template.hpp"
#include "diagnosis/pasted/line.hpp"
#include "diagnosis/pasted/pasted_json.hpp"
#include "timeline/readers/input.hpp"
#include "whatif/told_evidence.hpp"

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

// -------------------------------------------------------------------------------------------- new

struct NewOptions {
  std::string out;
  bool training = false;
  bool json = false;
};

int write_template(const NewOptions& options) {
  if (options.json) {
    fmt::print("{}\n", diagnosis::evidence_keys_json().dump(2));
    return kDone;
  }
  const std::string text =
      diagnosis::evidence_template({.machine = "mi300x", .model = "llama3_8b"}, options.training);
  if (options.out.empty()) {
    fmt::print("{}", text);
    return kDone;
  }
  std::error_code error;
  if (std::filesystem::exists(options.out, error))
    throw core::ConfigError(options.out + ": exists; it may hold somebody's numbers");
  std::ofstream file(options.out);
  file << text;
  file.close();
  if (!file) throw core::ConfigError(options.out + ": cannot be written");
  fmt::print("written to {}\n", options.out);
  return kDone;
}

Action declare_new(CLI::App& app) {
  auto options = std::make_shared<NewOptions>();
  app.add_option("--out", options->out, "a file to write, which must not be there yet")
      ->type_name("FILE");
  app.add_flag("--training", options->training, "of a training step instead of a server");
  app.add_flag("--json", options->json, "every key, symptom and change with its meaning");
  app.footer(
      "\nFor example:\n"
      "  ridgeline evidence new --out my_server.yaml");
  return [options] { return write_template(*options); };
}

// ------------------------------------------------------------------------------------------ check

int check(const ReadOptions& options) {
  const auto library = core::ConfigLibrary::standard();
  const diagnosis::EvidenceDocument told = whatif::open_told(options.file, library);
  const diagnosis::EvidenceCheck answer =
      diagnosis::check_evidence(told.evidence, diagnosis::Places(told.document, library));
  if (options.json) {
    fmt::print("{}\n", diagnosis::to_json(answer, told.notes).dump(2));
  } else {
    fmt::print("{}", diagnosis::to_text(answer, told.notes));
  }
  return kDone;
}

Action declare_check(CLI::App& app) {
  auto options = std::make_shared<ReadOptions>();
  app.add_option("file", options->file, "evidence as YAML, or pasted text; '-' is standard input")
      ->required()
      ->type_name("FILE|-");
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nPrints what was understood, what is assumed, and which number that is missing would tell "
      "most: each is tried at values that it could have.\n"
      "\nFor example:\n"
      "  ridgeline evidence check my_server.yaml\n"
      "  ridgeline evidence check server.log");
  return [options] { return check(*options); };
}

constexpr Command kCommands[] = {
    {"new", "a file to fill in: every key with its meaning", declare_new},
    {"check", "what was understood, and which number to look for next", declare_check},
    {"read", "what pasted text says, as a fragment of evidence", declare_read},
    {"formats", "the formats that 'read' knows", declare_formats},
};

}  // namespace

Action declare_evidence(CLI::App& app) {
  app.require_subcommand(1);
  app.footer(
      "\nFor example:\n"
      "  ridgeline evidence new --out e.yaml   a file to fill in\n"
      "  ridgeline evidence check e.yaml       what is understood of it, and what is missing\n"
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
