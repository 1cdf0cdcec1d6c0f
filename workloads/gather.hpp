#pragma once
// A front end that gathers requests and hands them on together, as MLPerf harnesses and routers do
// to spare the engine steps with few prompts:
//
//   gather: {interval: 300 ms, at_most: 96}
//
// What has been gathered goes on with the first request that arrives `interval` or more after the
// last batch went, or when nobody has arrived for `interval`, or as soon as it is `at_most`
// requests (batch_samples_loop of AMD's harness, mlcommons/inference_results_v4.1,
// closed/Dell/code/llama2-70b-99.9/VllmFp8/sync_sut.py, f44c9990). A request's arrival stays when
// its client sent it. Of several equal servers each gets the batches in turn.

#include <cstdint>
#include <memory>

#include "core/instant.hpp"
#include "core/reader.hpp"
#include "workloads/request.hpp"

namespace ridgeline::workloads {

struct Gather {
  core::Nanoseconds interval{};
  std::int64_t at_most = 1;  // requests of a batch
  bool operator==(const Gather&) const = default;
};

/// The map `in`.
[[nodiscard]] Gather read_gather(const core::Reader& in);

/// The requests of `all` in batches, or those batches whose turn it is, renumbered. `all` must not
/// react to answers: a batch is known before it goes.
[[nodiscard]] std::unique_ptr<RequestSource> gathered(std::unique_ptr<RequestSource> all,
                                                      const Gather& gather, Turn turn = {});

}  // namespace ridgeline::workloads
