// Scheduling, sampling and detokenizing of one step while the device works on another.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
extern const Fix kAsynchronousHost;
const Fix kAsynchronousHost{
    .name = "asynchronous_host",
    .title = "Take the host off the critical path by asynchronous scheduling",
    .family = "host",
    .effort = 1,
    .after = "graph_capture",
    .acts_on = Cause::host,
    .leaves = {0.0, 0.7},
    .popularity = 0.3,
    .applies =
        [](const Situation& s) { return is_decoding(s) && s.budget.find(LineId::host) != nullptr; },
    .assess = [](const Situation& s) -> Assessment {
      const Line* host = s.budget.find(LineId::host);
      const Line* gaps = s.budget.find(LineId::launch_gaps);
      // Measured from a step whose launches are captured: until then the host is busy issuing them
      // and hides nothing.
      const double captured = s.budget.host_paced && gaps != nullptr ? gaps->time.best : 0.0;
      const double total = std::max(s.budget.total.best - captured, 1e-9 * s.budget.total.best);
      const auto gain_at = [&](double h, double hidden) {
        const double device = std::max(total - h, 0.02 * total);
        const double left =
            std::max(h - hidden * h, h - device);  // host work longer than the device's still shows
        return total / (device + std::max(left, 0.0));
      };
      const double low = std::min(host->time.low(), total);
      const double mid = std::min(host->time.best, total);
      const double high = std::min(host->time.high(), total);
      // The gain is greatest where host and device take equally long, which may lie between the
      // bounds.
      const double even = std::clamp(0.5 * total, low, high);
      const double most =
          std::max({gain_at(low, 1.0), gain_at(mid, 1.0), gain_at(high, 1.0), gain_at(even, 1.0)});
      const double least = std::min({gain_at(low, 0.5), gain_at(mid, 0.5), gain_at(high, 0.5)});
      return {{least, most},
              fmt::format("{} of each step is host time outside its kernels and gaps{}",
                          time_range_text(host->time.interval),
                          captured > 0.0 ? "; on top of graph_capture" : "")};
    }};

}  // namespace ridgeline::diagnosis
