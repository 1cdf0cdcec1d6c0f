#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

#include "cli/command.hpp"
#include "cli/processes.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "whatif/corpus/corpus_directory.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string what;
  std::string out;
  std::int64_t n = 2000;
  std::uint64_t seed = 7;
  std::int64_t jobs = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  bool timelines = false;
  bool json = false;
  bool quiet = false;
};

void print_counts(const nlohmann::ordered_json& index, const char* key, const char* title) {
  Table table({title, "", ""});
  for (const auto& [name, count] : index[key].items()) {
    const double share = count.get<double>() / index["n"].get<double>();
    table.add({name, number(count.get<double>()), fmt::format("{:.1f} %", 100.0 * share)});
  }
  fmt::print("{}\n", table.text({1, 2}));
}

int generate(const Options& options) {
  const whatif::CorpusDirectory directory(options.out, options.seed, options.timelines);
  directory.remove_unfinished();
  const whatif::ServerPool pool(core::ConfigLibrary::standard());
  std::vector<std::int64_t> missing;
  for (std::int64_t i = 0; i < options.n; ++i) {
    if (!directory.has(i)) missing.push_back(i);
  }
  const auto count = static_cast<std::int64_t>(missing.size());
  bool finished = true;
  {
    Progress progress(!options.quiet);
    const auto make = [&](std::int64_t i) {
      directory.write(whatif::make_item(pool, options.seed, missing[static_cast<std::size_t>(i)]));
    };
    const auto report = [&](std::int64_t done) {
      return progress.report([&](double elapsed) {
        return fmt::format("{} of {} items, {:.1f} a second", done, count,
                           static_cast<double>(done) / elapsed);
      });
    };
    finished = count == 0 || in_processes(count, options.jobs, make, report);
  }
  if (!finished) {
    directory.remove_unfinished();
    fmt::print(
        "Stopped by Ctrl-C. What is in {} is whole; the same command goes on with the rest.\n",
        options.out);
    return kInterrupted;
  }
  const nlohmann::ordered_json index = directory.write_index(options.n);
  if (options.json) {
    fmt::print("{}\n", index.dump(2));
    return kDone;
  }
  fmt::print("{} items of seed {} in {}, {} of them made now\n\n", options.n, options.seed,
             options.out, count);
  print_counts(index, "regimes", "limiter");
  print_counts(index, "loads", "load");
  print_counts(index, "faults", "fault planted");
  return kDone;
}

}  // namespace

Action declare_corpus(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->what, "generate: write a corpus, or what is missing of it")
      ->type_name("generate")
      ->required()
      ->check(CLI::IsMember({"generate"}).description(""));
  app.add_option("--out", options->out, "directory that the items are written to")
      ->type_name("DIR")
      ->required();
  app.add_option("--n", options->n, "how many items")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "item i depends on the seed and i alone")
      ->type_name("SEED")
      ->capture_default_str();
  app.add_option("--jobs", options->jobs, "processes at work; as many as cores if left out")
      ->type_name("JOBS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  app.add_flag("--timelines", options->timelines,
               "also each item's kernels, some steps of them, as PyTorch's profiler writes them");
  app.add_flag("--json", options->json, "the index, for machines");
  app.add_flag("--quiet", options->quiet, "no progress on stderr");
  app.footer(
      "\nFor example:\n"
      "  ridgeline corpus generate --n 200 --out corpus\n"
      "  ridgeline diagnose corpus/0007/percentages.evidence.yaml\n"
      "\nItems that are there already are kept, if they are of the same seed.");
  return [options] { return generate(*options); };
}

}  // namespace ridgeline::cli
