// Collectives among the GPUs of a node.

#include <algorithm>

#include "core/error.hpp"
#include "core/lower.hpp"
#include "fidelity/operation.hpp"
#include "hw/collective_cost.hpp"

namespace ridgeline::fidelity {
namespace {

hw::CollectiveKind kind_of(const Row& row) {
  struct Word {
    std::string_view name;
    hw::CollectiveKind kind;
  };
  static constexpr Word kWords[] = {{"all_reduce", hw::CollectiveKind::all_reduce},
                                    {"reduce_scatter", hw::CollectiveKind::reduce_scatter},
                                    {"all_gather", hw::CollectiveKind::all_gather},
                                    {"all_to_all", hw::CollectiveKind::all_to_all},
                                    {"broadcast", hw::CollectiveKind::broadcast},
                                    {"send", hw::CollectiveKind::send}};
  if (!row.has("op")) return hw::CollectiveKind::all_reduce;
  for (const Word& word : kWords) {
    if (row.text("op") == word.name) return word.kind;
  }
  row.fail("op", "all_reduce, reduce_scatter, all_gather, all_to_all, broadcast or send");
}

/// "QR-Q4": QuickReduce and its 4-bit codec.
hw::WireCodec codec_of(const std::string& implementation) {
  const auto has = [&](std::string_view part) {
    return implementation.find(part) != std::string::npos;
  };
  if (has("fp8")) return hw::WireCodec::fp8;
  if (has("q8") || has("int8")) return hw::WireCodec::int8;
  if (has("q6") || has("int6")) return hw::WireCodec::int6;
  if (has("q4") || has("int4")) return hw::WireCodec::int4;
  return hw::WireCodec::none;
}

/// The machine's library whose name, or another name of it, the implementation's holds: the longest
/// that fits, the later of two. One of a certain place, where the row's source or note names that.
/// The machine's first where none fits.
const hw::CollectiveLibrary& library_of(const Row& row, const hw::NodeSpec& node,
                                        std::vector<std::string>& flags) {
  const std::string implementation = core::lower(row.text("impl"));
  const std::string where =
      core::lower(std::string(row.text("source")) + " " + std::string(row.text("note")));
  const hw::CollectiveLibrary* best = nullptr;
  std::size_t longest = 0;
  const auto consider = [&](const hw::CollectiveLibrary& library, const std::string& word) {
    const bool here =
        library.where.empty() ||
        std::any_of(library.where.begin(), library.where.end(), [&](const std::string& place) {
          return (where + " " + implementation).find(place) != std::string::npos;
        });
    if (here && word.size() >= longest && implementation.find(word) != std::string::npos) {
      best = &library;
      longest = word.size();
    }
  };
  for (const hw::CollectiveLibrary& library : node.libraries) {
    consider(library, library.name);
    for (const std::string& alias : library.aliases) consider(library, alias);
  }
  if (best != nullptr) return *best;
  flags.push_back("library unknown, taken as " + node.libraries.front().name);
  return node.libraries.front();
}

Prediction predict_collective(const Row& row, Machines& machines) {
  const hw::GpuSpec& gpu = machine_of(row, machines);
  if (gpu.node.libraries.empty())
    row.fail("hw", "a machine whose configuration has an interconnect");
  Prediction p;
  const std::string implementation = core::lower(row.text("impl"));
  const hw::CollectiveLibrary& library = library_of(row, gpu.node, p.flags);
  hw::CollectiveQuery query;
  query.kind = kind_of(row);
  query.gpus = row.count("n_gpu");
  // Two GPUs of a pair have their bridge; what joins the pairs is no link of the machine's file.
  if (query.gpus > 2 && row.text("system").find("pairwise") != std::string_view::npos)
    row.fail("n_gpu", "2, the GPUs of a pair: what crosses between pairs is not modelled");
  if (query.gpus > gpu.node.gpus)
    row.fail("n_gpu", "at most " + std::to_string(gpu.node.gpus) + ", which a node has");
  query.bytes = core::Bytes{row.number("bytes", 1.0)};
  query.codec = codec_of(implementation);
  const hw::CollectiveCost cost = hw::cost_of(query, gpu.node, library);
  p.seconds = cost.time.value();
  p.spread = cost.spread;
  p.floor = cost.floor.value();
  p.binds = cost.latency > cost.wire + cost.local ? "floor" : "link";
  if (cost.extrapolated || gpu.borrowed) p.flags.emplace_back("extrapolated");
  return p;
}

std::string constants_of_collective(const Row& row, const hw::GpuSpec& gpu) {
  std::vector<std::string> flags;
  return "interconnect.libraries." + library_of(row, gpu.node, flags).name;
}

std::optional<double> measured_collective(const Row& row) {
  for (const char* column : {"time_us", "median_us"}) {
    if (const auto us = row.maybe(column)) return *us * 1e-6;
  }
  // Bus bandwidth of an all-reduce: 2 (n - 1) / n of the bytes over the time (nccl-tests).
  const auto busbw = row.maybe("busbw_GBps");
  const auto gpus = row.maybe("n_gpu");
  const auto bytes = row.maybe("bytes");
  if (!busbw || *busbw <= 0.0 || !gpus || *gpus < 2.0 || !bytes) return std::nullopt;
  return *bytes * 2.0 * (*gpus - 1.0) / *gpus / (*busbw * 1e9);
}

std::string group_of_collective(const Row& row) {
  if (!row.has("system")) return std::string(row.text("hw")) + " " + std::string(row.text("impl"));
  // What links the GPUs of a system depends on how many of them take part.
  return std::string(row.text("system")) + " x" + std::string(row.text("n_gpu"));
}

}  // namespace

const Operation kAllReduce{"allreduce",
                           "hw or system, n_gpu, bytes [, impl, op]",
                           {"n_gpu", "bytes"},
                           predict_collective,
                           measured_collective,
                           group_of_collective,
                           constants_of_collective};

}  // namespace ridgeline::fidelity
