// Better kernels of every kind: what the distance from the roof bounds when nobody knows where it
// lies.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
extern const Fix kFasterKernels;
const Fix kFasterKernels{
    .name = "faster_kernels",
    .title = "Use faster kernels",
    .family = "kernels",
    .effort = 2,
    .acts_on = Cause::kernels,
    .leaves = {0.0, 0.8},
    .popularity = 0.4,
    .applies =
        [](const Situation& s) {
          return s.budget.find(LineId::not_separated) != nullptr ||
                 s.budget.find(LineId::kernel_distance) != nullptr;
        },
    .assess = [](const Situation& s) -> Assessment {
      Rewrite ledger(s.budget);
      ledger.scale(LineId::not_separated, {0.25, 1.0}).scale(LineId::kernel_distance, {0.25, 1.0});
      return {ledger.gain(),
              fmt::format("the roof itself is {} of the time: no kernel can be faster than that",
                          percent_text(s.budget.share(Cause::bandwidth).best +
                                       s.budget.share(Cause::compute).best))};
    }};

}  // namespace ridgeline::diagnosis
