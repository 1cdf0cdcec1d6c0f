#pragma once
// A file's bytes where the system's cache has them: nothing is copied, and pages that are read by
// several threads are fetched by them.

#include <cstddef>
#include <string_view>
#include <utility>

namespace ridgeline::timeline {

class FileMapping {
 public:
  FileMapping() = default;
  /// Of an open file, which may be closed then. Empty if it is not one that can be mapped: a pipe,
  /// an empty file, one of /proc.
  explicit FileMapping(int file);
  FileMapping(FileMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  FileMapping& operator=(FileMapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~FileMapping();

  [[nodiscard]] std::string_view view() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace ridgeline::timeline
