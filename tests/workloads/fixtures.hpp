#pragma once
// What the workload tests share: files that vanish, errors as text, YAML from a string.

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/document.hpp"
#include "core/error.hpp"
#include "core/reader.hpp"
#include "workloads/workload_spec.hpp"

namespace ridgeline::tests {

/// A folder of its own for one test, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("ridgeline-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// What the ConfigError that `action` throws says; "" when it throws none.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const core::ConfigError& error) {
    return error.what();
  }
  return "";
}

/// The workload that YAML text describes, every key accounted for. Errors call the text "w.yaml".
inline workloads::WorkloadSpec workload(const std::string& yaml,
                                        const std::string& file = "w.yaml") {
  const core::Node node = core::parse_yaml(yaml, file);
  const core::Reader in(node);
  const workloads::WorkloadSpec spec = workloads::read_workload_spec(in);
  in.finish();
  return spec;
}

/// Everything an open-loop source or a trace has to give.
inline std::vector<workloads::Request> drain(workloads::RequestSource& source) {
  std::vector<workloads::Request> out;
  while (source.next_arrival()) out.push_back(source.take());
  return out;
}

}  // namespace ridgeline::tests
