#include "diagnosis/fixes/table.hpp"

#include <array>

namespace ridgeline::diagnosis {

extern const Fix kWeightQuantization8Bit;
extern const Fix kWeightQuantization4Bit;
extern const Fix kFp8W8A8;
extern const Fix kFp8KvCache;
extern const Fix kFusedAttention;
extern const Fix kKvSplit;
extern const Fix kGraphCapture;
extern const Fix kAsynchronousHost;
extern const Fix kCompileFusion;
extern const Fix kHandFusion;
extern const Fix kRemoveCasts;
extern const Fix kGemmTuning;
extern const Fix kFasterKernels;
extern const Fix kLargerBatch;
extern const Fix kSmallerPrefillChunk;
extern const Fix kPrefixCache;
extern const Fix kSpeculativeDecoding;
extern const Fix kMoreTensorParallelism;
extern const Fix kLessTensorParallelism;
extern const Fix kDisaggregatedPrefill;
extern const Fix kMoreKvMemory;
extern const Fix kMoreLoad;
extern const Fix kFasterLinks;
extern const Fix kFasterDevice;
extern const Fix kAttentionBackend;
extern const Fix kFasterCollectives;
extern const Fix kOverlapCommunication;
extern const Fix kBalanceExperts;
extern const Fix kWeightsOnDevice;
extern const Fix kComputeWhereWeightsAre;
extern const Fix kLargerTransfers;
extern const Fix kPinnedTransfers;
extern const Fix kAdmissionControl;
extern const Fix kAdmitMore;
extern const Fix kKvOffload;
extern const Fix kPreparedRequests;
extern const Fix kShorterDrafts;
extern const Fix kLongerDrafts;
extern const Fix kFinerGraphSizes;
extern const Fix kReadOnlyChosenExperts;
extern const Fix kRaisePowerLimit;

namespace {

constexpr std::array<const Fix*, 41> kTable{
    &kWeightQuantization8Bit,
    &kWeightQuantization4Bit,
    &kFp8W8A8,
    &kFp8KvCache,
    &kFusedAttention,
    &kKvSplit,
    &kGraphCapture,
    &kAsynchronousHost,
    &kRemoveCasts,  // before those that would do it among other things
    &kCompileFusion,
    &kHandFusion,
    &kGemmTuning,
    &kFasterKernels,
    &kLargerBatch,
    &kSmallerPrefillChunk,
    &kPrefixCache,
    &kSpeculativeDecoding,
    &kMoreTensorParallelism,
    &kLessTensorParallelism,
    &kDisaggregatedPrefill,
    &kMoreKvMemory,
    &kMoreLoad,
    &kFasterLinks,
    &kFasterDevice,
    &kAttentionBackend,
    &kFasterCollectives,
    &kOverlapCommunication,
    &kBalanceExperts,
    &kWeightsOnDevice,
    &kComputeWhereWeightsAre,
    &kLargerTransfers,
    &kPinnedTransfers,
    &kAdmissionControl,
    &kAdmitMore,
    &kKvOffload,
    &kPreparedRequests,
    &kShorterDrafts,
    &kLongerDrafts,
    &kFinerGraphSizes,
    &kReadOnlyChosenExperts,
    &kRaisePowerLimit,
};

}  // namespace

std::span<const Fix* const> all_fixes() { return kTable; }

const Fix* find_fix(std::string_view name) {
  for (const Fix* fix : kTable) {
    if (fix->name == name) return fix;
  }
  return nullptr;
}

std::vector<std::string> fix_names() {
  std::vector<std::string> names;
  for (const Fix* fix : kTable) names.emplace_back(fix->name);
  return names;
}

}  // namespace ridgeline::diagnosis
