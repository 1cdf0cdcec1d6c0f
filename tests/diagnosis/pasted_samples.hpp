#pragma once
// Text in the formats of tools, with made-up numbers. The formats follow what the tools print
// (their sources and users' reports of 2023 to 2026).

#include <string_view>

namespace ridgeline::diagnosis::samples {

inline constexpr std::string_view kVllmServe = R"(
Traffic request rate: inf
Burstiness factor: 1.0 (Poisson process)
Maximum request concurrency: 16
100%|##########| 128/128 [02:32<00:00,  1.19s/it]
============ Serving Benchmark Result ============
Successful requests:                     128
Failed requests:                         0
Maximum request concurrency:             16
Benchmark duration (s):                  160.00
Total input tokens:                      131072
Total generated tokens:                  128000
Request throughput (req/s):              0.80
Output token throughput (tok/s):         800.00
Peak output token throughput (tok/s):    1039.00
Peak concurrent requests:                26.00
Total token throughput (tok/s):          1619.20
---------------Time to First Token----------------
Mean TTFT (ms):                          1417.27
Median TTFT (ms):                        1432.74
P99 TTFT (ms):                           4043.75
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          17.18
Median TPOT (ms):                        17.21
P99 TPOT (ms):                           18.69
---------------Inter-token Latency----------------
Mean ITL (ms):                           22.76
Median ITL (ms):                         15.93
P99 ITL (ms):                            235.74
==================================================
)";

inline constexpr std::string_view kSglangServe = R"(
============ Serving Benchmark Result ============
Backend:                                 sglang-oai
Traffic request rate:                    5.0
Max request concurrency:                 256
Successful requests:                     100
Benchmark duration (s):                  44.20
Total input tokens:                      5012
Total generated tokens:                  5000
Total generated tokens (retokenized):    4997
Request throughput (req/s):              2.26
Input token throughput (tok/s):          113.39
Output token throughput (tok/s):         113.12
Total token throughput (tok/s):          226.51
Concurrency:                             49.12
----------------End-to-End Latency----------------
Mean E2E Latency (ms):                   8837.28
Median E2E Latency (ms):                 8599.33
---------------Time to First Token----------------
Mean TTFT (ms):                          363.58
P99 TTFT (ms):                           1063.32
---------------Inter-Token Latency----------------
Mean ITL (ms):                           8.49
P95 ITL (ms):                            8.66
P99 ITL (ms):                            9.10
Max ITL (ms):                            31.00
==================================================
)";

inline constexpr std::string_view kVllmLog = R"(
(EngineCore_DP0 pid=212) INFO 02-23 03:40:30 [core.py:105] Initializing a V1 LLM engine (v0.19.1) with config: model='acme/Chat-8B', speculative_config=None, tokenizer='acme/Chat-8B', dtype=torch.bfloat16, max_seq_len=32768, tensor_parallel_size=2, pipeline_parallel_size=1, quantization=None, enforce_eager=False, kv_cache_dtype=auto, structured_outputs_config=StructuredOutputsConfig(backend='auto'), compilation_config={'level': 3, "sizes": [1, 2]}, enable_prefix_caching=True
(Worker_TP0 pid=405) INFO 02-23 03:40:33 [gpu_model_runner.py:2653] Model loading took 7.6391 GiB memory and 4.1 seconds
(Worker_TP1 pid=406) INFO 02-23 03:40:33 [gpu_model_runner.py:2653] Model loading took 7.6391 GiB memory and 4.2 seconds
(Worker_TP0 pid=405) INFO 02-23 03:40:34 [rocm.py:232] Using Triton Attention backend on V1 engine.
(Worker_TP0 pid=405) WARNING 02-23 03:40:36 [fused_moe.py:1087] Using default MoE config. Performance might be sub-optimal! Config file not found at /opt/configs/E=128,N=384,device_name=AMD_Instinct_MI300X.json
(EngineCore_DP0 pid=212) INFO 02-23 03:40:38 [base.py:81] Available KV cache memory: 37.18 GiB
(EngineCore_DP0 pid=212) INFO 02-23 03:40:38 [kv_cache_utils.py:1307] GPU KV cache size: 1,949,520 tokens
(EngineCore_DP0 pid=212) INFO 02-23 03:40:38 [kv_cache_utils.py:1312] Maximum concurrency for 32,768 tokens per request: 59.49x
Capturing CUDA graphs (decode, FULL): 100%|##########| 19/19 [00:03<00:00,  5.92it/s]
(Worker_TP0 pid=405) INFO 02-23 03:40:50 [gpu_model_runner.py:3480] Graph capturing finished in 8 secs, took 0.31 GiB
(APIServer pid=1) INFO 02-23 03:41:01 [loggers.py:257] Engine 000: Avg prompt throughput: 7109.8 tokens/s, Avg generation throughput: 25.9 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 2.1%, Prefix cache hit rate: 0.0%
(APIServer pid=1) INFO:     127.0.0.1:45468 - "POST /v1/chat/completions HTTP/1.1" 200 OK
(APIServer pid=1) INFO 02-23 03:41:11 [loggers.py:257] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 1055.3 tokens/s, Running: 18 reqs, Waiting: 43 reqs, GPU KV cache usage: 95.9%, Prefix cache hit rate: 1.0%
(APIServer pid=1) INFO 02-23 03:41:21 [loggers.py:257] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 1226.3 tokens/s, Running: 18 reqs, Waiting: 42 reqs, GPU KV cache usage: 95.5%, Prefix cache hit rate: 1.0%
(APIServer pid=1) INFO 02-23 03:41:31 [loggers.py:257] Engine 000: Avg prompt throughput: 12068.8 tokens/s, Avg generation throughput: 1100.0 tokens/s, Running: 20 reqs, Waiting: 33 reqs, GPU KV cache usage: 98.7%, Prefix cache hit rate: 1.0%
(APIServer pid=1) INFO 02-23 03:41:41 [loggers.py:257] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 1.0%
)";

inline constexpr std::string_view kVllmV0Log = R"(
INFO 01-30 03:18:12 model_runner.py:848] Loading model weights took 67.7229 GB
INFO 01-30 03:19:14 executor_base.py:110] # cuda blocks: 1381, # CPU blocks: 512
INFO 01-30 03:19:14 gpu_executor.py:122] # GPU blocks: 1381, # CPU blocks: 512
INFO 01-30 03:19:14 kv_cache_utils.py:398] Maximum concurrency for 2048 tokens per request: 10.79x
WARNING 08-20 10:18:39 scheduler.py:1141] Sequence group 147 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end performance. total_num_cumulative_preemption=1
WARNING 08-20 10:18:59 scheduler.py:1141] Sequence group 901 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end performance. total_num_cumulative_preemption=51
INFO 03-18 09:04:46 [metrics.py:481] Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 40.4 tokens/s, Running: 2 reqs, Swapped: 0 reqs, Pending: 7 reqs, GPU KV cache usage: 99.6%, CPU KV cache usage: 0.0%.
)";

inline constexpr std::string_view kSglangLog = R"(
[2026-04-08 14:04:50 TP0] Load weight end. type=ChatForCausalLM, dtype=torch.bfloat16, avail mem=170.10 GB, mem usage=15.27 GB.
[2026-04-08 14:05:00 TP0] KV Cache is allocated. #tokens: 171008, K size: 5.22 GB, V size: 5.22 GB
[2026-04-08 14:05:01 TP0] max_total_num_tokens=171008, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, context_len=131072, available_gpu_mem=8.27 GB
[2026-04-08 14:05:20 TP0] Prefill batch. #new-seq: 1, #new-token: 103, #cached-token: 1, token usage: 0.00, #running-req: 0, #queue-req: 0,
[2026-04-08 14:05:21 TP0] Decode batch. #running-req: 1, #token: 137, token usage: 0.00, cuda graph: True, gen throughput (token/s): 1.06, #queue-req: 0,
[2026-04-08 14:05:22 TP0] Decode batch. #running-req: 32, #token: 20800, token usage: 0.91, cuda graph: False, gen throughput (token/s): 1640.27, #queue-req: 5,
[2026-04-08 14:05:24 TP0] Decode batch. #running-req: 32, #token: 20800, token usage: 0.93, cuda graph: False, gen throughput (token/s): 1636.39, #queue-req: 7,
)";

inline constexpr std::string_view kOneBatch = R"(
Prefill. latency: 0.46342 s, throughput:   9316.59 token/s
Decode 0. Batch size: 4, latency: 0.29446 s, throughput:     13.58 token/s
Decode.  median latency: 0.01978 s, median throughput:    202.20 token/s
Total. latency:  1.412 s, throughput:   2981.76 token/s
Benchmark ...
Prefill. latency: 0.37183 s, throughput:  11015.86 token/s
Decode 0. Batch size: 4, latency: 0.01225 s, throughput:    326.46 token/s
Decode 1. Batch size: 4, latency: 0.01189 s, throughput:    336.47 token/s
Decode.  median latency: 0.01178 s, median throughput:    339.57 token/s
Total. latency:  1.112 s, throughput:   3981.76 token/s
)";

inline constexpr std::string_view kThroughput = R"(
$ vllm bench throughput --model acme/Chat-8B --input-len 256 --output-len 256 --num-prompts 1000 --dtype auto
Throughput: 34.14 requests/s, 17466.30 total tokens/s, 8739.16 output tokens/s
Total num prompt tokens:  255648
Total num output tokens:  256000
)";

inline constexpr std::string_view kLatency = R"(
Avg latency: 1.475279240796808 seconds
10% percentile latency: 1.4704144389019347 seconds
99% percentile latency: 1.5911 seconds
)";

inline constexpr std::string_view kTrtllm = R"(
===========================================================
= PYTORCH BACKEND
===========================================================
Model:   acme/Chat-70B
Model Path:  /models/chat-70b
TensorRT-LLM Version: 1.1.0rc1
Dtype:   bfloat16
KV Cache Dtype:  FP8
Quantization:  NVFP4

===========================================================
= REQUEST DETAILS
===========================================================
Number of requests:             3000
Number of concurrent requests:  1018.8281
Average Input Length (tokens):  2048.0000
Average Output Length (tokens): 128.0000
===========================================================
= WORLD + RUNTIME INFORMATION
===========================================================
TP Size:                4
PP Size:                2
EP Size:                None
Max Runtime Batch Size: 3840
Max Runtime Tokens:     7680
Scheduling Policy:      GUARANTEED_NO_EVICT
KV Memory Percentage:   90.00%
Issue Rate (req/sec):   1.0526E+15

===========================================================
= PERFORMANCE OVERVIEW
===========================================================
Request Throughput (req/sec):                     43.2089
Total Output Throughput (tokens/sec):             5530.7382
Per User Output Throughput (tokens/sec/user):     2.0563
Per GPU Output Throughput (tokens/sec/gpu):       691.3422
Total Token Throughput (tokens/sec):              94022.5497
Total Latency (ms):                               69430.1449
Average request latency (ms):                     45541.4456
Per User Output Speed [1/TPOT] (tokens/sec/user): 5.4656
Average time-to-first-token [TTFT] (ms):          22667.0339
Average time-per-output-token [TPOT] (ms):        182.9639

-- Per-Request Time-per-Output-Token [TPOT] Breakdown (ms)

[TPOT] MINIMUM: 32.8005
[TPOT] P99    : 206.5821

-- Per-Request Time-to-First-Token [TTFT] Breakdown (ms)

[TTFT] AVERAGE: 22667.0339
[TTFT] P99    : 56563.4497

-- Request Latency Breakdown (ms) -----------------------

[Latency] P99    : 61618.2158
)";

inline constexpr std::string_view kLlamaBench = R"(
| model                          |       size |     params | backend    | ngl | fa |            test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | -: | --------------: | -------------------: |
| llama 3B Q4_K - Medium         |   1.87 GiB |     3.21 B | ROCm,RPC   |  99 |  1 |           pp512 |       573.52 &plusmn; 12.56 |
| llama 3B Q4_K - Medium         |   1.87 GiB |     3.21 B | ROCm,RPC   |  99 |  1 |           tg128 |         74.98 &plusmn; 0.05 |
| llama 3B Q4_K - Medium         |   1.87 GiB |     3.21 B | ROCm,RPC   |  99 |  1 |     pp512+tg128 |        244.87 &plusmn; 0.20 |

build: c81de6e1 (6092)
)";

inline constexpr std::string_view kLlamaCpp = R"(
./llama-cli -m models/chat-8b-q4.gguf -n 178 -c 8192 -ngl 0 -ub 512 -fa on
ggml_cuda_init: found 1 CUDA devices:
  Device 0: NVIDIA L20, compute capability 8.9, VMM: yes
llm_load_print_meta: n_layer          = 32
llm_load_print_meta: n_head           = 32
llm_load_print_meta: n_head_kv        = 8
llm_load_print_meta: n_embd           = 4096
llm_load_print_meta: model params     = 8.03 B
llm_load_print_meta: model size       = 4.58 GiB (4.89 BPW)
llm_load_tensors: offloading 0 repeating layers to GPU
llm_load_tensors: offloaded 0/33 layers to GPU
llama_perf_sampler_print:    sampling time =      24.62 ms /   227 runs   (    0.11 ms per token,  9220.90 tokens per second)
llama_perf_context_print:        load time =     618.92 ms
llama_perf_context_print: prompt eval time =     927.17 ms /    49 tokens (   18.92 ms per token,    52.85 tokens per second)
llama_perf_context_print:        eval time =   14085.85 ms /   178 runs   (   79.13 ms per token,    12.64 tokens per second)
llama_perf_context_print:       total time =   20699.49 ms /   227 tokens
)";

inline constexpr std::string_view kTgi = R"(
| Parameter          | Value                |
|--------------------|----------------------|
| Model              | acme/Chat-8B         |
| Sequence Length    | 2048                 |
| Decode Length      | 8                    |
| N Runs             | 10                   |

| Step           | Batch Size | Average   | Lowest    | Highest   | p50       | p90       | p99       |
|----------------|------------|-----------|-----------|-----------|-----------|-----------|-----------|
| Prefill        | 4          | 151.86 ms | 150.00 ms | 153.00 ms | 151.80 ms | 152.00 ms | 153.00 ms |
| Decode (token) | 4          | 9.20 ms   | 9.10 ms   | 9.40 ms   | 9.20 ms   | 9.30 ms   | 9.40 ms   |
| Decode (total) | 4          | 64.40 ms  | 63.00 ms  | 66.00 ms  | 64.00 ms  | 65.00 ms  | 66.00 ms  |

| Step    | Batch Size | Average            | Lowest             | Highest            |
|---------|------------|--------------------|--------------------|--------------------|
| Prefill | 4          | 26.34 tokens/secs  | 26.00 tokens/secs  | 26.60 tokens/secs  |
| Decode  | 4          | 434.78 tokens/secs | 430.00 tokens/secs | 440.00 tokens/secs |
)";

inline constexpr std::string_view kTorchTable = R"(
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
                                                   Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self CUDA %    CUDA total  CUDA time avg    # of Calls
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
                                               aten::mm         1.20%       2.400ms         2.00%       4.000ms      40.000us       6.000ms        60.00%       6.000ms      60.000us           100
Cijk_Alik_Bljk_BBS_BH_MT64x32x256_MI16x16x1_SN                  0.00%       0.000us         0.00%       0.000us       0.000us       6.000ms        60.00%       6.000ms      60.000us           100
void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloa...         0.00%       0.000us         0.00%       0.000us       0.000us     500.000us         5.00%     500.000us       2.500us           200
                                        ProfilerStep*         0.00%       0.000us         0.00%       0.000us       0.000us      10.000ms       100.00%      10.000ms      10.000ms             1
                                        hipLaunchKernel         9.00%      18.000ms         9.00%      18.000ms      10.000us       0.000us         0.00%       0.000us       0.000us          1800
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 200.000ms
Self CUDA time total: 10.000ms
)";

inline constexpr std::string_view kNsysText = R"(
Processing [report1.sqlite] with [/opt/nvidia/nsight-systems/reports/cuda_gpu_kern_sum.py]...

 ** CUDA API Summary (cuda_api_sum):

 Time (%)  Total Time (ns)  Num Calls  Avg (ns)   Med (ns)   Min (ns)   Max (ns)    StdDev (ns)            Name
 --------  ---------------  ---------  ---------  ---------  --------  -----------  -----------  -------------------------
     48.7    1,575,151,965    411,939    3,823.8    3,545.0     2,915    1,268,397      2,684.8  cudaLaunchKernel

 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)  Name
 --------  ---------------  ---------  --------  --------  --------  --------  -----------  ----------------------------------------------------
     75.0        3,000,000      1,000   3,000.0   3,000.0     2,900     3,100         10.0  void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(T1::Params)
     25.0        1,000,000        500   2,000.0   2,000.0     1,900     2,100         10.0  void vllm::rms_norm_kernel<c10::BFloat16>(T1 *, const T1 *)
)";

inline constexpr std::string_view kNsysCsv =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\r\n"
    "75.0,3000000,1000,3000.0,3000.0,2900,3100,10.0,\"void gemm<a, b>(T1::Params)\"\r\n"
    "25.0,1000000,500,2000.0,2000.0,1900,2100,10.0,rms_norm_kernel\r\n";

inline constexpr std::string_view kRocprofCsv =
    R"csv("Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"
"void gemm<a, b>(T1::Params)",1000,3000000,3000.000000,75.00,2900,3100,10.000000
"rms_norm_kernel",500,1000000,2000.000000,25.00,1900,2100,10.000000
)csv";

inline constexpr std::string_view kRocprofSummary = R"(
ROCPROFV3 KERNEL_DISPATCH SUMMARY:

|         NAME          |     DOMAIN      |      CALLS      | DURATION (nsec) | AVERAGE (nsec)  | PERCENT (INC) |   MIN (nsec)    |   MAX (nsec)    |     STDDEV      |
|-----------------------|-----------------|-----------------|-----------------|-----------------|---------------|-----------------|-----------------|-----------------|
| rms_norm_kernel       | KERNEL_DISPATCH |             500 |         1000000 |       2.000e+03 |     25.000000 |            1900 |            2100 |       1.000e+01 |

ROCPROFV3 HIP_API SUMMARY:

|         NAME          |     DOMAIN      |      CALLS      | DURATION (nsec) | AVERAGE (nsec)  | PERCENT (INC) |   MIN (nsec)    |   MAX (nsec)    |     STDDEV      |
|-----------------------|-----------------|-----------------|-----------------|-----------------|---------------|-----------------|-----------------|-----------------|
| hipLaunchKernel       | HIP_API         |             500 |         9000000 |       1.800e+04 |     25.000000 |            1900 |            2100 |       1.000e+01 |
)";

inline constexpr std::string_view kNvidiaTable = R"(
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA L20                     On  |   00000000:01:00.0 Off |                    0 |
| N/A   45C    P0             212W / 350W |   40000MiB / 46068MiB  |     97%      Default |
|   1  NVIDIA L20                     On  |   00000000:02:00.0 Off |                    0 |
| N/A   33C    P0              25W / 350W |       0MiB / 46068MiB  |      0%      Default |
+-----------------------------------------+------------------------+----------------------+
)";

inline constexpr std::string_view kNvidiaCsv = R"(
name, utilization.gpu [%], power.draw [W], clocks.current.sm [MHz], memory.used [MiB], memory.total [MiB]
NVIDIA L20, 97 %, 212.35 W, 2520 MHz, 40000 MiB, 46068 MiB
)";

inline constexpr std::string_view kRocmSmi = R"(
============================================ ROCm System Management Interface ============================================
====================================================== Concise Info ======================================================
Device  Node  IDs              Temp        Power     Partitions          SCLK     MCLK     Fan  Perf    PwrCap   VRAM%  GPU%
              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)
==========================================================================================================================
0       2     0x74a1,   24959  60.0 C      512.0W    NPS1, SPX, 0        2103Mhz  1300Mhz  0%   auto    750.0W   91%    97%
1       3     0x74a1,   20862  40.0 C      131.0W    NPS1, SPX, 0        145Mhz   900Mhz   0%   auto    750.0W   0%     0%
==========================================================================================================================
GPU[0]		: Device Name: 		AMD Instinct MI300X
)";

}  // namespace ridgeline::diagnosis::samples
