#include "hw/gpu.hpp"

#include <bit>

namespace ridgeline::hw {
namespace {

std::uint64_t stir(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ULL + (h << 6U) + (h >> 2U);
  return h * 0xff51afd7ed558ccdULL;
}

}  // namespace

std::size_t Gpu::ProductHash::operator()(const ProductKey& key) const {
  std::uint64_t h =
      stir(static_cast<std::uint64_t>(key.gemm.m), static_cast<std::uint64_t>(key.gemm.n));
  h = stir(h, static_cast<std::uint64_t>(key.gemm.k));
  h = stir(h, static_cast<std::uint64_t>(key.gemm.batch));
  h = stir(h, static_cast<std::uint64_t>(key.bytes));
  return stir(h, key.rest);
}

Gpu::Gpu(const GpuSpec& spec, const EfficiencySpec& efficiency, const LaunchSpec& launch)
    : spec_(spec), efficiency_(efficiency), launch_(launch), queue_(launch) {}

const KernelCost& Gpu::price(const KernelWork& work, LaunchMode mode) {
  const core::Nanoseconds floor = mode == LaunchMode::eager ? launch_.floor : launch_.graph_floor;
  const auto* experts = std::get_if<ExpertStage>(&work.operation);
  if (work.gemm.m == 0 && experts == nullptr) {
    last_ = cost_of(work, spec_, efficiency_, floor);
    return last_;
  }
  // Everything the cost depends on is in the key, amounts by a hash of their exact bits.
  std::uint64_t bytes = 1;
  bytes = stir(bytes, std::bit_cast<std::uint64_t>(work.useful.value()));
  for (const core::Bytes b : {work.stream_read, work.stream_written, work.activation_read[0],
                              work.activation_read[1], work.activation_written}) {
    bytes = stir(bytes, std::bit_cast<std::uint64_t>(b.value()));
  }
  for (const char c : work.flavour) bytes = stir(bytes, static_cast<std::uint64_t>(c));
  bytes = stir(bytes, static_cast<std::uint64_t>(work.weights));
  GemmShape shape = work.gemm;
  if (experts != nullptr) {
    const MoeQuery& q = experts->query;
    shape = {q.tokens, q.inter_dim, q.model_dim, q.experts};
    for (const double amount :
         {q.weight_element.value(), q.activation_element.value(), q.active.value_or(0.0),
          static_cast<double>(q.topk), experts->down ? 1.0 : 0.0})
      bytes = stir(bytes, std::bit_cast<std::uint64_t>(amount));
  }
  const std::uint32_t rest = static_cast<std::uint32_t>(work.kind) |
                             static_cast<std::uint32_t>(work.math) << 8U |
                             static_cast<std::uint32_t>(mode) << 16U;
  const auto [it, fresh] = products_.try_emplace({shape, std::bit_cast<std::int64_t>(bytes), rest});
  if (fresh) it->second = cost_of(work, spec_, efficiency_, floor);
  return it->second;
}

void Gpu::price_all(const KernelProgram& program, LaunchMode mode) {
  costs_.clear();
  for (const KernelWork& work : program.kernels()) costs_.push_back(price(work, mode));
}

}  // namespace ridgeline::hw
