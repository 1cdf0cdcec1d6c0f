#pragma once
// Moments at which a GPU tool looked at a device. A server's devices work; the others of the
// machine, and moments between requests, are idle and say nothing, so where some sample is busy the
// idle ones do not count. Of the rest the middle one is taken.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/pasted/format.hpp"

namespace ridgeline::diagnosis::pasted {

struct DeviceSample {
  std::optional<double> busy;  // per cent
  // "97 %", "412.35 W", "1980 MHz", "70000 MiB"; empty where the tool did not say
  std::string busy_fraction;
  std::string power;
  std::string power_limit;
  std::string clock;
  std::string memory_clock;
  std::string used;
  std::string total;
  std::string used_fraction;
};

class DeviceSamples {
 public:
  void add(DeviceSample sample, const Line& line);
  void finish(std::string_view name, Findings& out) const;

 private:
  struct Taken {
    DeviceSample sample;
    std::string text;
    int number;
  };
  std::vector<Taken> taken_;
};

}  // namespace ridgeline::diagnosis::pasted
