#pragma once
// Small Chrome traces, put together from text.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "timeline/readers/kineto.hpp"

namespace ridgeline::timeline::tests {

/// What the reader makes of the text, which it must recognize.
inline Recording read(const std::string& text) {
  const RecordingFile file{"t.json", "t.json", text};
  REQUIRE(recognizes_kineto(file));
  return read_kineto(file);
}

/// A trace of these events; its times count from 1,000 ns after 1970.
inline std::string trace(const std::string& events, const std::string& more = "") {
  return R"({"schemaVersion":1,)" + more + R"("baseTimeNanoseconds":1000,"traceEvents":[)" +
         events + R"(],"traceName":"t"})";
}

inline std::string kernel(const std::string& times,
                          const std::string& args = R"("device":2,"stream":1,"correlation":7)") {
  return R"({"ph":"X","cat":"kernel","name":"k","pid":2,"tid":1,)" + times + R"(,"args":{)" + args +
         "}}";
}

inline std::string call(const std::string& name, const std::string& args) {
  return R"({"ph":"X","cat":"cuda_runtime","name":")" + name +
         R"(","pid":42,"tid":43,"ts":1,"dur":2,"args":{)" + args + "}}";
}

/// Whether the recording names this among what is missing.
inline bool says(const Recording& r, const std::string& sentence) {
  return std::find(r.missing.begin(), r.missing.end(), sentence) != r.missing.end();
}

}  // namespace ridgeline::timeline::tests
