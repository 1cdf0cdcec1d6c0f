#include "diagnosis/field_guide.hpp"

namespace ridgeline::diagnosis {
namespace {

constexpr FieldGuide kGuides[]{
    {"machine.hbm_bandwidth", "2.04 TB/s", "0.3 TB/s", "8 TB/s"},
    {"machine.hbm_capacity", "80 GB", "16 GB", "288 GB"},
    {"machine.devices", "8", "1", "8"},
    {"machine.compute_units", "108"},
    {"machine.link_bandwidth", "450 GB/s", "25 GB/s", "900 GB/s"},
    {"machine.host_bandwidth", "64 GB/s", "12 GB/s", "450 GB/s"},
    {"model.parameters", "8e9", "1e9", "400e9", "model.weight_bytes"},
    {"model.active_parameters", "13e9"},
    {"model.weight_bytes", "16.1 GB"},
    {"model.layers", "32", "16", "96"},
    {"model.hidden", "4096"},
    {"model.heads", "32"},
    {"model.kv_heads", "8", "1", "64"},
    {"model.head_dim", "128"},
    {"engine.max_num_seqs", "256"},
    {"engine.max_num_batched_tokens", "8192"},
    {"engine.speculative_tokens", "3"},
    {"engine.accepted_tokens", "2.4"},
    {"engine.gpu_layers", "100 %"},
    {"serving.concurrency", "32", "1", "256"},
    {"serving.requests", "1000"},
    {"serving.request_rate", "5.5 /s"},
    {"serving.shared_prefix_tokens", "800"},
    {"serving.prompt_tokens", "1024", "64", "16384", "serving.context_tokens"},
    {"serving.output_tokens", "256", "16", "2048", "serving.context_tokens"},
    {"serving.context_tokens", "4000", "128", "32768", "serving.prompt_tokens"},
    {"serving.kv_bytes_per_sequence", "270 MB"},
    {"serving.microbatch", "16", "1", "64"},
    {"serving.sequence_tokens", "4096", "512", "8192"},
    {"serving.prefill_tokens_per_step", "500", "16", "4096", "serving.prompt_tokens"},
    {"serving.kv_usage", "97 %", "5 %", "99 %"},
    {"serving.waiting", "12", "0", "200"},
    {"serving.preemptions", "31", "0", "200"},
    {"memory.kv_bytes", "37.2 GiB"},
    {"memory.kv_tokens", "250000"},
    {"memory.host_weight_bytes", "12 GB"},
    {"memory.allocated", "70 GB"},
    {"measured.throughput", "1,150 tokens/s", "20 /s", "20000 /s",
     "measured.step_time measured.itl measured.throughput_per_sequence"},
    {"measured.throughput_per_sequence", "36 tokens/s", "2 /s", "300 /s",
     "measured.step_time measured.itl measured.throughput"},
    {"measured.total_throughput", "13,393 tok/s"},
    {"measured.requests_per_second", "23.5 req/s"},
    {"measured.ttft", "420 ms", "20 ms", "20 s"},
    {"measured.ttft_p99", "2.1 s"},
    {"measured.itl", "27.8 ms", "2 ms", "200 ms",
     "measured.step_time measured.throughput measured.throughput_per_sequence"},
    {"measured.itl_p99", "60 ms"},
    {"measured.latency", "7.2 s"},
    {"measured.step_time", "27.8 ms", "2 ms", "500 ms",
     "measured.itl measured.throughput_per_sequence"},
    {"measured.flop_rate", "180 TFLOP/s"},
    {"measured.hbm_rate", "1.4 TB/s"},
    {"measured.bytes_per_step", "24 GB"},
    {"profile.flop_fraction", "3 %", "1 %", "70 %", "measured.flop_rate"},
    {"profile.useful_flop_fraction", "1.4 %"},
    {"profile.hbm_fraction", "14 %", "5 %", "85 %", "measured.hbm_rate measured.bytes_per_step"},
    {"profile.kernels_per_step", "450", "100", "10000"},
    {"profile.kernel_length", "6-30 us", "3 us", "500 us", "profile.busy_time"},
    {"profile.gap_length", "8-15 us", "1 us", "50 us", "profile.gap_time profile.busy_fraction"},
    {"profile.transient", "40 GB"},
    {"profile.gemm_rows", "32"},
    {"profile.busy_time", "11.2 ms"},
    {"profile.gap_time", "4.5 ms"},
    {"profile.host_time", "9.8 ms"},
    {"profile.idle_fraction", "60 %", "0 %", "90 %"},
    {"profile.busy_fraction", "38 %", "10 %", "100 %", "profile.busy_time profile.host_fraction"},
    {"profile.host_fraction", "62 %", "0 %", "90 %",
     "profile.host_time profile.busy_fraction profile.busy_time"},
    {"profile.communication_fraction", "22 %", "2 %", "70 %", "profile.communication_time"},
    {"profile.communication_time", "9.6 ms"},
    {"profile.transfer_time", "0.9 ms"},
    {"profile.transfer_bytes", "64 kB"},
    {"profile.transfer_rate", "12 GB/s"},
    {"profile.copy_call_time", "59 ms"},
    {"profile.host_issue_time", "21 ms"},
    {"profile.device_span", "20 ms"},
    {"profile.occupied", "4 of 108", "2 %", "100 %"},
    {"profile.near_roof", "55 %", "10 %", "90 %"},
    {"profile.by_matrix", "70 %"},
    {"profile.host_path", "85 %"},
    {"profile.clock_fraction", "1580 MHz of 1965 MHz", "40 %", "100 %"},
    {"profile.imbalance", "1.4"},
};

}  // namespace

std::span<const FieldGuide> field_guides() { return kGuides; }

const FieldGuide* find_guide(std::string_view field) {
  for (const FieldGuide& guide : kGuides) {
    if (guide.field == field) return &guide;
  }
  return nullptr;
}

}  // namespace ridgeline::diagnosis
