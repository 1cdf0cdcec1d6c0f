#include "fidelity/validate_files.hpp"

#include <iterator>

#include "core/error.hpp"
#include "fidelity/batches.hpp"
#include "fidelity/replay.hpp"
#include "fidelity/serving.hpp"
#include "whatif/case.hpp"

namespace ridgeline::fidelity {

std::string no_table(const std::vector<std::filesystem::path>& data) {
  return (data.empty() ? std::string("no file") : data.front().string()) +
         ": no table with measured kernels: 'ridgeline predict --help' lists the columns of their "
         "shapes, beside which stands a time (time_us, time_ms, median_us) or rate (tflops, "
         "busbw_GBps)";
}

std::vector<Group> validate_files(
    const std::vector<std::filesystem::path>& data, const core::ConfigLibrary& library,
    const std::optional<std::string>& hw, const std::optional<std::string>& scenario,
    const std::function<bool(std::size_t done, std::size_t of)>& progress) {
  Machines machines(library, hw);
  std::vector<Group> groups;
  const auto take = [&groups](std::vector<Group> more) {
    groups.insert(groups.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  };
  for (const std::filesystem::path& path : data) {
    for (const std::filesystem::path& file : tables_in(path)) {
      if (is_recording(file)) {
        if (scenario) {
          const std::vector<sim::Override> replayed{{"workload.trace", file.string()}};
          take(validate_replay(file, whatif::open_scenario(*scenario, replayed, library)));
        } else if (file == path) {
          throw core::ConfigError(file.string() +
                                  ": a recorded run; a scenario must say whose server it was");
        }
        continue;
      }
      const Table table = load_table(file);
      if (is_serving_table(table)) {
        take(validate_serving(table, library, progress));
      } else if (is_batch_table(table)) {
        take(validate_batches(table, library, progress));
      } else if (const Operation* operation = recognize(table)) {
        take(validate(*operation, table, machines));
      }
    }
  }
  if (groups.empty()) throw core::ConfigError(no_table(data));
  return groups;
}

}  // namespace ridgeline::fidelity
