#pragma once
// A file's bytes: of a path or of standard input ("-"), decompressed if they are gzip's, whatever
// the name.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "timeline/readers/file_mapping.hpp"

namespace ridgeline::timeline {

inline constexpr std::uint64_t kLargestInput = std::uint64_t{16} << 30U;  // decompressed

/// Bytes that were gathered, or a file's where they are.
class InputText {
 public:
  InputText() = default;
  explicit InputText(FileMapping file) : file_(std::move(file)) {}

  [[nodiscard]] std::string_view view() const {
    return bytes_ ? std::string_view(bytes_.get(), size_) : file_.view();
  }
  /// Sentences about what could not be had: the compressed file ends early.
  std::vector<std::string> notes;

  /// Room for `more` bytes behind those that are there, which become part of it with grew().
  [[nodiscard]] char* room(std::size_t more);
  void grew(std::size_t by) { size_ += by; }
  [[nodiscard]] std::size_t size() const { return view().size(); }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  FileMapping file_;
  std::unique_ptr<char, Free> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Errors (ConfigError, naming `name`): missing, a directory, unreadable, empty, larger than
/// `limit`, compressed data that cannot be decompressed at all. Of a compressed file that is cut or
/// damaged, what comes before is returned with a note.
[[nodiscard]] InputText load_input(const std::filesystem::path& path, const std::string& name,
                                   std::uint64_t limit = kLargestInput);

/// `compressed` inflated: one gzip member after another.
[[nodiscard]] InputText inflate_gzip(std::string_view compressed, const std::string& name,
                                     std::uint64_t limit = kLargestInput);

[[nodiscard]] bool is_gzip(std::string_view bytes);

}  // namespace ridgeline::timeline
