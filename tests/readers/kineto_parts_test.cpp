// Does a Chrome trace give the same recording however many parts of it are read at once, and does a
// long one give what its events say one by one?

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/readers/kineto_text.hpp"
#include "timeline/readers/kineto.hpp"

namespace ridgeline::timeline {
namespace {

using namespace tests;

/// Everything in a recording, as lines that can be compared.
std::vector<std::string> lines_of(const Recording& r) {
  std::vector<std::string> out;
  const auto add = [&](const auto&... values) {
    std::string line;
    ((line += std::to_string(values) + " "), ...);
    out.push_back(std::move(line));
  };
  for (std::uint32_t i = 0; i < r.names.size(); ++i) out.push_back(r.names.text(i));
  for (const DeviceEvent& e : r.device_events) {
    add(e.start.ns, e.duration.count, static_cast<int>(e.kind), static_cast<int>(e.copy),
        e.from_graph, e.name, e.device, e.stream, e.correlation, e.external_id, e.bytes,
        e.workgroups[0], e.workgroups[1], e.workgroups[2], e.threads[0], e.threads[1],
        e.threads[2]);
  }
  for (const HostCall& c : r.calls) {
    add(c.start.ns, c.duration.count, static_cast<int>(c.kind), static_cast<int>(c.copy), c.name,
        c.process, c.thread, c.correlation, c.bytes);
  }
  for (const Operator& o : r.operators) {
    add(o.start.ns, o.duration.count, o.name, o.external_id, o.thread, o.dtype);
    for (const auto& shape : o.shapes) {
      for (const std::int64_t size : shape) out.back() += std::to_string(size) + ",";
      out.back() += ";";
    }
  }
  for (const Annotation& a : r.annotations)
    add(a.start.ns, a.duration.count, a.name, a.on_device, a.thread);
  for (const CounterValue& c : r.counters) add(c.time.ns, c.name, c.value, c.event);
  add(r.cuda, r.base_unix_ns, r.rank);
  out.insert(out.end(), r.missing.begin(), r.missing.end());
  return out;
}

std::vector<std::string> lines_of(const std::string& text, std::size_t parts) {
  try {
    return lines_of(read_kineto({"t.json", "t.json", text}, parts));
  } catch (const core::ConfigError& error) {
    return {error.what()};
  }
}

/// The i-th event of a trace that has all kinds, and much that looks like the end of an event.
std::string event(int i) {
  const std::string n = std::to_string(i);
  const std::string time = R"("ts":)" + n + "." + std::to_string(100 + i % 900) + R"(,"dur":1.5)";
  switch (i % 9) {
    case 0:
      return call("hipLaunchKernel",
                  R"("correlation":)" + n + R"(,"grid":[)" + n + R"(,1,1],"block":[64,1,1])");
    case 1:
      return R"({"ph":"X","cat":"kernel","name":"k<},{\"ph\">)" + std::to_string(i % 7) +
             R"(","pid":2,"tid":1,)" + time + R"(,"args":{"device":2,"stream":1,"correlation":)" +
             std::to_string(i - 1) + "}}";
    case 2:
      return R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":42,"tid":43,)" + time +
             R"(,"args":{"parts":[{"a":1} , {"b":[]},{"c":"}"}],"External id":)" + n +
             R"(,"Input type":["float"],"Input Dims":[[4,)" + n + "]]}}";
    case 3:
      return R"({"ph":"C","name":"waiting","pid":42,"ts":)" + n + R"(,"args":{"requests":)" + n +
             ".5}}";
    case 4:
      return R"({"ph":"X","cat":"python_function","name":"{","pid":42,"args":{"of":[{},{}]}})";
    case 5:
      return R"({"ph":"s","id":)" + n + R"(,"pid":42,"tid":43,"ts":)" + n + R"(,"cat":"ac2g"})";
    case 6:
      return R"({"ph":"X","cat":"user_annotation","name":"step \"#)" + n + R"(\"","tid":43,)" +
             time + "}";
    case 7:
      return R"({"ph":"X","name":"row)" + std::to_string(i % 5) + R"(","pid":)" +
             std::to_string(7 + i % 2) + R"(,"tid":0,)" + time + "}";
    default:
      return R"({"ph":"M","name":"process_name","pid":)" + std::to_string(7 + i % 3) +
             R"(,"args":{"name":"GPU)" + std::to_string(i % 4) + R"("}})";
  }
}

constexpr int kEvents = 20'000;  // 3 MB

std::string long_trace(const std::string& in_the_middle = "") {
  std::string events;
  for (int i = 0; i < kEvents; ++i) {
    if (i != 0) events += i % 3 == 0 ? " ,\n  " : ",";
    if (i == kEvents / 2) events += in_the_middle;
    events += event(i);
  }
  return trace(events);
}

void check_same(const std::string& text) {
  const std::vector<std::string> alone = lines_of(text, 1);
  for (const std::size_t parts : {2, 3, 8, 50}) {
    INFO(parts);
    CHECK((lines_of(text, parts) == alone));  // not to be printed
  }
}

}  // namespace

TEST_CASE("A long trace is read the same in one part and in many", "[kineto]") {
  const std::string text = long_trace();
  const Recording r = read(text);
  CHECK(r.calls.size() == (kEvents + 8) / 9);
  CHECK(r.operators.size() == (kEvents + 6) / 9);
  CHECK(r.annotations.size() == (kEvents + 2) / 9);
  CHECK(r.counters.size() == (kEvents + 5) / 9);
  CHECK(r.operators[100].shapes == std::vector<std::vector<std::int64_t>>{{4, 902}});
  CHECK(r.operators[100].start.ns == 902102);
  check_same(text);
}

TEST_CASE("Damage costs the same, and is found at the same byte, in one part and in many",
          "[kineto]") {
  for (const std::string middle :
       {"{\"ph\":\"X\",\"cat\" \"kernel\"},", "17,null,", "{\"name\":\"\xFF\n\"},", ",,", "{} {}",
        "]", "}", "\\", "\"", "{\"cat\":\"other\",\\\"},", "{\"cat\":\"python_function\"[],", "[",
        "{", "{\"a\":[", "]}"}) {
    INFO(middle);
    check_same(long_trace(middle));
  }
  const std::string whole = long_trace();
  for (const std::size_t cut : {whole.size() / 7, whole.size() / 2, whole.size() - 30})
    check_same(whole.substr(0, cut));

  // Its end is missing: none of what follows is in the array.
  const std::string no_end = R"({"cat":"python_function"[],)";
  std::string open = long_trace(no_end);
  open.resize(open.rfind(']'));  // which would be taken for it
  CHECK(says(read(open), "the file is damaged after event " + std::to_string(kEvents / 2) +
                             " (byte " + std::to_string(open.find(no_end)) +
                             "); the rest is lost"));

  const std::string one = kernel(R"("ts":1,"dur":1)");
  const std::string before = R"({"baseTimeNanoseconds":1,"traceEvents":[)";
  std::string many = before + one;
  for (int i = 1; i < kEvents; ++i) many += "," + one;
  CHECK(says(read(many + R"(,{"ph)"), "the file is damaged after event " + std::to_string(kEvents) +
                                          " (byte " + std::to_string(many.size() + 1) +
                                          "); the rest is lost"));
}

TEST_CASE("What follows the events may be longer than they are", "[kineto]") {
  std::string more;
  for (int i = 0; i < kEvents; ++i) more += (i == 0 ? "" : ",") + event(i);
  const std::string text =
      R"({"traceEvents":[)" + kernel(R"("ts":1,"dur":1)") + R"(],"other":[)" + more + "]}";
  CHECK(read(text).device_events.size() == 1);
  check_same(text);
}

}  // namespace ridgeline::timeline
