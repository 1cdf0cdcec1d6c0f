#pragma once
// The same work for many numbers, shared by processes. Not threads: a process holds one simulation
// at a time.

#include <cstdint>
#include <functional>

namespace ridgeline::cli {

/// Does `work(i)` for i from 0 to n - 1 in `jobs` processes, each taking the next that nobody has;
/// no simulation may have run in this one. `progress(done)` is called now and then; once it returns
/// false they are stopped and so is this, with false. What a process throws is thrown here, as the
/// same kind of error; a process that ends otherwise is a SimulationError.
[[nodiscard]] bool in_processes(std::int64_t n, std::int64_t jobs,
                                const std::function<void(std::int64_t)>& work,
                                const std::function<bool(std::int64_t done)>& progress);

}  // namespace ridgeline::cli
