"""Every wrong input is refused with one sentence that says where, what was expected and what was found.

The table holds an input a row: its files, the command and the exact message. Beside the message, a refusal has exit code 2 (the
input is wrong) or 3 (it is well formed but cannot run), says nothing on stdout and leaves no file behind. The binary is taken from
the environment variable RIDGELINE.
"""

import json
import os
import resource
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

import pytest

RIDGELINE = os.environ.get("RIDGELINE", "ridgeline")
WRONG, CANNOT_RUN = 2, 3
MEMORY = 4 << 30  # bytes a refusal may take: an endless file must not be read to its end

SCENARIO = """\
hw: mi300x
model: llama3_8b
stack: vllm_v1
engine: {max_model_len: 4096}
workload:
  requests: 2
  arrivals: {closed_loop: {concurrency: 1}}
  prompt_tokens: 10
  output_tokens: 5
"""
LOOP = "{closed_loop: {concurrency: 1}}"
GENERATED = SCENARIO[SCENARIO.index("  requests") :]

EVIDENCE = """\
machine: mi300x
model: {parameters: 8e9, weight_dtype: bf16}
serving: {concurrency: 32}
measured:
  throughput: 1150 tokens/s
"""
RATE = "1150 tokens/s"

TRACE = "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,100,10\n1.5,200,20\n"
TRACE_HEADER = TRACE.splitlines()[0] + "\n"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"
FORMATS = "known: azure (TIMESTAMP,ContextTokens,GeneratedTokens); vidur (arrived_at,num_prefill_tokens,num_decode_tokens); jsonl (one object a line: arrival_time,input_toks,output_toks)"
MEASURED = "hw,M,N,K,dtype,time_us\nMI300X,16,8192,8192,bf16,30\n"
NO_TABLE = "no table with measured kernels: 'ridgeline predict --help' lists the columns of their shapes, beside which stands a time (time_us, time_ms, median_us) or rate (tflops, busbw_GBps)"
DTYPES = "fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4, int4"
MACHINES = ", ".join(sorted(file.stem for file in (Path(__file__).parents[2] / "configs/hw").glob("*.yaml")))
LAWS = "poisson, gamma, constant, closed_loop"
WORKLOADS = "'trace', or 'arrivals' with 'requests', 'prompt_tokens' and 'output_tokens', or 'training'"
A_RATE = "expected a rate like '5.5' or '5.5 /s', above 0 and at most 1e9 /s"


@dataclass
class Row:
    name: str
    argv: list
    says: str  # after "ridgeline: "; {dir} is the directory of the row's files
    code: int = WRONG
    files: dict = field(default_factory=dict)  # path: text or bytes; None makes a directory
    damage: Optional[Callable[[Path], None]] = None  # done to a copy of a good run in {dir}/run
    env: dict = field(default_factory=dict)


def changed(text, old, new):
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the text"
    return text.replace(old, new)


def scenario(name, old, new, says, code=WRONG, text=SCENARIO):
    """The good scenario with one thing changed, in s.yaml."""
    return document(name, changed(text, old, new), says, code)


def document(name, text, says, code=WRONG, **files):
    files = {"s.yaml": text} | {key.replace("_", "."): value for key, value in files.items()}
    return Row("scenario: " + name, ["run", "{dir}/s.yaml", "--quiet", "--out", "{dir}/out"], says, code, files)


def workload(name, text, says, code=WRONG):
    return document(name, changed(SCENARIO, GENERATED, text), says, code)


def trace(name, text, says):
    files = {"s.yaml": changed(SCENARIO, GENERATED, "  trace: t.csv\n"), "t.csv": text}
    return Row("trace: " + name, ["run", "{dir}/s.yaml", "--quiet", "--out", "{dir}/out"], says, files=files)


def evidence(name, text, says):
    return Row("evidence: " + name, ["diagnose", "{dir}/e.yaml"], says, files={"e.yaml": text})


def measured(name, value, says):
    return evidence(name, changed(EVIDENCE, RATE, value), says)


def arguments(name, *argv_and_says, **rest):
    *argv, says = argv_and_says
    return Row("arguments: " + name, argv, says, files={"s.yaml": SCENARIO, "e.yaml": EVIDENCE}, **rest)


def tables(name, *argv_and_says):
    *argv, says = argv_and_says
    short = MEASURED + "MI300X,16\n" + "MI300X,16,8192,8192,bf16,30\n"
    timeless = MEASURED.replace("time_us", "note")
    files = {"t.csv": MEASURED, "empty.csv": "", "short.csv": short, "timeless.csv": timeless, "negative.csv": "hw,M,N,K,dtype,time_us\nMI300X,8,8,8,bf16,-5\n", "other.csv": "a,b\n1,2\n", "folder": None}
    return Row("tables: " + name, argv, says, files=files)


def override(name, text, says):
    return Row("--set: " + name, ["run", "chat_8b", "--quiet", "--set", text], says)


def run_directory(name, damage, says, argv=("diagnose", "{dir}/run"), code=WRONG):
    return Row("run directory: " + name, list(argv), says, code, damage=damage)


def rewrite(file, change):
    return lambda run: (run / file).write_bytes(change((run / file).read_bytes()))


def window(name, text, says):
    return run_directory("window " + name, None, says, ["trace", "{dir}/run", "--window", text])


ROWS = [
    # The file as a whole.
    Row("scenario: a file that is not there", ["run", "{dir}/nothing.yaml"], "{dir}/nothing.yaml: no such file"),
    Row("scenario: a file that is not there, without a folder", ["run", "nothing.yaml"], "nothing.yaml: no such file"),
    Row("scenario: a directory", ["run", "{dir}"], "{dir}: expected a file, got a directory"),
    Row("scenario: an endless file", ["run", "/dev/zero"], "/dev/zero: larger than 256 MiB"),
    document("an empty file", "", "{dir}/s.yaml: the file is empty; expected a YAML document"),
    document("white space", " \n\n  \n", "{dir}/s.yaml: the file is empty; expected a YAML document"),
    document("a comment alone", "# nothing\n", "{dir}/s.yaml: the file is empty; expected a YAML document"),
    document("a binary file", b"\x7fELF\x00\x01\x02", "{dir}/s.yaml: expected YAML text, got binary data"),
    document("text in UTF-16", SCENARIO.encode("utf-16"), "{dir}/s.yaml: expected YAML text, got binary data"),
    document(
        "a byte that is not UTF-8",
        SCENARIO.encode() + b"name: \xff\xfe\n",
        "{dir}/s.yaml:10:7: expected UTF-8 text, got the byte 0xff",
    ),
    document("several documents", SCENARIO + "---\n" + SCENARIO, "{dir}/s.yaml: expected one YAML document, got several"),
    document("a list", "- a\n- b\n", "{dir}/s.yaml:1:1: document: expected a map, got a list"),
    scenario(
        "a tab as indentation",
        "  requests",
        "\trequests",
        "{dir}/s.yaml:6:1: YAML syntax: a tab in the indentation; YAML indents by spaces",
    ),
    scenario("a brace left open", "4096}", "4096", "{dir}/s.yaml:5:9: YAML syntax: end of map flow not found"),
    scenario(
        "a duplicate key",
        "  requests: 2\n",
        "  requests: 2\n  requests: 3\n",
        "{dir}/s.yaml:7:3: workload.requests: duplicate key; first given at line 6",
    ),
    document("a duplicate key on top", SCENARIO + "hw: h100\n", "{dir}/s.yaml:10:1: hw: duplicate key; first given at line 1"),
    scenario(
        "an alias inside of what it names",
        "{max_model_len: 4096}",
        "&a {max_model_len: *a}",
        "{dir}/s.yaml:4:28: an alias refers to a value that contains it (cyclic reference)",
    ),
    scenario(
        "an alias of nothing",
        "{max_model_len: 4096}",
        "*nope",
        "{dir}/s.yaml:4:9: YAML syntax: the referenced anchor is not defined",
    ),
    document(  # 10^7 values when expanded
        "aliases that blow up",
        "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(f"{b}: &{b} [{','.join(['*' + a] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi")),
        "{dir}/s.yaml:6:32: the document expands to more than a million values",
    ),
    document("lists 3,000 deep", "a: " + "[" * 3000 + "]" * 3000 + "\n", "{dir}/s.yaml:1:67: nested more than 64 levels deep"),
    # Keys and names.
    scenario(
        "an unknown key",
        "max_model_len",
        "max_modle_len",
        "{dir}/s.yaml:4:10: engine.max_modle_len: unknown key; did you mean 'max_model_len'?",
    ),
    document(
        "an unknown section",
        SCENARIO + "wrokload:\n  requests: 3\n",
        "{dir}/s.yaml:10:1: wrokload: unknown key; did you mean 'workload'?",
    ),
    scenario(
        "an unknown key far down",
        "concurrency: 1",
        "concurrency: 1, think: 3 s",
        "{dir}/s.yaml:7:44: workload.arrivals.closed_loop.think: unknown key; did you mean 'think_time'?",
    ),
    scenario(
        "an unknown machine, nearly right", "mi300x", "mi30x", "{dir}/s.yaml:1:5: hw: unknown name 'mi30x'; did you mean 'mi300x'?"
    ),
    scenario("an unknown machine", "mi300x", "tpu_v9", "{dir}/s.yaml:1:5: hw: unknown name 'tpu_v9'; known: " + MACHINES),
    scenario(
        "an unknown model", "llama3_8b", "llama3_8", "{dir}/s.yaml:2:8: model: unknown name 'llama3_8'; did you mean 'llama3_8b'?"
    ),
    scenario("an unknown stack", "vllm_v1", "vllm_v11", "{dir}/s.yaml:3:8: stack: unknown name 'vllm_v11'; did you mean 'vllm_v1'?"),
    scenario("a list for a model", "llama3_8b", "[llama3_8b]", "{dir}/s.yaml:2:8: model: expected a name, a path or a map, got a list"),
    scenario("nothing for a machine", " mi300x", "", "{dir}/s.yaml:1:1: hw: expected a name, a path or a map, got nothing"),
    scenario(
        "no model",
        "model: llama3_8b\n",
        "",
        "{dir}/s.yaml:1:1: model: expected a name, a path or a map, got nothing (the key is missing)",
    ),
    scenario(
        "an unknown scheduler",
        "max_model_len: 4096",
        "scheduler: vllm_v2",
        "{dir}/s.yaml:4:21: engine.scheduler: unknown scheduler 'vllm_v2'; did you mean 'vllm_v1'?",
    ),
    scenario(
        "an unknown dtype",
        "max_model_len: 4096",
        "kv_cache_dtype: fp9",
        "{dir}/s.yaml:4:26: engine.kv_cache_dtype: expected one of " + DTYPES + ", got 'fp9'; did you mean 'fp8'?",
    ),
    scenario(
        "an unknown dtype as a key",
        "mi300x",
        "{base: mi300x, peak: {fp17: 1 TFLOP/s}}",
        "{dir}/s.yaml:1:27: hw.peak.fp17: unknown dtype; did you mean 'fp16'?",
    ),
    # Bases.
    document(
        "a base that is its own",
        changed(SCENARIO, "mi300x", "a.yaml"),
        "{dir}/b.yaml:1:7: base: cyclic reference: a.yaml -> b.yaml -> a.yaml",
        a_yaml="base: b.yaml\n",
        b_yaml="base: a.yaml\n",
    ),
    document("itself as base", "base: s.yaml\n" + SCENARIO, "{dir}/s.yaml:1:7: base: cyclic reference: s.yaml -> s.yaml"),
    scenario("a base that is not there", "mi300x", "a.yaml", "{dir}/s.yaml:1:5: hw: no such file: {dir}/a.yaml"),
    document(
        "an error in a base",
        changed(SCENARIO, "mi300x", "a.yaml"),
        "{dir}/a.yaml:2:18: hw.hbm.bandwidth: expected a number with unit like '5.3 TB/s', got '5'",
        a_yaml="base: mi300x\nhbm: {bandwidth: 5}\n",
    ),
    # Kinds of values.
    scenario("a list for a map", "{max_model_len: 4096}", "[1]", "{dir}/s.yaml:4:9: engine: expected a map, got a list"),
    scenario("a number for a map", "{max_model_len: 4096}", "7", "{dir}/s.yaml:4:9: engine: expected a map, got '7'"),
    scenario(
        "a bool for a number",
        "requests: 2",
        "requests: true",
        "{dir}/s.yaml:6:13: workload.requests: expected a whole number from 1 to 100000000, got 'true'",
    ),
    scenario(
        "a number for a bool",
        "max_model_len: 4096",
        "enforce_eager: 1",
        "{dir}/s.yaml:4:25: engine.enforce_eager: expected true or false, got '1'",
    ),
    scenario(
        "half a request",
        "requests: 2",
        "requests: 2.5",
        "{dir}/s.yaml:6:13: workload.requests: expected a whole number from 1 to 100000000, got '2.5'",
    ),
    scenario(
        "minus two requests",
        "requests: 2",
        "requests: -2",
        "{dir}/s.yaml:6:13: workload.requests: expected a whole number from 1 to 100000000, got '-2'",
    ),
    scenario(
        "more tokens than 64 bits hold",
        "prompt_tokens: 10",
        "prompt_tokens: 99999999999999999999",
        "{dir}/s.yaml:8:18: workload.prompt_tokens: expected a whole number from 1 to 10000000, got '99999999999999999999'",
    ),
    scenario(
        "a size in hexadecimal",
        "max_model_len: 4096",
        "block_size: 0x10",
        "{dir}/s.yaml:4:22: engine.block_size: expected a whole number from 1 to 4096, got '0x10'",
    ),
    document("a seed in words", SCENARIO + "seed: one\n", "{dir}/s.yaml:10:7: seed: expected a whole number of at least 0, got 'one'"),
    scenario(
        "a fraction above one",
        "max_model_len: 4096",
        "gpu_memory_utilization: 1.5",
        "{dir}/s.yaml:4:34: engine.gpu_memory_utilization: expected a fraction between 0.01 and 1, got '1.5'",
    ),
    # Units.
    scenario(
        "the wrong unit",
        "mi300x",
        "{base: mi300x, hbm: {bandwidth: 5.3 TB}}",
        "{dir}/s.yaml:1:37: hw.hbm.bandwidth: expected a number with unit like '5.3 TB/s', got '5.3 TB'",
    ),
    scenario(
        "no unit",
        "mi300x",
        "{base: mi300x, hbm: {bandwidth: 5.3}}",
        "{dir}/s.yaml:1:37: hw.hbm.bandwidth: expected a number with unit like '5.3 TB/s', got '5.3'",
    ),
    scenario(
        "bits for bytes",
        "mi300x",
        "{base: mi300x, hbm: {bandwidth: 5.3 Tb/s}}",
        "{dir}/s.yaml:1:37: hw.hbm.bandwidth: expected a number with unit like '5.3 TB/s', got '5.3 Tb/s'",
    ),
    scenario(
        "FLOPS for FLOP/s",
        "mi300x",
        "{base: mi300x, peak: {bf16: 1000 TFLOPS}}",
        "{dir}/s.yaml:1:33: hw.peak.bf16: expected a number with unit like '1307.4 TFLOP/s', got '1000 TFLOPS'",
    ),
    scenario(
        "a negative bandwidth",
        "mi300x",
        "{base: mi300x, hbm: {bandwidth: -5.3 TB/s}}",
        "{dir}/s.yaml:1:37: hw.hbm.bandwidth: expected a bandwidth above zero, got '-5.3 TB/s'",
    ),
    scenario(
        "a bandwidth beyond a double",
        "mi300x",
        "{base: mi300x, hbm: {bandwidth: 1e300 TB/s}}",
        "{dir}/s.yaml:1:37: hw.hbm.bandwidth: expected a number with unit like '5.3 TB/s', got '1e300 TB/s'",
    ),
    scenario(  # a step would take longer than the clock holds
        "next to no bandwidth",
        "mi300x",
        "{base: mi300x, hbm: {bandwidth: 1e-300 TB/s}}",
        "{dir}/s.yaml:1:37: hw.hbm.bandwidth: expected a bandwidth of at least 1 MB/s, got '1e-300 TB/s'",
    ),
    scenario(
        "a negative time",
        "vllm_v1",
        "{base: vllm_v1, launch: {issue: -5 us}}",
        "{dir}/s.yaml:3:40: stack.launch.issue: expected a time of zero or more, got '-5 us'",
    ),
    scenario(
        "a launch that takes a century",
        "vllm_v1",
        "{base: vllm_v1, launch: {issue: 1e6 h}}",
        "{dir}/s.yaml:3:40: stack.launch.issue: expected a time of at most 1 s, got '1e6 h'",
    ),
    scenario(
        "a tile with something after it",
        "mi300x",
        "{base: mi300x, gemm: {tiles: [16x16abc]}}",
        "{dir}/s.yaml:1:34: hw.gemm.tiles: expected tiles like 128x256, got '16x16abc'",
    ),
    scenario(
        "heads that do not divide",
        "llama3_8b",
        "{base: llama3_8b, kv_heads: 7}",
        "{dir}/s.yaml:2:36: model.kv_heads: expected a divisor of heads (32), got '7'",
    ),
    # The workload.
    scenario("a rate that is not a number", LOOP, "{poisson: {rate: .nan}}", "{dir}/s.yaml:7:30: workload.arrivals.poisson.rate: " + A_RATE + ", got '.nan'"),
    scenario("an infinite rate", LOOP, "{poisson: {rate: .inf}}", "{dir}/s.yaml:7:30: workload.arrivals.poisson.rate: " + A_RATE + ", got '.inf'"),
    scenario("a rate of zero", LOOP, "{poisson: {rate: 0 /s}}", "{dir}/s.yaml:7:30: workload.arrivals.poisson.rate: " + A_RATE + ", got '0 /s'"),
    scenario("a time for a rate", LOOP, "{poisson: {rate: 3 ms}}", "{dir}/s.yaml:7:30: workload.arrivals.poisson.rate: " + A_RATE + ", got '3 ms'"),
    scenario(
        "a rate that would take centuries",
        LOOP,
        "{constant: {rate: 1e-12}}",
        "{dir}/s.yaml:7:13: workload.arrivals: 2 requests at this rate would take longer than 1e9 s",
    ),
    scenario(
        "an unknown law", LOOP, "{poison: {rate: 3}}", "{dir}/s.yaml:7:14: workload.arrivals.poison: unknown law; did you mean 'poisson'?"
    ),
    scenario(
        "two laws",
        LOOP,
        "{poisson: {rate: 3}, constant: {rate: 3}}",
        "{dir}/s.yaml:7:13: workload.arrivals: expected exactly one of " + LAWS + ", got 2 keys",
    ),
    scenario("a law without numbers", LOOP, "poisson", "{dir}/s.yaml:7:13: workload.arrivals: expected a map with one of " + LAWS + ", got 'poisson'"),
    scenario(
        "a range upside down",
        "prompt_tokens: 10",
        "prompt_tokens: {uniform: {low: 20, high: 10}}",
        "{dir}/s.yaml:8:44: workload.prompt_tokens.uniform.high: expected a number of tokens not below 'low', got '10'",
    ),
    workload("a workload of nothing", "  {}\n", "{dir}/s.yaml:6:3: workload: expected " + WORKLOADS + ", got an empty map"),
    scenario(
        "a trace beside arrivals",
        "  requests: 2",
        "  requests: 2\n  trace: t.csv",
        "{dir}/s.yaml:8:13: workload.arrivals: cannot stand beside 'trace': expected " + WORKLOADS,
    ),
    workload("a trace that is not there", "  trace: nothing.csv\n", "{dir}/s.yaml:6:10: workload.trace: no such file: {dir}/nothing.csv"),
    workload("a directory for a trace", "  trace: /\n", "{dir}/s.yaml:6:10: workload.trace: expected the path of a trace file, got '/'"),
    workload(
        "training on no sequence",
        "  training: {microbatch: 0, sequence: 512}\n",
        "{dir}/s.yaml:6:26: workload.training.microbatch: expected a whole number from 1 to 1000000, got '0'",
    ),
    workload(
        "training beyond the model's positions",
        "  training: {microbatch: 1, sequence: 1000000}\n",
        "{dir}/s.yaml:6:39: workload.training.sequence: expected at most model.max_position (131072), got '1000000'",
    ),
    # Engine against model, model against machine.
    scenario(
        "a context beyond the model's positions",
        "max_model_len: 4096",
        "max_model_len: 1000000",
        "{dir}/s.yaml:4:25: engine.max_model_len: expected at most model.max_position (131072), got '1000000'",
    ),
    scenario(
        "more sequences than tokens a step",
        "max_model_len: 4096",
        "max_num_seqs: 512, max_num_batched_tokens: 128",
        "{dir}/s.yaml:4:24: engine.max_num_seqs: expected at most max_num_batched_tokens (128), got '512'",
    ),
    scenario(
        "whole prompts in steps that are too small",
        "max_model_len: 4096",
        "max_model_len: 4096, enable_chunked_prefill: false, max_num_batched_tokens: 1024",
        "{dir}/s.yaml:4:86: engine.max_num_batched_tokens: expected at least max_model_len (4096) when enable_chunked_prefill is false, "
        "got '1024'",
    ),
    scenario(
        "a dtype that the machine does not have",
        "llama3_8b",
        "{base: llama3_8b, math: fp4}",
        "{dir}/s.yaml:2:8: model: AMD Instinct MI300X has no matrix rate for fp4, in which the model computes; give hw.peak.fp4 or another "
        "model.math",
    ),
    document(  # 70.6e9 parameters of 2 bytes in 0.9 x 80 GB
        "a model larger than HBM",
        changed(changed(SCENARIO, "llama3_8b", "llama3_70b"), "mi300x", "a100"),
        "Llama 3.1 70B does not fit on NVIDIA A100 SXM 80GB: weights 141.11 GB + activations 2.20 GB + context and graphs 2.00 GB = 145.31 of 72.00 GB at "
        "gpu_memory_utilization 0.9; nothing is left for the KV cache",
        CANNOT_RUN,
    ),
    scenario(  # 10 blocks of 16 tokens
        "a context beyond the KV cache",
        "max_model_len: 4096",
        "max_model_len: 4096, num_gpu_blocks_override: 10",
        "the KV cache holds 160 tokens (10 blocks of 16), fewer than max_model_len = 4096; weights 16.06 GB + activations 1.36 GB + context and graphs 2.00 GB = 19.42 of "
        "185.49 GB; lower engine.max_model_len to at most 160 or raise engine.num_gpu_blocks_override",
        CANNOT_RUN,
    ),
    scenario(  # a token is 2 x 32 layers x 1024 x 2 bytes = 131,072 B; 10^8 blocks of 16 are 209,715.2 GB
        "more KV blocks than memory",
        "max_model_len: 4096",
        "max_model_len: 4096, num_gpu_blocks_override: 100000000",
        "engine.num_gpu_blocks_override: 100000000 blocks of 16 tokens take 209715.20 GB, more than is free: weights 16.06 GB + activations "
        "1.36 GB + context and graphs 2.00 GB = 19.42 of 185.49 GB",
        CANNOT_RUN,
    ),
    scenario(
        "prompts that the engine refuses, all of them",
        "prompt_tokens: 10",
        "prompt_tokens: 5000",
        "all 2 requests are refused: the shortest prompt has 5000 tokens, and engine.max_model_len = 4096 leaves no room for an answer",
        CANNOT_RUN,
    ),
    # Request traces.
    trace("an empty file", "", "{dir}/t.csv: expected a trace, got an empty file"),
    trace("white space", "\n\n", "{dir}/t.csv: expected a trace, got an empty file"),
    trace("a binary file", b"a\0b", "{dir}/t.csv: expected a trace as text, got binary data"),
    trace("a packed file", b"\x1f\x8b\x08\x00", "{dir}/t.csv: expected a trace as text, got gzip data; unpack it first"),
    trace("another header", "a,b,c\n1,2,3\n", "{dir}/t.csv:1:1: expected the header of a known trace format, got 'a,b,c'; " + FORMATS),
    trace("no header", "0.0,100,10\n", "{dir}/t.csv:1:1: expected the header of a known trace format, got '0.0,100,10'; " + FORMATS),
    trace(
        "a column missing",
        "arrived_at,num_prefill_tokens\n0,1\n",
        "{dir}/t.csv:1:1: num_decode_tokens: expected a column of this name, got the columns 'arrived_at, num_prefill_tokens'",
    ),
    trace(
        "a column twice",
        "arrived_at,num_prefill_tokens,num_prefill_tokens,num_decode_tokens\n0,1,2,3\n",
        "{dir}/t.csv:1:31: num_prefill_tokens: duplicate column; first given at column 12",
    ),
    trace("a header alone", TRACE_HEADER, "{dir}/t.csv: expected requests, got a header and no rows"),
    trace(
        "rows without work",
        TRACE_HEADER + "0,5,0\n1,0,5\n",
        "{dir}/t.csv: expected requests, got 2 rows, each without prompt tokens or without output tokens",
    ),
    trace("a row cut short", TRACE + "2.0,5,6\n3.0,7", "{dir}/t.csv:5:1: expected 3 fields as in the header, got 2: '3.0,7'"),
    trace("a row too long", TRACE + "2.0,5,6,7\n", "{dir}/t.csv:4:1: expected 3 fields as in the header, got 4: '2.0,5,6,7'"),
    trace("a word for a number", TRACE + "2.0,many,6\n", "{dir}/t.csv:4:5: num_prefill_tokens: expected a whole number, got 'many'"),
    trace("half a token", TRACE + "2.0,5.5,6\n", "{dir}/t.csv:4:5: num_prefill_tokens: expected a whole number, got '5.5'"),
    trace(
        "a negative number",
        TRACE + "2.0,-5,6\n",
        "{dir}/t.csv:4:5: num_prefill_tokens: expected a whole number from 0 to 10000000, got '-5'",
    ),
    trace(
        "more tokens than 64 bits hold",
        TRACE + "2.0,99999999999999999999,6\n",
        "{dir}/t.csv:4:5: num_prefill_tokens: expected a whole number from 0 to 10000000, got '99999999999999999999'",
    ),
    trace("a time that is none", TRACE + "nan,5,6\n", "{dir}/t.csv:4:1: arrived_at: expected seconds from 0 to 1e9, like '4.314579', got 'nan'"),
    trace("an endless time", TRACE + "inf,5,6\n", "{dir}/t.csv:4:1: arrived_at: expected seconds from 0 to 1e9, like '4.314579', got 'inf'"),
    trace(
        "the thirtieth of February",
        AZURE + "2023-02-30 00:00:00,1,1\n",
        "{dir}/t.csv:3:1: TIMESTAMP: expected a time like '2023-11-16 18:15:46.6805900', got '2023-02-30 00:00:00'",
    ),
    # Evidence.
    Row("evidence: a file that is not there", ["diagnose", "{dir}/nope.yaml"], "{dir}/nope.yaml: no such file"),
    evidence("an empty file", "", "{dir}/e.yaml: the file is empty; expected a YAML document"),
    evidence("a binary file", b"\0\1\2", "{dir}/e.yaml: expected YAML text, got binary data"),
    evidence(
        "no fact",
        "title: x\n",
        "{dir}/e.yaml:1:1: document: expected at least one fact (machine, model, serving, measured or profile), got none",
    ),
    evidence(
        "an unknown key",
        changed(EVIDENCE, "throughput", "troughput"),
        "{dir}/e.yaml:5:3: measured.troughput: unknown key; did you mean 'throughput'?",
    ),
    evidence(
        "an unknown section",
        changed(EVIDENCE, "measured", "mesured"),
        "{dir}/e.yaml:4:1: mesured: unknown key; did you mean 'measured'?",
    ),
    evidence(
        "an unknown machine",
        changed(EVIDENCE, "mi300x", "mi30x"),
        "{dir}/e.yaml:1:10: machine: unknown name 'mi30x'; did you mean 'mi300x'?",
    ),
    evidence(
        "an unknown key in a machine with a base",
        changed(EVIDENCE, "mi300x", "{base: mi300x, hbm: {bandwith: 4 TB/s}}"),
        "{dir}/e.yaml:1:31: machine.hbm.bandwith: unknown key; did you mean 'bandwidth'?",
    ),
    evidence(
        "an unknown model",
        changed(EVIDENCE, "{parameters: 8e9, weight_dtype: bf16}", "llama3_8"),
        "{dir}/e.yaml:2:8: model: unknown name 'llama3_8'; did you mean 'llama3_8b'?",
    ),
    measured("a time for a rate", "1150 ms", "{dir}/e.yaml:5:15: measured.throughput: expected a rate like '160 tokens/s', got '1150 ms'"),
    measured("an amount for a rate", "1150 tokens", "{dir}/e.yaml:5:15: measured.throughput: expected a rate like '160 tokens/s', got '1150 tokens'"),
    measured(
        "requests for tokens",
        "1150 requests/s",
        "{dir}/e.yaml:5:15: measured.throughput: expected a rate like '160 tokens/s', got '1150 requests/s'",
    ),
    measured("a negative rate", "-5 tokens/s", "{dir}/e.yaml:5:15: measured.throughput: expected a value above zero, got '-5 tokens/s'"),
    measured("a rate that is not a number", ".nan", "{dir}/e.yaml:5:15: measured.throughput: expected a rate like '160 tokens/s', got '.nan'"),
    measured("an infinite rate", "inf /s", "{dir}/e.yaml:5:15: measured.throughput: expected a rate like '160 tokens/s', got 'inf /s'"),
    measured(
        "a rate beyond reason",
        "1e300 tokens/s",
        "{dir}/e.yaml:5:15: measured.throughput: expected a value from 1e-12 to 1e18, got '1e300 tokens/s'",
    ),
    measured("a bool for a rate", "true", "{dir}/e.yaml:5:15: measured.throughput: expected a rate like '160 tokens/s', got 'true'"),
    measured("a map for a rate", "{low: 3}", "{dir}/e.yaml:5:15: measured.throughput: expected a rate like '160 tokens/s', got a map"),
    measured("a range upside down", "30-6 /s", "{dir}/e.yaml:5:15: measured.throughput: expected a rate like '160 tokens/s', got '30-6 /s'"),
    evidence(
        "a time without unit",
        "measured: {itl: 4}\n",
        "{dir}/e.yaml:1:17: measured.itl: expected a number with unit like '15 us' (a range 'a-b', '~a' and '=a' are understood), got '4'",
    ),
    evidence("a list for a map", changed(EVIDENCE, "{concurrency: 32}", "[32]"), "{dir}/e.yaml:3:10: serving: expected a map, got a list"),
    evidence(
        "half a layer",
        changed(EVIDENCE, "8e9,", "8e9, layers: 2.5,"),
        "{dir}/e.yaml:2:34: model.layers: expected a whole number above zero, got '2.5'",
    ),
    evidence(
        "a negative fraction",
        EVIDENCE + "profile: {hbm_fraction: -5 %}\n",
        "{dir}/e.yaml:6:25: profile.hbm_fraction: expected a fraction between 0 and 1, got '-5 %'",
    ),
    evidence(
        "a fraction above one",
        EVIDENCE + "profile: {hbm_fraction: 120 %}\n",
        "{dir}/e.yaml:6:25: profile.hbm_fraction: expected a fraction between 0 and 1, got '120 %'",
    ),
    evidence(
        "per cent without the sign",
        EVIDENCE + "profile: {hbm_fraction: 78}\n",
        "{dir}/e.yaml:6:25: profile.hbm_fraction: expected a fraction between 0 and 1, got '78'; did you mean '78 %'?",
    ),
    evidence(
        "shares above the whole",
        EVIDENCE + "profile: {kernel_time: {gemm: 80 %, attention: 70 %}}\n",
        "{dir}/e.yaml:6:24: profile.kernel_time: the shares add up to at least 149 %, more than all of it",
    ),
    evidence(
        "an unknown kernel class",
        EVIDENCE + "profile: {kernel_time: {gem: 80 %}}\n",
        "{dir}/e.yaml:6:25: profile.kernel_time.gem: unknown kernel class; did you mean 'gemm'?",
    ),
    evidence(
        "an unknown fix",
        EVIDENCE + "proposals: [fp16_kv_cache]\n",
        "{dir}/e.yaml:6:12: proposals: unknown fix 'fp16_kv_cache'; did you mean 'fp8_kv_cache'?",
    ),
    evidence("several documents", EVIDENCE + "---\n" + EVIDENCE, "{dir}/e.yaml: expected one YAML document, got several"),
    # Arguments.
    arguments("no command", "expected a command, got nothing; known: cases, run, whatif, diagnose, inspect, compare, trace, predict, calibrate, validate, evidence, corpus, score, drill, list, sweep, merge, capacity, sensitivity, plot"),
    arguments("an unknown command", "rnu", "chat_8b", "unknown command 'rnu'; did you mean 'run'?"),
    arguments("no scenario", "run", "run: expected SCENARIO, got nothing; see 'ridgeline run --help'"),
    arguments("an unknown option", "run", "chat_8b", "--sett", "seed=1", "run: unknown option '--sett'; did you mean '--set'?"),
    arguments("an option without value", "run", "chat_8b", "--set", "run: --set: expected KEY=VALUE, got nothing; see 'ridgeline run --help'"),
    arguments("one scenario too many", "run", "chat_8b", "chat_8b", "run: unexpected argument 'chat_8b'; see 'ridgeline run --help'"),
    arguments("an unknown scenario", "run", "chat_8", "scenario: unknown name 'chat_8'; did you mean 'chat_8b'?"),
    arguments("the name of a case, nearly right", "run", "a_chatbo", "scenario: unknown name 'a_chatbo'; did you mean 'a_chatbot'?"),
    arguments("a machine for a scenario", "run", "mi300x", "scenario: 'mi300x' is a machine; run a scenario with --set hw=mi300x"),
    arguments(
        "evidence for a scenario", "run", "{dir}/e.yaml", "{dir}/e.yaml: evidence (it has 'machine'), not a scenario; 'ridgeline diagnose {dir}/e.yaml' takes it"
    ),
    arguments(
        "a scenario for evidence", "diagnose", "{dir}/s.yaml", "{dir}/s.yaml: a scenario (it has 'hw'), not evidence; 'ridgeline run {dir}/s.yaml' takes it"
    ),
    arguments("no evidence", "diagnose", "diagnose: expected EVIDENCE.yaml|TEXT|RUN_DIR|TRACE, got nothing; see 'ridgeline diagnose --help'"),
    arguments("no evidence to explain", "diagnose", "--explain", "diagnose: expected EVIDENCE.yaml|TEXT|RUN_DIR|TRACE, got nothing; see 'ridgeline diagnose --help'"),
    arguments("a number that is not there", "diagnose", "{dir}/e.yaml", "--explain", "confidense", "--explain: unknown quantity 'confidense'; did you mean 'confidence'?"),
    arguments("two forms at once", "diagnose", "{dir}/e.yaml", "--json", "--memo", "diagnose: --json and --memo are two forms of one answer; choose one"),
    arguments(
        "an explanation in markdown", "diagnose", "{dir}/e.yaml", "--explain", "--markdown",
        "diagnose: --explain goes with the plain answer and with --json, not with --markdown",
    ),  # fmt: skip
    arguments("a colour", "diagnose", "{dir}/e.yaml", "--color", "red", "--color: expected one of auto, always, never, got 'red'; known: auto, always, never"),
    arguments("an unknown name of a kind", "list", "hw", "mi30x", "list: unknown name 'mi30x'; did you mean 'mi300x'?"),
    arguments("an unknown case", "cases", "A", "Z", "unknown case 'Z'; known: A, B, C, D, E"),
    arguments("a case beside --synthesis", "cases", "A", "--synthesis", "cases: a letter cannot stand beside --synthesis"),
    arguments("an unknown kind", "list", "model", "list: unknown kind 'model'; did you mean 'models'?"),
    arguments("a run into a file", "run", "{dir}/s.yaml", "--out", "{dir}/e.yaml", "{dir}/e.yaml: expected a directory for the run, got a file"),
    arguments("a run below a file", "run", "{dir}/s.yaml", "--out", "{dir}/e.yaml/x", "{dir}/e.yaml/x: cannot be written: Not a directory"),
    arguments("a run into what others wrote", "run", "{dir}/s.yaml", "--out", "{dir}", "{dir}: not empty and not an earlier run; choose another directory"),
    arguments("a run into no directory", "run", "{dir}/s.yaml", "--out", "", "--out: expected a directory, got ''"),
    arguments(
        "configs that are not there",
        "run",
        "chat_8b",
        "RIDGELINE_CONFIGS: no such directory: {dir}/nope",
        env={"RIDGELINE_CONFIGS": "{dir}/nope"},
    ),
    # Tables of measurements.
    tables("an unknown operation", "predict", "gem", "{dir}/t.csv", "predict: expected one of gemm, attention, allreduce, moe, stream, layer, step_attention, step_experts, got 'gem'; did you mean 'gemm'?"),
    tables("no table", "predict", "gemm", "predict: expected FILE, got nothing; see 'ridgeline predict --help'"),
    tables("a table that is not there", "predict", "gemm", "{dir}/gone.csv", "{dir}/gone.csv: no such file"),
    tables("a directory for a table", "predict", "gemm", "{dir}", "{dir}: a directory; expected a file"),
    tables("an empty table", "predict", "gemm", "{dir}/empty.csv", "{dir}/empty.csv: the file is empty"),
    tables("a row too short", "predict", "gemm", "{dir}/short.csv", "{dir}/short.csv:3: expected 6 fields as in the header, got 2"),
    tables("a column missing", "predict", "moe", "{dir}/t.csv", "{dir}/t.csv: no column 'tokens'; known: hw, M, N, K, dtype, time_us"),
    tables("an unknown machine", "predict", "gemm", "{dir}/t.csv", "--hw", "mi30x", "--hw: hw: unknown name 'mi30x'; did you mean 'mi300x'?"),
    tables("a machine's file that is not there", "predict", "gemm", "{dir}/t.csv", "--hw", "{dir}/my.yaml", "--hw: hw: no such file: {dir}/my.yaml"),
    tables("nothing to validate", "validate", "validate: expected DATA, got nothing; see 'ridgeline validate --help'"),
    tables("a file to validate that is not there", "validate", "{dir}/gone.csv", "{dir}/gone.csv: no such file"),
    tables("an empty table to validate", "validate", "{dir}/empty.csv", "{dir}/empty.csv: the file is empty"),
    tables("a table of something else", "validate", "{dir}/other.csv", "{dir}/other.csv: " + NO_TABLE),
    tables("a table without times", "validate", "{dir}/timeless.csv", "{dir}/timeless.csv: " + NO_TABLE),
    tables("a folder without tables", "validate", "{dir}/folder", "{dir}/folder: " + NO_TABLE),
    tables("an unknown machine to validate", "validate", "{dir}/t.csv", "--hw", "mi30x", "--hw: hw: unknown name 'mi30x'; did you mean 'mi300x'?"),
    tables("rows where there is no folder", "validate", "{dir}/t.csv", "--csv", "{dir}/no/x.csv", "{dir}/no/x.csv: cannot write this file: No such file or directory"),
    tables("no machine to calibrate", "calibrate", "{dir}/t.csv", "calibrate: expected HW, got nothing; see 'ridgeline calibrate --help'"),
    tables("an unknown machine to calibrate", "calibrate", "{dir}/t.csv", "--hw", "mi30x", "--hw: hw: unknown name 'mi30x'; did you mean 'mi300x'?"),
    tables("nothing to calibrate to", "calibrate", "{dir}/other.csv", "--hw", "mi300x", "{dir}/other.csv: " + NO_TABLE),
    tables("an empty table to calibrate to", "calibrate", "{dir}/empty.csv", "--hw", "mi300x", "{dir}/empty.csv: the file is empty"),
    tables("another machine's rows", "calibrate", "{dir}/t.csv", "--hw", "h100", "no row speaks of h100; --every-row takes all rows for this machine's"),
    tables(
        "no time above zero",
        "calibrate",
        "{dir}/negative.csv",
        "--hw",
        "mi300x",
        "rows speak of mi300x, but none has a measured time above 0",
    ),
    tables(
        "an unknown place",
        "calibrate",
        "{dir}/t.csv",
        "--hw",
        "mi300x",
        "--only",
        "rccl",
        "--only: no place that prices a row has 'rccl' in its name; there are gemm.families.bf16",
    ),
    tables(
        "a machine where there is no folder",
        "calibrate",
        "{dir}/t.csv",
        "--hw",
        "mi300x",
        "--out",
        "{dir}/no/x.yaml",
        "{dir}/no/x.yaml: cannot write this file: No such file or directory",
    ),
    # Overrides.
    override("no equals sign", "engine.max_num_seqs", "--set: expected KEY=VALUE like engine.max_num_seqs=64, got 'engine.max_num_seqs'"),
    override("no key", "=5", "--set: expected KEY=VALUE like engine.max_num_seqs=64, got '=5'"),
    override("half a key", "engine.=5", "--set engine.=5: expected a dotted key like 'engine.max_num_seqs', got 'engine.'"),
    override("no value", "engine.max_num_seqs=", "--set engine.max_num_seqs=: engine.max_num_seqs: expected a whole number from 1 to 65536, got ''"),
    Row("--set: null where a value is needed", ["run", "s.yaml", "--quiet", "--set", "workload.requests=null"],
        "s.yaml:6:3: workload.requests: expected a whole number from 1 to 100000000, got nothing (the key is missing)", files={"s.yaml": SCENARIO}),
    override("an unknown key", "engine.max_num_seq=5", "--set engine.max_num_seq=5: engine.max_num_seq: unknown key; did you mean 'max_num_seqs'?"),
    override("an unknown section", "engin.max_num_seqs=5", "--set engin.max_num_seqs=5: engin: unknown key; did you mean 'engine'?"),
    override("an unknown machine", "hw=mi3000x", "--set hw=mi3000x: hw: unknown name 'mi3000x'; did you mean 'mi300x'?"),
    override("no unit", "stack.launch.issue=20", "--set stack.launch.issue=20: stack.launch.issue: expected a number with unit like '15 us', got '20'"),
    override("beyond a list", "hw.gemm.tiles.99=16x16", "--set hw.gemm.tiles.99=16x16: hw.gemm.tiles.99: expected a list index below 11, got '99'"),
    override("a word into a list", "hw.gemm.tiles.x=16x16", "--set hw.gemm.tiles.x=16x16: hw.gemm.tiles.x: expected a list index below 11, got 'x'"),
    override("into a number", "seed.x=16", "--set seed.x=16: seed: expected a whole number of at least 0, got a map"),
    override("broken YAML", "engine={a: [", "--set engine={a: [: YAML syntax: end of sequence flow not found"),
    # Directories of runs.
    Row("run directory: not there", ["trace", "{dir}/nope"], "{dir}/nope: no such run directory"),
    arguments("a file for a run directory", "trace", "{dir}/s.yaml", "{dir}/s.yaml: expected the directory of a run, got a file"),
    arguments(
        "a directory without a run",
        "diagnose",
        "{dir}",
        "{dir}: not a run directory (expected scenario.yaml and steps.bin, as 'run --out' writes)",
    ),
    run_directory(  # 2 requests of 5 tokens, one at a time: 10 steps
        "steps.bin cut short",
        rewrite("steps.bin", lambda data: data[:100]),
        "{dir}/run/steps.bin: expected 10 steps ({steps_bytes} bytes), got 100 bytes",
    ),
    run_directory("an empty steps.bin", rewrite("steps.bin", lambda data: b""), "{dir}/run/steps.bin: expected step records, got a truncated file"),
    run_directory(
        "steps.bin of another program",
        rewrite("steps.bin", lambda data: b"PK\x03\x04...." + data[8:]),
        "{dir}/run/steps.bin: expected step records of this version, got something else",
    ),
    run_directory(
        "a flipped bit in steps.bin",
        rewrite("steps.bin", lambda data: data[:-100] + bytes([data[-100] ^ 0x80]) + data[-99:]),
        "{dir}/run/steps.bin: damaged: the checksum does not match",
    ),
    run_directory("no requests.csv", lambda run: (run / "requests.csv").unlink(), "{dir}/run/requests.csv: no such file"),
    run_directory(
        "requests.csv cut short",
        rewrite("requests.csv", lambda data: data[: data.rindex(b"\n1,finished,10") + 14]),
        "{dir}/run/requests.csv:3:1: expected {fields} fields as in the header, got 3: '1,finished,10'",
    ),
    run_directory(
        "an unknown status in requests.csv",
        rewrite("requests.csv", lambda data: data.replace(b"\n1,finished", b"\n1,finishd")),
        "{dir}/run/requests.csv:3:3: status: expected finished, refused or interrupted, got 'finishd'",
    ),
    run_directory(
        "a request twice in requests.csv",
        rewrite("requests.csv", lambda data: data.replace(b"\n1,finished", b"\n0,finished")),
        "{dir}/run/requests.csv:3:1: id: expected 1, got '0'",
    ),
    run_directory(
        "a timeline in place of the run's steps",
        None,
        "{dir}/run/steps.bin: a file of the run itself; choose another one",
        ["trace", "{dir}/run", "--out", "{dir}/run/steps.bin"],
    ),
    run_directory(
        "a timeline and a summary on stdout",
        None,
        "trace: --json cannot stand beside --out -: both write to stdout",
        ["trace", "{dir}/run", "--out", "-", "--json"],
    ),
    run_directory(
        "a timeline where there is no folder",
        None,
        "{dir}/no/x.json: cannot write this file: No such file or directory",
        ["trace", "{dir}/run", "--out", "{dir}/no/x.json"],
    ),
    window("of one time", "5s", "--window: expected two times like '1.0s..1.2s', got '5s'"),
    window("without units", "5..6", "--window: expected times like '1.0s..1.2s', got '5..6'"),
    window("of words", "now..then", "--window: expected times like '1.0s..1.2s', got 'now..then'"),
    window("below zero", "-1s..2s", "--window: expected times like '1.0s..1.2s', got '-1s..2s'"),
    window("upside down", "2s..1s", "--window: the end must come after the beginning, got '2s..1s'"),
    window("of no time", "1s..1s", "--window: the end must come after the beginning, got '1s..1s'"),
]


def prepare(row, directory, good_run):
    for name, content in row.files.items():
        if content is None:
            (directory / name).mkdir()
            continue
        (directory / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if any("{dir}/run" in text for text in row.argv):
        shutil.copytree(good_run, directory / "run")
    if row.damage is not None:
        row.damage(directory / "run")


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def ridgeline(directory, *argv, **env):
    """Runs the program in `directory`; 20 s are a hang."""
    whole = {key: value for key, value in os.environ.items() if key != "RIDGELINE_CONFIGS"} | env
    return subprocess.run([RIDGELINE, *argv], cwd=directory, env=whole, capture_output=True, timeout=20, preexec_fn=limit_memory)


def contents(directory):
    return {str(path): path.read_bytes() if path.is_file() else None for path in directory.rglob("*")}


@pytest.fixture(scope="module")
def good_run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("good")
    (directory / "s.yaml").write_text(SCENARIO)
    assert ridgeline(directory, "run", "s.yaml", "--quiet", "--out", "run").returncode == 0
    return directory / "run"


@pytest.mark.parametrize("row", ROWS, ids=[row.name.replace(" ", "_") for row in ROWS])
def test_a_wrong_input_is_refused_with_a_sentence(row, tmp_path, good_run):
    prepare(row, tmp_path, good_run)
    before = contents(tmp_path)
    places = {
        "{dir}": str(tmp_path),
        "{steps_bytes}": str((good_run / "steps.bin").stat().st_size),
        "{fields}": str((good_run / "requests.csv").read_text().split("\n", 1)[0].count(",") + 1),
    }

    def placed(text):
        for name, value in places.items():
            text = text.replace(name, value)
        return text

    answer = ridgeline(tmp_path, *map(placed, row.argv), **{key: placed(value) for key, value in row.env.items()})

    assert answer.stderr.decode() == f"ridgeline: {placed(row.says)}\n"
    assert answer.returncode == row.code  # a crash would be negative
    assert answer.stdout == b""
    assert contents(tmp_path) == before  # nothing new, nothing altered, no core


def test_every_row_is_told_apart_by_its_name():
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names) >= 45


# What is strange but no mistake is done, and said.


def test_a_trace_that_goes_back_in_time_is_sorted_and_says_so(tmp_path):
    (tmp_path / "s.yaml").write_text(changed(SCENARIO, GENERATED, "  trace: t.csv\n"))
    (tmp_path / "t.csv").write_text(TRACE + "0.5,5,6\n")
    answer = ridgeline(tmp_path, "run", "s.yaml", "--quiet", "--json")
    assert answer.returncode == 0
    notes = json.loads(answer.stdout)["result"]["ridgeline"]["notes"]
    assert notes == [f"{tmp_path}/t.csv: 1 of 3 rows earlier than the row before; sorted by time"]


def test_a_trace_shorter_than_asked_for_says_so(tmp_path):
    (tmp_path / "s.yaml").write_text(changed(SCENARIO, GENERATED, "  trace: t.csv\n  requests: 100\n"))
    (tmp_path / "t.csv").write_text(TRACE)
    answer = ridgeline(tmp_path, "run", "s.yaml", "--quiet", "--json")
    assert answer.returncode == 0
    notes = json.loads(answer.stdout)["result"]["ridgeline"]["notes"]
    assert notes == [f"{tmp_path}/t.csv: has 2 requests, fewer than the 100 asked for"]


def test_a_prompt_too_long_for_the_engine_is_refused_and_says_so(tmp_path):
    (tmp_path / "s.yaml").write_text(changed(SCENARIO, GENERATED, "  trace: t.csv\n"))
    (tmp_path / "t.csv").write_text(TRACE + "2.0,5000,6\n")
    answer = ridgeline(tmp_path, "run", "s.yaml", "--quiet", "--json")
    assert answer.returncode == 0
    result = json.loads(answer.stdout)["result"]
    assert (result["completed"], result["failed"]) == (2, 1)
    assert result["ridgeline"]["notes"] == ["1 of 3 requests refused: a prompt of engine.max_model_len (4096) tokens or more"]


def test_evidence_above_a_roof_is_an_inconsistency_and_no_error(tmp_path):
    # 32 sequences, 100,000 tokens/s: 3,125 steps/s; 16 GB of weights at 5.3 TB/s allow 331.
    (tmp_path / "e.yaml").write_text(changed(EVIDENCE, RATE, "100000 tokens/s"))
    answer = ridgeline(tmp_path, "diagnose", "e.yaml", "--json")
    assert (answer.returncode, answer.stderr) == (0, b"")
    diagnosis = json.loads(answer.stdout)
    assert any("roof" in item["reading"] for item in diagnosis["inconsistencies"])
    assert diagnosis["confidence"] < 0.2
    assert diagnosis["fixes"] == []
