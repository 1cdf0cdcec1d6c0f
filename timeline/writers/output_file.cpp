#include "timeline/writers/output_file.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace ridgeline::timeline {
namespace {

/// zlib behind a std::ostream. With `plain` it writes through uncompressed, so one class serves
/// both kinds of file.
class ZlibBuffer final : public std::streambuf {
 public:
  ZlibBuffer(const std::string& path, bool plain)
      : file_(gzopen(path.c_str(), plain ? "wbT" : "wb4")) {}
  ZlibBuffer(const ZlibBuffer&) = delete;
  ZlibBuffer& operator=(const ZlibBuffer&) = delete;
  ~ZlibBuffer() override { close(); }

  [[nodiscard]] bool is_open() const { return file_ != nullptr; }
  /// False when something could not be written, now or earlier.
  bool close() {
    if (file_ == nullptr) return false;
    const bool closed = gzclose(file_) == Z_OK;
    file_ = nullptr;
    return closed;
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    std::streamsize done = 0;
    while (done < size) {
      const auto piece = static_cast<unsigned>(std::min<std::streamsize>(size - done, 1 << 30));
      const int written = gzwrite(file_, text + done, piece);
      if (written <= 0) break;
      done += written;
    }
    return done;
  }
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }

 private:
  gzFile file_;
};

/// Removes the half-written file unless it was renamed away.
class Removal {
 public:
  explicit Removal(std::filesystem::path path) : path_(std::move(path)) {}
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

 private:
  std::filesystem::path path_;
};

[[noreturn]] void cannot_write(const std::filesystem::path& path, const std::string& reason) {
  throw core::ConfigError(path.string() + ": cannot write this file: " + reason);
}

}  // namespace

void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream&)>& write) {
  if (std::filesystem::is_directory(path)) cannot_write(path, "it is a directory");
  std::filesystem::path beside = path;
  beside +=
      ".part" +
      std::to_string(::getpid());  // two processes may write the same file; the last to finish wins

  errno = 0;
  ZlibBuffer buffer(beside.string(), path.extension() != ".gz");
  if (!buffer.is_open()) cannot_write(path, std::strerror(errno));
  const Removal removal(beside);

  std::ostream out(&buffer);
  write(out);
  const bool written = out.good();
  if (!buffer.close() || !written)
    cannot_write(path, errno != 0 ? std::strerror(errno) : "the disk may be full");
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  if (error) cannot_write(path, error.message());
}

}  // namespace ridgeline::timeline
