#include "hw/launch_queue.hpp"

#include <algorithm>

namespace ridgeline::hw {

LaunchSpec read_launch(const core::Reader& in) {
  const auto time = [&](std::string_view key) {
    const core::Seconds value = in.get<core::Seconds>(key);
    in.require(value <= core::Seconds{1.0}, key, "a time of at most 1 s");
    return core::round_to_ns(value);
  };
  LaunchSpec spec;
  spec.issue = time("issue");
  spec.doorbell = time("doorbell");
  spec.dispatch = time("dispatch");
  spec.queue_depth = in.integer("queue_depth", 1, 1 << 20);
  spec.blocking = in.get("blocking", false);
  spec.floor = time("floor");
  spec.graph_submit = time("graph_submit");
  spec.graph_node = time("graph_node");
  spec.graph_dispatch = time("graph_dispatch");
  spec.graph_floor = time("graph_floor");
  return spec;
}

LaunchQueue::LaunchQueue(const LaunchSpec& spec)
    : spec_(spec), starts_(static_cast<std::size_t>(spec.queue_depth), 0) {}

void LaunchQueue::begin(LaunchMode mode, std::int64_t kernels) {
  mode_ = mode;
  first_ = true;
  end_ = 0;
  graph_begin_ = 0;
  host_ =
      mode == LaunchMode::graph ? spec_.graph_submit.count + kernels * spec_.graph_node.count : 0;
  bounded_ = mode == LaunchMode::eager && kernels > spec_.queue_depth;
  slot_ = 0;
  if (bounded_) std::fill(starts_.begin(), starts_.end(), 0);
}

KernelTiming LaunchQueue::push(core::Nanoseconds duration) {
  KernelTiming timing{};
  if (mode_ == LaunchMode::eager) {
    const std::int64_t slot_free =
        bounded_ ? starts_[slot_]
                 : 0;  // start of the kernel `depth` before; zero for the first ones
    const std::int64_t begin = std::max({host_, slot_free, spec_.blocking ? end_ : 0});
    host_ = begin + spec_.issue.count;
    timing.issue_begin = {begin};
  } else {
    timing.issue_begin = {graph_begin_};
  }
  timing.issue_end = {host_};

  const std::int64_t ready = host_ + spec_.doorbell.count;
  const std::int64_t dispatch =
      mode_ == LaunchMode::eager ? spec_.dispatch.count : spec_.graph_dispatch.count;
  const std::int64_t turn =
      first_ ? 0 : end_ + dispatch;  // an idle device has nothing to turn from
  const std::int64_t start = std::max(turn, ready);
  timing.dispatch_gap = {first_ ? 0 : dispatch};
  timing.launch_gap = {start - turn};
  timing.start = {start};
  timing.end = {start + duration.count};
  end_ = timing.end.count;
  first_ = false;
  if (bounded_) {
    starts_[slot_] = start;
    slot_ = slot_ + 1 == starts_.size() ? 0 : slot_ + 1;
  }
  return timing;
}

}  // namespace ridgeline::hw
