#include "timeline/readers/input.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "core/error.hpp"

namespace ridgeline::timeline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPadding = 64;  // simdjson's, twice
constexpr std::size_t kChunk = std::size_t{1} << 20U;

std::string size_text(std::uint64_t bytes) {
  return bytes >> 30U != 0 ? std::to_string(bytes >> 30U) + " GiB"
                           : std::to_string(bytes) + " bytes";
}

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

InputText read_all(std::FILE* file, const std::string& name, std::uint64_t limit) {
  InputText text;
  while (true) {
    const std::size_t got = std::fread(text.room(kChunk), 1, kChunk, file);
    text.grew(got);
    if (text.size() > limit) throw core::ConfigError(name + ": larger than " + size_text(limit));
    if (got < kChunk) break;
  }
  if (std::ferror(file) != 0)
    throw core::ConfigError(name + ": cannot be read: " + std::strerror(errno));
  return text;
}

/// zlib's state, freed.
struct Inflater {
  Inflater() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream stream{};
};

}  // namespace

char* InputText::room(std::size_t more) {
  const std::size_t needed = size_ + more + kPadding;
  if (needed > capacity_) {
    capacity_ = std::max(needed, capacity_ + capacity_ / 2);
    auto* const grown = static_cast<char*>(std::realloc(bytes_.get(), capacity_));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes_.release());  // realloc has freed or moved it
    bytes_.reset(grown);
  }
  return bytes_.get() + size_;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

InputText inflate_gzip(std::string_view compressed, const std::string& name, std::uint64_t limit) {
  InputText text;
  Inflater inflater;
  z_stream& z = inflater.stream;
  std::string_view rest = compressed;
  bool again = true;
  while (again) {
    const auto given = static_cast<uInt>(std::min<std::size_t>(rest.size(), std::size_t{1} << 30U));
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    z.avail_in = given;
    z.next_out = reinterpret_cast<Bytef*>(text.room(kChunk));
    z.avail_out = static_cast<uInt>(kChunk);
    const int status = inflate(&z, Z_NO_FLUSH);
    rest.remove_prefix(given - z.avail_in);
    text.grew(kChunk - z.avail_out);
    if (text.size() > limit)
      throw core::ConfigError(name + ": larger than " + size_text(limit) + " when decompressed");
    if (status == Z_STREAM_END) {
      again = is_gzip(rest) && inflateReset(&z) == Z_OK;
      const bool padding = rest.find_first_not_of('\0') == std::string_view::npos;
      if (!again && !padding)
        text.notes.emplace_back("what follows the compressed data is left out");
    } else if (status != Z_OK || (z.avail_out != 0 && rest.empty())) {
      const bool ended = rest.empty() || status == Z_BUF_ERROR;
      const char* why = ended ? "ends early" : "is damaged";
      if (text.size() == 0)
        throw core::ConfigError(name + ": the compressed file " + why +
                                ": nothing can be decompressed");
      text.notes.push_back(std::string("the compressed file ") + why +
                           "; what could be decompressed is read");
      again = false;
    }
  }
  if (text.size() == 0) throw core::ConfigError(name + ": the file is empty");
  return text;
}

InputText load_input(const fs::path& path, const std::string& name, std::uint64_t limit) {
  std::unique_ptr<std::FILE, CloseFile> file;
  FileMapping mapped;
  if (path == "-") {
    file.reset(stdin);
  } else {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      const bool missing = !error || error == std::errc::no_such_file_or_directory ||
                           error == std::errc::not_a_directory;
      throw core::ConfigError(
          name + ": " +
          (missing ? std::string("no such file") : "cannot be read: " + error.message()));
    }
    if (fs::is_directory(status)) throw core::ConfigError(name + ": a directory; expected a file");
    file.reset(std::fopen(path.c_str(), "rb"));
    if (!file) throw core::ConfigError(name + ": cannot be read: " + std::strerror(errno));
    mapped = FileMapping(::fileno(file.get()));
    if (mapped.view().size() > limit)
      throw core::ConfigError(name + ": larger than " + size_text(limit));
  }
  InputText text =
      mapped.view().empty() ? read_all(file.get(), name, limit) : InputText(std::move(mapped));
  if (text.size() == 0) throw core::ConfigError(name + ": the file is empty");
  if (is_gzip(text.view())) return inflate_gzip(text.view(), name, limit);
  return text;
}

}  // namespace ridgeline::timeline
