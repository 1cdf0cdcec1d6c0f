// Every plain quantity that evidence can hold: what reads it, what checks it, the template that
// 'evidence new' writes and the page of the documentation are made from this one table.

#include "diagnosis/evidence.hpp"

namespace ridgeline::diagnosis {

#define RIDGELINE_FIELD(section, key, dimension, whole, meaning) \
  Field {                                                        \
#section, #key, core::Dimension::dimension, whole, meaning,  \
        [](Evidence & e) -> Maybe& { return e.section.key; }     \
  }

const std::vector<Field>& evidence_fields() {
  static const std::vector<Field> fields{
      RIDGELINE_FIELD(machine, hbm_bandwidth, bytes_per_second, false,
                      "of one device, as its datasheet says"),
      RIDGELINE_FIELD(machine, hbm_capacity, bytes, false, "of one device"),
      RIDGELINE_FIELD(machine, devices, none, true, "that share one copy of the model"),
      RIDGELINE_FIELD(machine, compute_units, none, true, "CUs or SMs of one device"),
      RIDGELINE_FIELD(machine, link_bandwidth, bytes_per_second, false,
                      "that one device sends to the others, over all its links"),
      RIDGELINE_FIELD(machine, host_bandwidth, bytes_per_second, false,
                      "between a device and the host's memory, one way"),
      RIDGELINE_FIELD(model, parameters, none, false, "all of them: 8e9"),
      RIDGELINE_FIELD(model, active_parameters, none, false,
                      "those a token passes through, of a mixture of experts"),
      RIDGELINE_FIELD(model, weight_bytes, bytes, false, "as loaded"),
      RIDGELINE_FIELD(model, layers, none, true, ""),
      RIDGELINE_FIELD(model, hidden, none, true, ""),
      RIDGELINE_FIELD(model, heads, none, true, ""),
      RIDGELINE_FIELD(model, kv_heads, none, true, ""),
      RIDGELINE_FIELD(model, head_dim, none, true, ""),
      RIDGELINE_FIELD(engine, max_num_seqs, none, true, "most sequences a step"),
      RIDGELINE_FIELD(engine, max_num_batched_tokens, none, true, "most tokens a step"),
      RIDGELINE_FIELD(engine, speculative_tokens, none, true, "tokens guessed a pass"),
      RIDGELINE_FIELD(engine, accepted_tokens, none, false,
                      "tokens that a pass yields, the model's own among them"),
      RIDGELINE_FIELD(engine, gpu_layers, fraction, false,
                      "layers on the device: '0 of 33', '100 %'"),
      RIDGELINE_FIELD(serving, concurrency, none, true, "sequences decoding together"),
      RIDGELINE_FIELD(serving, requests, none, true, "of the whole run"),
      RIDGELINE_FIELD(serving, request_rate, rate, false, "offered"),
      RIDGELINE_FIELD(serving, shared_prefix_tokens, none, true,
                      "the same beginning of every prompt"),
      RIDGELINE_FIELD(serving, prompt_tokens, none, true, "typical"),
      RIDGELINE_FIELD(serving, output_tokens, none, true, "typical"),
      RIDGELINE_FIELD(serving, context_tokens, none, true, "of a decoding sequence"),
      RIDGELINE_FIELD(serving, kv_bytes_per_sequence, bytes, false, ""),
      RIDGELINE_FIELD(serving, microbatch, none, true, "training: sequences a device and step"),
      RIDGELINE_FIELD(serving, sequence_tokens, none, true, "training: tokens of one sequence"),
      RIDGELINE_FIELD(serving, prefill_tokens_per_step, none, false,
                      "prompt tokens that ride in a decode step"),
      RIDGELINE_FIELD(serving, kv_usage, fraction, false, "of the KV blocks, as the log says"),
      RIDGELINE_FIELD(serving, waiting, none, true, "requests in the queue"),
      RIDGELINE_FIELD(serving, preemptions, none, true, ""),
      RIDGELINE_FIELD(memory, kv_bytes, bytes, false, "of the whole KV cache"),
      RIDGELINE_FIELD(memory, kv_tokens, none, false, "that the KV cache holds"),
      RIDGELINE_FIELD(memory, host_weight_bytes, bytes, false,
                      "weights that stay in the host's memory"),
      RIDGELINE_FIELD(memory, allocated, bytes, false, "of one device, at its peak"),
      RIDGELINE_FIELD(measured, throughput, rate, false,
                      "OUTPUT tokens of all sequences (training: tokens)"),
      RIDGELINE_FIELD(measured, throughput_per_sequence, rate, false,
                      "output tokens of one sequence"),
      RIDGELINE_FIELD(measured, total_throughput, rate, false, "prompt and output tokens"),
      RIDGELINE_FIELD(measured, requests_per_second, rate, false, "finished"),
      RIDGELINE_FIELD(measured, ttft, time, false, "time to first token, mean or median"),
      RIDGELINE_FIELD(measured, ttft_p99, time, false, ""),
      RIDGELINE_FIELD(measured, itl, time, false, "inter-token latency or TPOT, mean or median"),
      RIDGELINE_FIELD(measured, itl_p99, time, false, ""),
      RIDGELINE_FIELD(measured, latency, time, false, "of a whole request"),
      RIDGELINE_FIELD(measured, step_time, time, false,
                      "of one step of the engine (prefill: of a prompt; training: of a step)"),
      RIDGELINE_FIELD(measured, flop_rate, flop_per_second, false,
                      "of one device, by the model's FLOP"),
      RIDGELINE_FIELD(measured, hbm_rate, bytes_per_second, false, "of one device, by counter"),
      RIDGELINE_FIELD(measured, bytes_per_step, bytes, false,
                      "read from HBM in one step, by counter"),
      RIDGELINE_FIELD(profile, flop_fraction, fraction, false,
                      "of the peak matrix rate, as a counter shows it (or MFU)"),
      RIDGELINE_FIELD(profile, useful_flop_fraction, fraction, false, "without padding"),
      RIDGELINE_FIELD(profile, hbm_fraction, fraction, false, "of peak HBM bandwidth"),
      RIDGELINE_FIELD(profile, kernels_per_step, none, true, ""),
      RIDGELINE_FIELD(profile, kernel_length, time, false, "a range, or the mean"),
      RIDGELINE_FIELD(profile, gap_length, time, false, "between consecutive kernels"),
      RIDGELINE_FIELD(profile, transient, bytes, false, "largest allocation above the weights"),
      RIDGELINE_FIELD(profile, gemm_rows, none, true, "M of the matrix products"),
      RIDGELINE_FIELD(profile, busy_time, time, false, "of one step: some kernel runs"),
      RIDGELINE_FIELD(profile, gap_time, time, false, "of one step: between kernels"),
      RIDGELINE_FIELD(profile, host_time, time, false,
                      "of one step: before its first kernel and after its last"),
      RIDGELINE_FIELD(profile, idle_fraction, fraction, false, "of the run: no step at all"),
      RIDGELINE_FIELD(profile, busy_fraction, fraction, false,
                      "of the time: some kernel runs ('GPU utilization')"),
      RIDGELINE_FIELD(profile, host_fraction, fraction, false,
                      "of a step: the device waits for the host"),
      RIDGELINE_FIELD(profile, communication_fraction, fraction, false,
                      "of a step: collectives with nothing else running"),
      RIDGELINE_FIELD(profile, communication_time, time, false, "the same, as a time"),
      RIDGELINE_FIELD(profile, transfer_time, time, false,
                      "of a step: copies between host and device, on the device's clock"),
      RIDGELINE_FIELD(profile, transfer_bytes, bytes, false, "of one such copy"),
      RIDGELINE_FIELD(profile, transfer_rate, bytes_per_second, false, "of such copies"),
      RIDGELINE_FIELD(profile, copy_call_time, time, false,
                      "of a step: the host inside calls that copy (hipMemcpy)"),
      RIDGELINE_FIELD(profile, host_issue_time, time, false,
                      "of a step, on the host's clock: first launch to last"),
      RIDGELINE_FIELD(profile, device_span, time, false,
                      "of a step, on the device's clock: first kernel to last"),
      RIDGELINE_FIELD(profile, occupied, fraction, false,
                      "of the compute units, by the longest kernel's workgroups: '4 of 108'"),
      RIDGELINE_FIELD(profile, near_roof, fraction, false,
                      "of kernel time: at a roof that the machine sustains"),
      RIDGELINE_FIELD(
          profile, by_matrix, fraction, false,
          "of the time at either roof: at the matrix roof, where that is the nearer one"),
      RIDGELINE_FIELD(profile, host_path, fraction, false,
                      "of a step: until the last kernel that waited for its launch, and after the "
                      "last of all"),
      RIDGELINE_FIELD(profile, clock_fraction, fraction, false,
                      "sustained over rated clock: '1580 of 1965'"),
      RIDGELINE_FIELD(profile, imbalance, none, false, "work of the busiest device over the mean"),
  };
  return fields;
}

const Field* find_field(std::string_view path_or_key) {
  for (const Field& field : evidence_fields()) {
    if (field.key == path_or_key || field.path() == path_or_key) return &field;
  }
  return nullptr;
}

}  // namespace ridgeline::diagnosis
