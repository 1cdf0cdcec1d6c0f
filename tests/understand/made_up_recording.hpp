#pragma once
// A recording written down by hand, for tests. Times are microseconds.

#include <string_view>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

inline core::Instant at_us(double us) {
  return core::Instant{core::round_to_ns(core::Seconds{us * 1e-6}).count};
}
inline core::Nanoseconds us(double length) {
  return core::round_to_ns(core::Seconds{length * 1e-6});
}

class MadeUp {
 public:
  Recording recording;

  /// A kernel of device 0, stream 1. `correlation` 0: unlinked.
  DeviceEvent& kernel(double start, double length, std::string_view name,
                      std::int64_t correlation = 0) {
    DeviceEvent e;
    e.start = at_us(start);
    e.duration = us(length);
    e.name = recording.names.of(name);
    e.stream = 1;
    e.correlation = correlation;
    return recording.device_events.emplace_back(e);
  }
  DeviceEvent& copy(double start, double length, std::int64_t bytes, std::int64_t correlation = 0) {
    DeviceEvent& e = kernel(start, length, "Memcpy DtoD (Device -> Device)", correlation);
    e.kind = DeviceEvent::Kind::copy;
    e.copy = CopyKind::device_to_device;
    e.bytes = bytes;
    return e;
  }
  HostCall& call(double start, double length, HostCall::Kind kind, std::string_view name,
                 std::int64_t correlation) {
    HostCall c;
    c.start = at_us(start);
    c.duration = us(length);
    c.kind = kind;
    c.name = recording.names.of(name);
    c.correlation = correlation;
    return recording.calls.emplace_back(c);
  }
  HostCall& launch(double start, double length, std::int64_t correlation) {
    return call(start, length, HostCall::Kind::launch, "hipLaunchKernel", correlation);
  }
  Annotation& annotation(double start, double length, std::string_view name) {
    Annotation a;
    a.start = at_us(start);
    a.duration = us(length);
    a.name = recording.names.of(name);
    return recording.annotations.emplace_back(a);
  }
  Operator& op(std::string_view name, std::int64_t external_id,
               std::vector<std::vector<std::int64_t>> shapes,
               std::string_view dtype = "c10::BFloat16") {
    Operator o;
    o.name = recording.names.of(name);
    o.external_id = external_id;
    o.shapes = std::move(shapes);
    o.dtype = recording.names.of(dtype);
    return recording.operators.emplace_back(o);
  }
  Recording& finish() {
    finish_recording(recording);
    return recording;
  }
};

}  // namespace ridgeline::timeline
