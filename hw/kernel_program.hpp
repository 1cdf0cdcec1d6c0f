#pragma once
// The kernels of one step: segments, each a short run of kernels repeated (a transformer's layers
// are equal, so 80 of them are one segment with repeat 80). Reused from step to step: `clear` keeps
// the memory.

#include <cstdint>
#include <vector>

#include "hw/kernel_work.hpp"

namespace ridgeline::hw {

class KernelProgram {
 public:
  struct Segment {
    std::size_t first = 0;  // index of its first kernel
    std::size_t count = 0;
    std::int64_t repeat = 1;
  };

  void clear() {
    kernels_.clear();
    segments_.clear();
  }
  /// Opens a segment; the kernels added from here on belong to it.
  void begin_segment(std::int64_t repeat) { segments_.push_back({kernels_.size(), 0, repeat}); }
  KernelWork& add(const KernelWork& work) {
    kernels_.push_back(work);
    ++segments_.back().count;
    return kernels_.back();
  }

  [[nodiscard]] const std::vector<KernelWork>& kernels() const { return kernels_; }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  /// Kernels that run, repeats counted.
  [[nodiscard]] std::int64_t launches() const {
    std::int64_t n = 0;
    for (const Segment& s : segments_) n += static_cast<std::int64_t>(s.count) * s.repeat;
    return n;
  }

 private:
  std::vector<KernelWork> kernels_;
  std::vector<Segment> segments_;
};

}  // namespace ridgeline::hw
