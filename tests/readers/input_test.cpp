// Are a file's bytes all there, and if not, is the user told what is wrong with the file?

#include "timeline/readers/input.hpp"

#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {
namespace {

namespace fs = std::filesystem;

std::string gzipped(const std::string& text) {
  z_stream z{};
  deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// A file of this test, gone with it.
class File {
 public:
  File(const std::string& name, const std::string& bytes)
      : path_(fs::temp_directory_path() / ("ridgeline_" + std::to_string(getpid()) + "_" + name)) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~File() { fs::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const core::ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string reading_error(const std::string& name, const std::string& bytes) {
  const File file(name, bytes);
  const std::string error = error_of([&] { static_cast<void>(read_recording(file.path())); });
  return error.starts_with(file.path().string() + ": ")
             ? error.substr(file.path().string().size() + 2)
             : error;
}

}  // namespace

TEST_CASE("A file is compressed if its bytes say so, not its name", "[input]") {
  const File plain("plain.json.gz", "hello");
  CHECK(load_input(plain.path(), "p").view() == "hello");
  const File packed("packed.json", gzipped("hello"));
  CHECK(load_input(packed.path(), "p").view() == "hello");
}

TEST_CASE("The members of a compressed file follow one another", "[input]") {
  const InputText text = inflate_gzip(gzipped("one ") + gzipped("") + gzipped("two"), "f");
  CHECK(text.view() == "one two");
  CHECK(text.notes.empty());
  CHECK(inflate_gzip(gzipped("one") + std::string(512, '\0'), "f").notes.empty());  // tar pads
  CHECK(inflate_gzip(gzipped("one") + "junk", "f").notes ==
        std::vector<std::string>{"what follows the compressed data is left out"});
}

TEST_CASE("Much text survives compression, larger than any buffer", "[input]") {
  std::string text;
  for (int i = 0; i < 500000; ++i) text += std::to_string(i) + ",";  // 3.4 MB
  CHECK(inflate_gzip(gzipped(text), "f").view() == text);
}

TEST_CASE("Of a compressed file that is cut, what can be decompressed is read and a note says so",
          "[input]") {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919);
  const std::string packed = gzipped(text);
  const InputText half = inflate_gzip(std::string_view(packed).substr(0, packed.size() / 2), "f");
  CHECK(half.size() > text.size() / 4);
  CHECK(text.starts_with(half.view()));
  CHECK(half.notes == std::vector<std::string>{
                          "the compressed file ends early; what could be decompressed is read"});

  CHECK(inflate_gzip(std::string_view(packed).substr(0, packed.size() - 1), "f").view() ==
        text);  // a part of the checksum is lost

  std::string damaged = packed;
  damaged[packed.size() - 6] ^= 1;  // the checksum
  const InputText whole = inflate_gzip(damaged, "f");
  CHECK(whole.view() == text);
  CHECK(whole.notes == std::vector<std::string>{
                           "the compressed file is damaged; what could be decompressed is read"});
}

TEST_CASE("Errors of input name the file and what is wrong with it", "[input]") {
  CHECK(error_of([] { static_cast<void>(load_input("/no/such/file", "f")); }) == "f: no such file");
  CHECK(error_of([] { static_cast<void>(load_input("/dev/null/file", "f")); }) ==
        "f: no such file");
  CHECK(error_of([] { static_cast<void>(load_input("/", "f")); }) ==
        "f: a directory; expected a file");
  CHECK(error_of([] { static_cast<void>(load_input("/dev/null", "f")); }) ==
        "f: the file is empty");
  CHECK(error_of([] { static_cast<void>(inflate_gzip("\x1f\x8b", "f")); }) ==
        "f: the compressed file ends early: nothing can be decompressed");
  CHECK(error_of([] { static_cast<void>(inflate_gzip("\x1f\x8bgarbage that is none", "f")); }) ==
        "f: the compressed file is damaged: nothing can be decompressed");
  CHECK(error_of([] { static_cast<void>(inflate_gzip(gzipped(""), "f")); }) ==
        "f: the file is empty");
  const File file("five", "12345");
  CHECK(error_of([&] { static_cast<void>(load_input(file.path(), "f", 4)); }) ==
        "f: larger than 4 bytes");
  CHECK(error_of([&] { static_cast<void>(inflate_gzip(gzipped("12345"), "f", 4)); }) ==
        "f: larger than 4 bytes when decompressed");
}

TEST_CASE("An unknown file's error lists what is understood", "[input]") {
  const std::string error = reading_error("x.txt", "some words");
  CHECK(error.starts_with("not a recording that can be read; understood are\n"));
  for (const RecordingFormat& format : recording_formats())
    CHECK(error.find("\n  " + std::string(format.name) + ": ") != std::string::npos);
}

TEST_CASE("A file that is known not to be readable is refused with what it is", "[input]") {
  CHECK(reading_error("x.nsys-rep", "NSYS").starts_with("an Nsight Systems report"));
  CHECK(reading_error("x.xplane.pb", "\n\x02").starts_with("a JAX or TensorFlow profile"));
  CHECK(reading_error("x.pftrace", "\n\x02").starts_with("a Perfetto trace"));
  CHECK(reading_error("x.otf2", "x").starts_with("an OTF2 archive"));
  CHECK(reading_error("x.zip", "PK\x03\x04zzz").starts_with("a zip archive"));
  CHECK(
      reading_error(
          "x_stats.csv",
          "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"k\",1,2,2,100\n")
          .find("not a timeline") != std::string::npos);
  CHECK(reading_error("x.txt", "").starts_with("the file is empty"));
  CHECK(error_of([] { static_cast<void>(read_recording("/no/such/file.json")); }) ==
        "/no/such/file.json: no such file");
  CHECK(error_of([] {
          static_cast<void>(read_recording("/dev/fd"));
        }).find("a directory without") != std::string::npos);
}

TEST_CASE("A cut compressed trace says both what is missing", "[input]") {
  std::string text = R"({"traceEvents":[)";
  for (int i = 0; i < 5000; ++i) {
    text += R"({"ph":"X","cat":"kernel","name":"k)" + std::to_string(i * 7919 % 1000) +
            R"(","pid":0,"tid":0,"ts":)" + std::to_string(i) + R"(,"dur":1},)";
  }
  const std::string packed = gzipped(text);
  const File file("cut.json.gz", packed.substr(0, packed.size() / 2));
  const Recording r = read_recording(file.path());
  CHECK(r.device_events.size() > 1000);
  CHECK(r.missing.at(0) == "the compressed file ends early; what could be decompressed is read");
  CHECK(r.missing.at(1).starts_with("the file is damaged after event " +
                                    std::to_string(r.device_events.size()) + " (byte "));
}

}  // namespace ridgeline::timeline
