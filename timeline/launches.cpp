#include "timeline/launches.hpp"

#include <algorithm>
#include <unordered_map>

namespace ridgeline::timeline {
namespace {

bool starts_device_work(const HostCall& call) {
  return call.kind == HostCall::Kind::launch || call.kind == HostCall::Kind::graph_launch ||
         call.kind == HostCall::Kind::copy;
}

/// Calls by correlation. Profilers count correlations up, so a plain array serves nearly always.
class ByCorrelation {
 public:
  explicit ByCorrelation(const std::vector<HostCall>& calls) {
    bool any = false;
    std::int64_t high = 0;
    for (const HostCall& c : calls) {
      if (c.correlation == 0) continue;
      low_ = any ? std::min(low_, c.correlation) : c.correlation;
      high = any ? std::max(high, c.correlation) : c.correlation;
      any = true;
    }
    // A file may hold any two numbers: their difference may not fit in 64 signed bits.
    const std::uint64_t range =
        any ? static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low_) : 0;
    dense_ = range < 8 * (calls.size() + 128);
    if (dense_) array_.assign(static_cast<std::size_t>(range) + 1, -1);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].correlation == 0) continue;
      std::int32_t& slot = dense_ ? array_[place(calls[i].correlation)]
                                  : map_.try_emplace(calls[i].correlation, -1).first->second;
      // A runtime call and the driver call inside it may share a correlation; the one that launches
      // is meant.
      if (slot < 0 || (!starts_device_work(calls[static_cast<std::size_t>(slot)]) &&
                       starts_device_work(calls[i]))) {
        slot = static_cast<std::int32_t>(i);
      }
    }
  }

  [[nodiscard]] std::int32_t find(std::int64_t correlation) const {
    if (correlation == 0) return -1;
    if (dense_) return place(correlation) < array_.size() ? array_[place(correlation)] : -1;
    const auto at = map_.find(correlation);
    return at == map_.end() ? -1 : at->second;
  }

 private:
  [[nodiscard]] std::size_t place(std::int64_t correlation) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(correlation) -
                                    static_cast<std::uint64_t>(low_));
  }

  std::int64_t low_ = 0;
  bool dense_ = true;
  std::vector<std::int32_t> array_;
  std::unordered_map<std::int64_t, std::int32_t> map_;
};

}  // namespace

Launches::Launches(const Recording& recording) : recording_(&recording) {
  const ByCorrelation calls(recording.calls);
  call_of_.reserve(recording.device_events.size());
  for (const DeviceEvent& e : recording.device_events) {
    const std::int32_t call = calls.find(e.correlation);
    call_of_.push_back(call);
    if (call >= 0) ++linked_;
  }
}

}  // namespace ridgeline::timeline
