#!/usr/bin/env python3
"""Measures what a simulated GPU is made of, on a GPU of your own, in under five minutes.

    scripts/measure_gpu.py --out DIR                      every test, bf16 and fp8
    scripts/measure_gpu.py --out DIR --only gemm,decode   some tests
    scripts/measure_gpu.py --out DIR --resume             go on with a run that was stopped
    scripts/measure_gpu.py --dry-run                      what it would measure; needs neither torch nor a GPU
    torchrun --nproc-per-node 8 scripts/measure_gpu.py --out DIR     also all-reduce

Any PyTorch will do, ROCm or CUDA. DIR gets gemm.csv, attention.csv, bandwidth.csv, launch.csv, allreduce.csv and machine.json.

How it measures. Device times come from events around a burst of calls. Before a burst the device reads half a gigabyte: that empties
its caches and gives the host a head start, so the host is not in the time; if the start event has passed before the last call is
issued, the head start was too short and is doubled. Within a burst the calls rotate over copies of what they read, so each call finds
it in HBM. A time is the median over bursts, per call; it includes the step from one kernel to the next (in launch.csv: "kernel to
kernel, queued"). Left out: clocks under hours of load, several streams.

The plan, the bookkeeping and the files know nothing of torch, only a Device. Exit codes: 0 measured (also if the budget ended it),
2 wrong arguments, 3 cannot run here, 130 stopped; whatever was measured is kept.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import csv
import dataclasses
import datetime
import difflib
import functools
import importlib
import json
import math
import os
import pathlib
import platform
import signal
import statistics
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Protocol, Sequence, Tuple, TypeVar

T = TypeVar("T")
KIB, MIB = 1 << 10, 1 << 20

COLUMNS = {
    "gemm": "hw,batch,M,N,K,dtype,lib,time_us,tflops,bw_GBps,clock_MHz,note,source",
    "attention": "hw,kernel,phase,dtype,batch,q_heads,kv_heads,seqlen_q,seqlen_kv,head_dim,causal,tflops,time_ms,bw_TBps,note,source",
    "allreduce": "hw,n_gpu,op,impl,dtype,bytes,time_us,algbw_GBps,busbw_GBps,note,source",
    "bandwidth": "hw,level,test,value,unit,note,source",
    "launch": "hw,what,value,unit,note,source",
}
LABEL = {"gemm": "lib", "attention": "kernel", "allreduce": "impl"}  # the column that says what ran
# Test and table, in the order they run: all ranks are there only at the beginning, and a profiler slows every launch after it.
TESTS = {"allreduce": "allreduce", "launch": "launch", "stream": "bandwidth", "cache": "bandwidth", "host_copy": "bandwidth",
         "gemm": "gemm", "prefill": "attention", "decode": "attention", "graph": "launch", "gaps": "launch"}
GROUPS = {"attention": ["prefill", "decode"], "bandwidth": ["stream", "cache", "host_copy"]}
DTYPE_BYTES = {"bf16": 2, "fp16": 2, "fp8": 1}

COLD_BYTES = 512 * MIB         # twice the largest last-level cache there is (256 MB)
BURST_S = 2e-3                 # long enough for the two events, some microseconds, to vanish
MAX_CALLS = 50                 # in a burst: the queue in front of a device holds about a thousand
MIN_BURSTS, MAX_BURSTS = 7, 200
SETTLED = 0.01                 # enough when the quartiles are this close to each other, relative to the median,
SETTLED_S, LIMIT_S = 0.1, 0.4  # after so long, for clocks to follow the load; about so long at most
SETUP_S, START_S = 0.12, 15.0  # assumed, in the plan: to make one case ready; to import torch and start the device
SAVE_EVERY_S = 10.0
PAGE = 256                     # tokens, the smallest that flash_attn takes everywhere
SAME_FAILURES = 3              # then the rest of that kind is not tried


class UsageError(Exception):
    """A mistake in the arguments."""


class Unsupported(Exception):
    """This device or this PyTorch cannot do that; the text says what."""


class DeviceLost(Exception):
    """The device no longer answers: nothing more can be measured in this process."""


# ------------------------------------------------------------------------------------------------ cases


@dataclasses.dataclass(frozen=True)
class Case:
    """One row to be. `cells` are those known beforehand, `kind` is what shares a reason to fail, `flop` counts useful work (causal
    attention: half), `moved` counts bytes read and written, each operand once."""

    test: str
    kind: str
    cells: Dict[str, Any]
    flop: float = 0.0
    moved: float = 0.0

    @property
    def table(self) -> str:
        return TESTS[self.test]

    @property
    def name(self) -> str:
        """Tells it from all others."""
        known = ("unit", "level", "phase", "dtype", "op")  # from the kind
        return " ".join([self.kind, *(f"{key}={value}" for key, value in self.cells.items() if key not in known)])

    def figures(self, seconds: float) -> Dict[str, float]:
        """The measured cells of its row."""
        tflops, gigabytes = self.flop / seconds / 1e12, self.moved / seconds / 1e9
        if self.table == "gemm":
            return {"time_us": seconds * 1e6, "tflops": tflops, "bw_GBps": gigabytes}
        if self.table == "attention":
            return {"time_ms": seconds * 1e3, "tflops": tflops, "bw_TBps": gigabytes / 1e3}
        if self.table == "allreduce":
            algbw, ranks = self.cells["bytes"] / seconds / 1e9, self.cells["n_gpu"]
            return {"time_us": seconds * 1e6, "algbw_GBps": algbw, "busbw_GBps": algbw * 2 * (ranks - 1) / ranks}
        return {"value": {"us": seconds * 1e6, "GB/s": gigabytes, "TB/s": gigabytes / 1e3}[self.cells["unit"]]}

    def cost(self) -> float:
        """Seconds it takes, guessed for a slow GPU (100 TFLOP/s, 1 TB/s)."""
        call = max(self.flop / 100e12, self.moved / 1e12)
        return SETUP_S + min(max(1.5 * SETTLED_S, (MIN_BURSTS + 3) * call), LIMIT_S + 6 * call)


def gemm(m: int, n: int, k: int, dtype: str) -> Case:
    """y[M,N] = x[M,K] w[N,K]^T; fp8 gives bf16."""
    return Case("gemm", f"gemm {dtype}", {"batch": 1, "M": m, "N": n, "K": k, "dtype": dtype}, 2.0 * m * n * k,
                DTYPE_BYTES[dtype] * (m + n) * k + 2.0 * m * n)


def attention(test: str, kernel: str, dtype: str, batch: int, heads: Tuple[int, int], kv: int, causal: bool) -> Case:
    """softmax(q k^T) v of `kv` tokens: prefill with as many queries, decode with one."""
    q, dim = kv if test == "prefill" else 1, 128
    cells = {"phase": "fwd" if test == "prefill" else "decode", "dtype": dtype, "batch": batch, "q_heads": heads[0], "kv_heads": heads[1],
             "seqlen_q": q, "seqlen_kv": kv, "head_dim": dim, "causal": int(causal)}
    return Case(test, f"{test} {kernel} {dtype}", cells, (2.0 if causal else 4.0) * batch * heads[0] * q * kv * dim,
                2.0 * DTYPE_BYTES[dtype] * batch * dim * (heads[0] * q + heads[1] * kv))


def transfer(test: str, what: str, moved: int) -> Case:
    """Kernels on cold (stream) or warm (cache) arrays, or copies over the host link; the bytes / the value is the time."""
    level, unit = {"stream": ("HBM", "TB/s"), "cache": ("cache", "TB/s"), "host_copy": ("host link", "GB/s")}[test]
    return Case(test, test, {"level": level, "test": f"{what}, {moved} B", "unit": unit}, moved=moved)


def launch(test: str, what: str) -> Case:
    return Case(test, test, {"what": what, "unit": "us"})


def allreduce(ranks: int, size: int) -> Case:
    return Case("allreduce", "allreduce", {"n_gpu": ranks, "op": "all_reduce", "dtype": "bf16", "bytes": size}, moved=20.0 * size)


# ------------------------------------------------------------------------------------------------- plan

# (N, K): qkv, output, gate and up, down of Llama 3 8B; the same of 70B on 8 GPUs; the vocabulary.
GEMM_SHAPES = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336), (1280, 8192), (8192, 1024), (7168, 8192), (8192, 3584),
               (128256, 4096)]
HEADS = [(32, 8), (64, 8), (8, 1), (32, 32)]  # Llama 3 8B, 70B, 70B on 8 GPUs, no grouping
LAUNCHES = ["issue, torch operator", "issue, bare kernel",  # host time of one launch
            "kernel to kernel, queued, torch operator", "kernel to kernel, queued, bare kernel",  # device time, host far ahead
            "kernel to kernel, host-paced, torch operator",  # device time, device waiting
            "launch to finish, idle device, torch operator", "launch to finish, idle device, bare kernel"]
GRAPHS = ["submit", "device time", "launch to finish, idle device"]
GAPS = ["launch call to kernel start, idle device", "shortest kernel, queued", "gap between kernels, queued",
        "shortest kernel, in a graph", "gap between kernels, in a graph", "gap between kernels, host-paced"]
ARRAYS = {"mul": 2, "read": 1, "triad": 3, "write": 1, "copy": 2}  # that a stream kernel touches


def spread(items: Sequence[T]) -> List[T]:
    """The same items, coarse to fine, so that any beginning covers the whole range: halves, quarters and so on."""
    bits = max(1, (len(items) - 1).bit_length())
    return [items[i] for i in sorted(range(len(items)), key=lambda i: int(f"{i:0{bits}b}"[::-1], 2))]


def all_cases(dtypes: Sequence[str], kernels: Dict[str, List[str]], ranks: int) -> Dict[str, List[Case]]:
    """Every case by test, each list coarse to fine. `kernels`: those for prefill and for decode."""
    stream = [transfer("stream", what, n * (8 * KIB << i)) for what, n in ARRAYS.items()
              for i in (range(18) if what in ("mul", "read") else range(6, 18, 2))]
    products = [gemm(1 << i, n, k, d) for d in dtypes for n, k in GEMM_SHAPES for i in range(15) if n << i <= 1 << 29]
    sixteen = [d for d in dtypes if d != "fp8"] or ["bf16"]
    prefill = [attention("prefill", kernel, d, b, h, s, causal) for kernel in kernels["prefill"] for d in sixteen for h in HEADS
               for b in (1, 4, 16) for s in (256 << i for i in range(7)) if b * s <= 32768
               for causal in (True, False) if causal or h in ((32, 8), (32, 32))]
    decode = [attention("decode", kernel, d, b, h, s, False) for kernel in kernels["decode"] for d in sixteen for h in HEADS
              for b in (1, 4, 16, 64, 256) for s in (256, 1024, 4096, 16384, 65536) if b * s * h[1] * 512 <= 2048 * MIB]
    return {
        "allreduce": spread([allreduce(ranks, 4 * KIB << i) for i in range(17) if ranks > 1]),
        "launch": [launch("launch", what) for what in LAUNCHES],
        "stream": spread(stream),
        "cache": spread([transfer("cache", what, ARRAYS[what] * (256 * KIB << i)) for i in range(10) for what in ("read", "mul")]),
        "host_copy": spread([transfer("host_copy", what, 4 * KIB << i) for i in range(0, 17, 2)
                             for what in ("host to device, pinned", "device to host, pinned", "host to device, pageable")]),
        "gemm": spread(products + [gemm(s, s, s, d) for d in dtypes for s in (2048, 8192)]),
        "prefill": spread(prefill),
        "decode": spread(decode),
        "graph": spread([launch("graph", f"graph of {n} kernels, {what}") for n in (1, 4, 16, 64, 256, 1024) for what in GRAPHS]),
        "gaps": [launch("gaps", what) for what in GAPS],
    }


@dataclasses.dataclass(frozen=True)
class Share:
    """What the plan expects of one test: how many of its cases fit, and their seconds."""

    test: str
    cases: Sequence[Case]
    fit: int
    seconds: float


def plan(cases: Dict[str, List[Case]], budget_s: float) -> List[Share]:
    """Shares the budget: tests that need less than an equal part get what they need, the others the rest in equal parts."""
    left, shares = max(0.0, budget_s - START_S), {}
    need = {test: sum(c.cost() for c in its) for test, its in cases.items() if its}
    for i, test in enumerate(sorted(need, key=lambda t: need[t])):
        part, used, fit = left / (len(need) - i), 0.0, 0
        while fit < len(cases[test]) and used + cases[test][fit].cost() <= part:
            used, fit = used + cases[test][fit].cost(), fit + 1
        shares[test] = Share(test, cases[test], fit, used)
        left -= used
    return [shares[test] for test in TESTS if test in shares]


def plan_text(shares: Sequence[Share]) -> str:
    lines = [f"{'test':<10} {'cases':>5} {'fit':>5} {'seconds':>8}  into"]
    lines += [f"{s.test:<10} {len(s.cases):>5} {s.fit:>5} {s.seconds:>8.0f}  {TESTS[s.test]}.csv" for s in shares]
    lines.append(f"{'all':<10} {sum(len(s.cases) for s in shares):>5} {sum(s.fit for s in shares):>5}"
                 f" {START_S + sum(s.seconds for s in shares):>8.0f}  with {START_S:.0f} s to start")
    return "\n".join(lines)


# -------------------------------------------------------------------------------------------- measuring


class Op(Protocol):
    """A case made ready on the device."""

    label: str      # the library or kernel
    lockstep: bool  # other ranks do the same: the number of bursts must not depend on this one's clock

    def sample(self, calls: int) -> float: ...  # runs a burst; seconds per call
    def note(self) -> str: ...                  # for its row, after measuring
    def clock_mhz(self, seconds: float) -> Optional[float]: ...  # while it runs calls of `seconds` each


class Device(Protocol):
    name: str

    def machine(self) -> Dict[str, Any]: ...  # for machine.json
    def source(self) -> str: ...              # what made the numbers, for the rows
    def now(self) -> float: ...               # seconds, for the budget
    def state(self) -> Dict[str, Any]: ...    # clock, power, temperature, as far as they can be read
    def open(self, case: Case) -> Op: ...
    def recover(self) -> None: ...            # after an error; raises DeviceLost


def relative_iqr(values: Sequence[float]) -> float:
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle if middle > 0 else math.inf


def measure(op: Op, now: Callable[[], float]) -> Tuple[float, str]:
    """Warms up, sizes the burst, and repeats until the median is settled or the time for one case is up. Seconds per call, and how
    they were found."""
    op.sample(1)
    calls = min(max(round(BURST_S / max(op.sample(2), 1e-7)), 1), MAX_CALLS)
    begin = now()
    times: List[float] = []
    while len(times) < (MIN_BURSTS if op.lockstep else MAX_BURSTS):
        times.append(op.sample(calls))
        used = now() - begin
        settled = len(times) >= MIN_BURSTS and used >= SETTLED_S and relative_iqr(times) <= SETTLED
        if not op.lockstep and (settled or len(times) >= 3 and used >= LIMIT_S):
            break
    middle = statistics.median(times)
    if not 0 < middle < math.inf:
        raise ArithmeticError(f"the timer said {middle} s")
    return middle, f"median of {len(times)} x {calls} calls; IQR {100 * relative_iqr(times):.1f} %"


@contextlib.contextmanager
def replaced(path: pathlib.Path) -> Iterator[Any]:
    """A file to write that takes the place of `path` at the end, if there was no error: no reader sees half of it."""
    beside = path.with_name(path.name + ".part")
    try:
        with open(beside, "w", newline="", encoding="utf-8") as file:
            yield file
        os.replace(beside, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()


class Results:
    """The rows so far, by table and case, and the files they go to."""

    def __init__(self, folder: Optional[pathlib.Path], device: Device) -> None:
        self.folder, self.device = folder, device  # no folder: a rank that only takes part
        self.rows: Dict[str, Dict[str, Dict[str, Any]]] = {table: {} for table in COLUMNS}
        self.wanted: List[str] = []
        self.drift: List[Dict[str, Any]] = []
        self.status = "stopped from outside"  # until it says better
        self.saved_at = device.now()

    def load(self) -> None:
        """Takes over what an earlier run in this folder measured. Failures are tried again."""
        assert self.folder is not None
        try:
            before = json.loads((self.folder / "machine.json").read_text(encoding="utf-8"))
            if before["device"] != self.device.name:
                raise UsageError(f"--resume: {self.folder} is of {before['device']}, this is {self.device.name}; name another --out")
            self.drift = before["drift"]
            for table, names in before["rows"].items():
                with open(self.folder / f"{table}.csv", newline="", encoding="utf-8") as file:
                    rows = zip(names, csv.DictReader(file))
                    self.rows[table] = {name: row for name, row in rows if not row["note"].startswith("failed")}
        except OSError as error:
            raise UsageError(f"--resume: cannot read {error.filename}; leave --resume out to start anew") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"--resume: {self.folder / 'machine.json'} is not one of this script's ({error!r})") from None

    def add(self, case: Case, label: str, seconds: Optional[float], note: str, clock: Optional[float] = None) -> None:
        """A row; without seconds, one that only says what went wrong."""
        row = {**dict.fromkeys(COLUMNS[case.table].split(","), ""), "hw": self.device.name, **case.cells, "note": note,
               "source": self.device.source()}
        row.update({LABEL[case.table]: label} if case.table in LABEL else {})
        row.update({key: f"{value:.6g}" for key, value in case.figures(seconds).items()} if seconds else {})
        row.update({"clock_MHz": f"{clock:.0f}"} if clock and case.table == "gemm" else {})
        self.rows[case.table][case.name] = row
        if self.device.now() - self.saved_at > SAVE_EVERY_S:
            self.save()

    def counts(self) -> Tuple[int, int, List[str]]:
        """Rows measured, rows failed, names missing."""
        rows = {name: row for table in self.rows.values() for name, row in table.items()}
        failed = sum(row["note"].startswith("failed") for row in rows.values())
        return len(rows) - failed, failed, [name for name in self.wanted if name not in rows]

    def save(self) -> None:
        self.saved_at = self.device.now()
        if self.folder is None:
            return
        for table, rows in self.rows.items():
            if rows:
                with replaced(self.folder / f"{table}.csv") as file:
                    writer = csv.DictWriter(file, COLUMNS[table].split(","), lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows.values())
        measured, failed, missing = self.counts()
        about = {"device": self.device.name, **self.device.machine(), "complete": self.status == "complete", "status": self.status,
                 "measured": measured, "failed": failed, "missing": missing, "drift": self.drift,
                 "rows": {table: list(rows) for table, rows in self.rows.items() if rows}}
        with replaced(self.folder / "machine.json") as file:
            json.dump(about, file, indent=1)


def reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__ or "out of memory" in text.lower():
        return "out of memory"
    return text[:160] or type(error).__name__


def attempt(case: Case, device: Device, results: Results) -> str:
    """Measures one case into its row; says how it went."""
    op = device.open(case)
    seconds, how = measure(op, device.now)
    clock = op.clock_mhz(seconds) if case.table == "gemm" else None
    results.add(case, op.label, seconds, "; ".join(note for note in (op.note(), how) if note), clock)
    return f"{seconds * 1e6:.5g} us"


def check_drift(device: Device, results: Results, begin: float) -> None:
    """One large product again and again: how it changes is what heat and power did."""
    with contextlib.suppress(Unsupported, RuntimeError, MemoryError):
        case = gemm(4096, 4096, 4096, "bf16")
        figures = case.figures(measure(device.open(case), device.now)[0])
        results.drift.append({"at_s": round(device.now() - begin, 1), "gemm_4096_tflops": round(figures["tflops"], 1), **device.state()})


def run(shares: Sequence[Share], device: Device, results: Results, seconds: float, say: Callable[[str], None]) -> None:
    """Measures the cases, test by test, each test for its part of `seconds`. What goes wrong with one case is noted in its row and
    does not stop the others. Interrupts do; what was measured is saved."""
    begin, planned = device.now(), {share.test: max(share.seconds, 1.0) for share in shares}
    results.wanted = [case.name for share in shares for case in share.cases]
    failures: collections.Counter[Tuple[str, str]] = collections.Counter()
    given_up: Dict[str, str] = {}
    results.save()
    try:
        for share in shares:
            if results.folder:
                check_drift(device, results, begin)
            left = begin + seconds - device.now()
            test_end = device.now() + left * planned[share.test] / sum(planned.values())
            del planned[share.test]
            for i, case in enumerate(share.cases, 1):
                if share.test != "allreduce":  # whose ranks must all do the same
                    if case.name in results.rows[case.table]:
                        continue
                    if device.now() >= test_end:
                        break
                failure = given_up.get(case.kind)
                try:
                    outcome = f"not tried: {failure}" if failure else attempt(case, device, results)
                except DeviceLost:
                    raise
                except Exception as error:  # a driver raises anything
                    failure = outcome = reason(error)
                if failure:  # outside the handler: the traceback holds tensors
                    results.add(case, "", None, f"failed: {outcome}")
                    device.recover()
                    failures[case.kind, failure] += 1
                    if failures[case.kind, failure] == SAME_FAILURES and failure != "out of memory":
                        given_up[case.kind] = failure
                say(f"[{device.now() - begin:.0f} s, {i}/{len(share.cases)}] {case.name}: {outcome}")
            results.save()
        if results.folder:
            check_drift(device, results, begin)
        results.status = "the budget ended it" if results.counts()[2] else "complete"
    except (KeyboardInterrupt, DeviceLost) as error:
        results.status = f"device lost: {error}" if isinstance(error, DeviceLost) else "interrupted"
        raise
    finally:
        results.save()


# ------------------------------------------------------------------------------------------------ torch


class TorchOp:
    """Calls to rotate over, and how to time them: "device" behind a head start, "paced" without one, "host" until the calls return,
    "finish" until each has finished."""

    lockstep = False

    def __init__(self, device: "TorchDevice", calls: Sequence[Callable[[], Any]], label: str, text: str = "", timing: str = "device",
                 warm: bool = False, around: Callable[[], Any] = contextlib.nullcontext) -> None:
        self.device, self.calls, self.label, self.text, self.timing, self.warm, self.around = (
            device, calls, label, text, timing, warm, around)
        self.fills, self.turn, self.host_paced = 1, 0, False

    def note(self) -> str:
        return "; ".join(n for n in (self.text, "host-paced" if self.host_paced else "") if n)

    def burst(self, calls: int, wait: bool = False) -> None:
        for _ in range(calls):
            self.calls[self.turn % len(self.calls)]()
            self.turn += 1
            if wait:
                self.device.cuda.synchronize()

    def timed(self, calls: int, fills: int) -> float:
        """One burst behind `fills` reads of a cache's worth; notes whether the device caught up with the host."""
        start, stop = (self.device.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(fills):
            self.device.flush()
        if self.warm:
            self.burst(1)
        start.record()
        self.burst(calls)
        stop.record()
        self.host_paced = bool(fills and start.query())
        self.device.cuda.synchronize()
        return float(start.elapsed_time(stop)) * 1e-3 / calls

    def sample(self, calls: int) -> float:
        self.device.cuda.synchronize()
        with self.around():
            if self.timing in ("host", "finish"):
                begin = time.perf_counter()
                self.burst(calls, wait=self.timing == "finish")
                return (time.perf_counter() - begin) / calls
            seconds = self.timed(calls, self.fills if self.timing == "device" else 0)
            while self.host_paced and self.fills < 128:
                self.fills *= 2
                seconds = self.timed(calls, self.fills)
            return seconds

    def clock_mhz(self, seconds: float) -> Optional[float]:
        if "clock_rate" not in self.device.sensors:
            return None
        self.burst(min(max(round(0.02 / seconds), 1), 4 * MAX_CALLS))
        clock = self.device.sensor("clock_rate")
        self.device.cuda.synchronize()
        return clock


class ReduceOp(TorchOp):
    """An all-reduce: all ranks start together, with the same head start, and the slowest one's time counts."""

    lockstep = True

    def sample(self, calls: int) -> float:
        dist = self.device.dist
        dist.barrier()
        slowest = self.device.torch.tensor([self.timed(calls, 8)], device=self.device.where)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        return float(slowest.item())


class ProfiledOp(TorchOp):
    """What PyTorch's profiler says of kernels: the median duration, gap between them, or time from the launch call to the start."""

    def sample(self, calls: int) -> float:
        profiler, types = self.device.torch.profiler, self.device.torch.autograd.DeviceType
        alone = "idle device" in self.text
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]) as profile:
            for _ in range(16 if "queued" in self.text or "in a graph" in self.text else 0):
                self.device.flush()
            self.burst(MAX_CALLS if "in a graph" not in self.text else 1, wait=alone)
            self.device.cuda.synchronize()
        events = list(profile.events())
        ran = sorted((e.time_range.start, e.time_range.end) for e in events if e.device_type == types.CUDA)[-MAX_CALLS:]
        launches = sorted(e.time_range.start for e in events if e.device_type == types.CPU and "Launch" in e.name)[-len(ran):]
        if len(ran) < 3 or alone and len(launches) < len(ran):
            raise Unsupported("the profiler shows too few kernels or launches")
        if alone:
            return 1e-6 * statistics.median(start - issued for issued, (start, _) in zip(launches, ran))
        if self.text.startswith("gap"):
            return 1e-6 * statistics.median(after[0] - before[1] for before, after in zip(ran, ran[1:]))
        return 1e-6 * statistics.median(end - start for start, end in ran)


class TorchDevice:
    """The GPU that torch sees."""

    def __init__(self, torch: Any, local_rank: int, ranks: int) -> None:
        self.torch, self.cuda, self.ranks, self.where = torch, torch.cuda, ranks, f"cuda:{local_rank}"
        self.cuda.set_device(local_rank)
        self.dist: Any = importlib.import_module("torch.distributed") if ranks > 1 else None
        if self.dist:
            self.dist.init_process_group("nccl")
        self.properties = self.cuda.get_device_properties(local_rank)
        capability, hip = self.cuda.get_device_capability(), torch.version.hip
        self.name = str(self.properties.name)
        self.arch = str(getattr(self.properties, "gcnArchName", "sm_%d%d" % capability))
        self.sensors = [name for name in ("clock_rate", "power_draw", "temperature") if self.sensor(name) is not None]
        self.types = {"bf16": torch.bfloat16, "fp16": torch.float16}
        fp8 = getattr(torch, "float8_e4m3fnuz" if self.arch.startswith("gfx94") else "float8_e4m3fn", None)
        if fp8 and hasattr(torch, "_scaled_mm") and (self.arch[:5] in ("gfx94", "gfx95", "gfx12") if hip else capability >= (8, 9)):
            self.types["fp8"] = fp8
        self.flash_attn: Any = optional("flash_attn")
        self.kernels = {test: ["sdpa"] + ["flash_attn"] * bool(self.flash_attn) for test in ("prefill", "decode")}
        torch.set_grad_enabled(False)
        elements = min(1536 * MIB, self.cuda.mem_get_info()[0] // 6) // 512 * 256
        self.pool = torch.randn(elements, dtype=torch.bfloat16, device=self.where)
        self.pools = {"bf16": self.pool}
        self.flushed = torch.ones(COLD_BYTES // 4, device=self.where)

    def sensor(self, name: str) -> Optional[float]:
        try:
            return float(getattr(self.cuda, name)())
        except Exception:  # no pynvml or amdsmi, no permission, not on this part
            return None

    def state(self) -> Dict[str, Any]:
        units = {"clock_rate": "clock_MHz", "power_draw": "power_mW", "temperature": "temperature_C"}
        return {units[name]: self.sensor(name) for name in self.sensors}

    def machine(self) -> Dict[str, Any]:
        drivers = (pathlib.Path("/sys/module/amdgpu/version"), pathlib.Path("/proc/driver/nvidia/version"))
        told = ("HIP_", "HSA_", "ROCBLAS_", "HIPBLASLT_", "NCCL_", "RCCL_", "CUDA_", "TORCH_BLAS", "PYTORCH_")
        about = {key: getattr(self.properties, name, None) for key, name in
                 {"compute_units": "multi_processor_count", "memory_bytes": "total_memory", "l2_bytes": "L2_cache_size",
                  "clock_kHz": "clock_rate", "memory_clock_kHz": "memory_clock_rate", "memory_bus_bits": "memory_bus_width"}.items()}
        return {"architecture": self.arch, **about, "ranks": self.ranks, "torch": self.torch.__version__, "hip": self.torch.version.hip,
                "cuda": self.torch.version.cuda, "flash_attn": getattr(self.flash_attn, "__version__", None),
                "driver": next((path.read_text().splitlines()[0] for path in drivers if path.exists()), platform.release()),
                "python": platform.python_version(), "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "environment": {key: value for key, value in sorted(os.environ.items()) if key.startswith(told)}}

    def source(self) -> str:
        below = f"ROCm {self.torch.version.hip}" if self.torch.version.hip else f"CUDA {self.torch.version.cuda}"
        return f"scripts/measure_gpu.py, torch {self.torch.__version__}, {below}, {datetime.date.today().isoformat()}"

    def now(self) -> float:
        return time.monotonic()

    def recover(self) -> None:
        try:
            self.cuda.synchronize()
            self.cuda.empty_cache()
        except Exception as error:
            raise DeviceLost(reason(error)) from error

    def flush(self) -> None:
        """Reads, so that the caches hold nothing that must be written back."""
        self.flushed.sum()

    def copies(self, dtype: str, *shape: int, cold: bool = True) -> List[Any]:
        """Random tensors from a pool (zeros would run faster): as many as exceed the caches from its beginning, or, not cold, one
        from its end, as what a kernel before has left."""
        elements = math.prod(shape)
        stride = -(-elements // 256) * 256
        if dtype not in self.pools:
            self.pools[dtype] = self.pool.to(self.types[dtype])
        pool = self.pools[dtype]
        if stride > pool.numel():
            return [self.torch.randn(shape, dtype=self.torch.bfloat16, device=self.where).to(self.types[dtype])]
        if not cold:
            return [pool[pool.numel() - stride:][:elements].view(shape)]
        wanted = min(-(-COLD_BYTES // (elements * DTYPE_BYTES[dtype])), MAX_CALLS + 1, pool.numel() // stride)
        return [pool[i * stride:][:elements].view(shape) for i in range(wanted)]

    def open(self, case: Case) -> Op:
        make: Dict[str, Callable[[Case], Op]] = {"gemm": self._gemm, "attention": self._attention, "bandwidth": self._transfer,
                                                 "launch": self._launch, "allreduce": self._reduce}
        return make[case.table](case)

    def _gemm(self, case: Case) -> Op:
        torch, (m, n, k, dtype) = self.torch, (case.cells[key] for key in ("M", "N", "K", "dtype"))
        x, weights = self.copies(dtype, m, k, cold=False)[0], self.copies(dtype, n, k)
        if dtype != "fp8":
            return TorchOp(self, [functools.partial(torch.nn.functional.linear, x, w) for w in weights], "torch.nn.functional.linear")
        one = torch.ones((), device=self.where)
        multiply = functools.partial(torch._scaled_mm, x, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        return TorchOp(self, [functools.partial(multiply, w.t()) for w in weights], "torch._scaled_mm" + "/hipBLASLt" * bool(torch.version.hip), str(self.types["fp8"])[13:])

    def _attention(self, case: Case) -> Op:
        batch, heads, groups, queries, tokens, dim = (
            case.cells[key] for key in ("batch", "q_heads", "kv_heads", "seqlen_q", "seqlen_kv", "head_dim"))
        q = self.copies(case.cells["dtype"], batch * heads * queries * dim, cold=False)[0]
        cold = self.copies(case.cells["dtype"], 2, batch * groups * tokens * dim)
        if " sdpa " in case.kind:
            return self._sdpa(case, q.view(batch, heads, queries, dim), [kv.view(2, batch, groups, tokens, dim) for kv in cold])
        q = q.view(batch, queries, heads, dim)
        if case.test == "prefill":
            call = functools.partial(self.flash_attn.flash_attn_func, q, causal=bool(case.cells["causal"]))
            return TorchOp(self, [functools.partial(call, *kv.view(2, batch, tokens, groups, dim)) for kv in cold], "flash_attn")
        pages = batch * tokens // PAGE
        table = self.torch.randperm(pages, device=self.where).to(self.torch.int32).view(batch, -1)
        lengths = self.torch.full((batch,), tokens, dtype=self.torch.int32, device=self.where)
        call = functools.partial(self.flash_attn.flash_attn_with_kvcache, q, cache_seqlens=lengths, block_table=table)
        return TorchOp(self, [functools.partial(call, *kv.view(2, pages, PAGE, groups, dim)) for kv in cold], "flash_attn paged",
                       f"pages of {PAGE} tokens")

    def _sdpa(self, case: Case, q: Any, cold: Sequence[Any]) -> Op:
        """The first that works of: the flash kernel with grouped heads, with repeated heads, whatever torch chooses."""
        group, modern, last = q.shape[1] // cold[0].shape[2], optional("torch.nn.attention"), "no attention kernel"
        flash = functools.partial(modern.sdpa_kernel, modern.SDPBackend.FLASH_ATTENTION) if hasattr(modern, "sdpa_kernel") else None
        sdpa = functools.partial(self.torch.nn.functional.scaled_dot_product_attention, q, is_causal=bool(case.cells["causal"]))
        for around, repeated in ((flash, False), (flash, True), (contextlib.nullcontext, False), (contextlib.nullcontext, True)):
            if around is None or repeated and group == 1:
                continue
            try:
                pairs = [kv.repeat_interleave(group, 2) if repeated else kv for kv in cold]
                more = {"enable_gqa": True} if group > 1 and not repeated else {}
                op = TorchOp(self, [functools.partial(sdpa, *kv, **more) for kv in pairs], "torch SDPA" + " flash" * (around is flash),
                             "KV heads repeated" if repeated else "", around=around)
                op.sample(1)
                return op
            except (RuntimeError, TypeError) as error:
                last = reason(error)
                if last == "out of memory":
                    raise
        raise Unsupported(last)

    def _transfer(self, case: Case) -> Op:
        torch, what, moved = self.torch, case.cells["test"].rsplit(",", 1)[0], int(case.moved)
        if case.test == "host_copy":
            there = torch.empty(moved, dtype=torch.uint8, device=self.where)
            here = torch.ones(moved, dtype=torch.uint8, pin_memory="pinned" in what)
            to, of = (there, here) if what.startswith("host") else (here, there)
            return TorchOp(self, [functools.partial(to.copy_, of, non_blocking=True)], "copy_", "torch copy_")
        arrays = ARRAYS[what]
        sets = 1 if case.test == "cache" else min(-(-COLD_BYTES // moved), MAX_CALLS + 1)
        buffer = torch.ones(sets, arrays, moved // arrays // 4, device=self.where)
        step: Dict[str, Callable[..., Any]] = {"read": lambda a: a.sum(), "write": lambda a: a.fill_(2.0), "copy": lambda a, b: b.copy_(a),
                                               "mul": lambda a, b: torch.mul(a, 0.5, out=b),
                                               "triad": lambda a, b, c: torch.add(a, b, alpha=0.5, out=c)}
        return TorchOp(self, [functools.partial(step[what], *group) for group in buffer], what, "torch, fp32", warm=case.test == "cache")

    def _launch(self, case: Case) -> Op:
        torch, what, bare = self.torch, case.cells["what"], "bare" in case.cells["what"]
        if bare and not hasattr(self.cuda, "_sleep"):
            raise Unsupported("this torch has no torch.cuda._sleep")
        call = functools.partial(self.cuda._sleep, 0) if bare else functools.partial(torch.zeros(1, device=self.where).add_, 1.0)
        if "graph" in what:
            graph = self.cuda.CUDAGraph()
            self.cuda.synchronize()
            with self.cuda.graph(graph):
                for _ in range(int(what.split()[2]) if case.test == "graph" else MAX_CALLS):
                    call()
            call = functools.partial(graph.replay)
        if case.test == "gaps":
            return ProfiledOp(self, [call], "torch.profiler", what)
        timing = ("finish" if "finish" in what else "host" if "issue" in what or "submit" in what
                  else "paced" if "host-paced" in what else "device")
        return TorchOp(self, [call], "torch", "host clock" if timing in ("host", "finish") else "", timing)

    def _reduce(self, case: Case) -> Op:
        x = self.torch.zeros(case.cells["bytes"] // 2, dtype=self.torch.bfloat16, device=self.where)
        version = ".".join(map(str, self.cuda.nccl.version()))
        return ReduceOp(self, [functools.partial(self.dist.all_reduce, x)], f"{'RCCL' if self.torch.version.hip else 'NCCL'} {version}")


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:  # not there, or built for another torch
        return None


def find_device(local_rank: int, ranks: int) -> TorchDevice:
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError as error:
        raise Unsupported(f"PyTorch is not installed in {sys.executable} ({error}); see https://pytorch.org/get-started/locally") from None
    if not torch.cuda.is_available():
        build = f"ROCm {torch.version.hip}" if torch.version.hip else f"CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU only"
        raise Unsupported(f"torch {torch.__version__}, built for {build}, sees no GPU; is the driver loaded, may this user open it"
                          " (/dev/kfd, /dev/nvidia0), and does HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES hide it?")
    return TorchDevice(torch, local_rank, ranks)


# ---------------------------------------------------------------------------------------------- command


def chosen(text: Optional[str], known: Sequence[str], what: str, groups: Dict[str, List[str]]) -> List[str]:
    """The names in a comma-separated list, groups resolved, in the order of `known`; all without a list."""
    names: List[str] = []
    for name in (part.strip() for part in text.split(",")) if text is not None else known:
        if name not in known and name not in groups:
            near = difflib.get_close_matches(name, [*known, *groups], n=1, cutoff=0.4)
            raise UsageError(f"no {what} is named {name!r}" + (f"; the nearest is {near[0]!r}" if near else "")
                             + f"; there are {', '.join([*known, *groups])}")
        names += groups.get(name, [name])
    return [name for name in known if name in names]


def prepare_folder(text: Optional[str], resume: bool) -> pathlib.Path:
    if not text:
        raise UsageError("--out DIR is missing: where the measurements go")
    folder = pathlib.Path(text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replaced(folder / ".writable"):
            pass
        (folder / ".writable").unlink()
    except OSError as error:
        raise UsageError(f"--out: cannot write to {folder}: {error.strerror}") from None
    if not resume and any((folder / f"{table}.csv").exists() for table in COLUMNS):
        raise UsageError(f"--out: {folder} holds measurements; add --resume to go on with them, or name another folder")
    return folder


def measure_all(args: argparse.Namespace, find: Callable[[int, int], Any]) -> None:
    began = time.monotonic()
    rank, local_rank, ranks = (int(os.environ.get(key, default)) for key, default in (("RANK", 0), ("LOCAL_RANK", 0), ("WORLD_SIZE", 1)))
    screen = sys.stderr.isatty()

    def say(text: str) -> None:
        if rank == 0:
            print(f"\r\033[K{text[:110]}" if screen else text, end="" if screen else "\n", file=sys.stderr, flush=True)

    tests, dtypes = chosen(args.only, list(TESTS), "test", GROUPS), chosen(args.dtype, list(DTYPE_BYTES), "type", {})
    if not START_S < args.budget <= 86400:
        raise UsageError(f"--budget {args.budget:g}: more than the {START_S:g} s it takes to start, and at most a day (86400)")
    if args.dry_run:
        cases = all_cases(dtypes, {"prefill": ["sdpa"], "decode": ["sdpa"]}, ranks)
        print(plan_text(plan({test: cases[test] for test in tests}, args.budget)))
        return
    if args.only and "allreduce" in tests and ranks == 1:
        raise UsageError("allreduce needs several ranks: torchrun --nproc-per-node N scripts/measure_gpu.py ...")
    folder = prepare_folder(args.out, args.resume) if rank == 0 else None
    device = find(local_rank, ranks)
    here = [d for d in dtypes if d in device.types]
    cases = all_cases(here, device.kernels, ranks)
    shares = plan({test: cases[test] for test in tests if rank == 0 or test == "allreduce"}, args.budget)
    results = Results(folder, device)
    if args.resume and folder:
        results.load()
    if rank == 0:
        missing = "".join(f", no {d} here" for d in dtypes if d not in here)
        print(f"{device.name}{missing}\n{plan_text(shares)}", file=sys.stderr)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as torchrun ends its ranks
    run(shares, device, results, args.budget - (time.monotonic() - began), say)
    measured, failed, left = results.counts()
    say(f"{measured} rows in {folder}, {failed} failed, {len(left)} missing: {results.status}" + "\n" * screen)


def main(argv: Optional[Sequence[str]] = None, find: Callable[[int, int], Any] = find_device) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0], epilog="Tests: " + ", ".join([*TESTS, *GROUPS]))
    parser.add_argument("--out", metavar="DIR", help="where the CSVs and machine.json go")
    parser.add_argument("--budget", type=float, default=300.0, metavar="SECONDS", help="for all of it (default 300)")
    parser.add_argument("--only", metavar="TEST,...", help="only these tests")
    parser.add_argument("--dtype", default="bf16,fp8", metavar="TYPE,...", help="bf16, fp16, fp8 (default bf16,fp8)")
    parser.add_argument("--resume", action="store_true", help="keep what DIR holds and measure what is missing")
    parser.add_argument("--dry-run", action="store_true", help="print the plan and stop")
    args = parser.parse_args(argv)
    try:
        measure_all(args, find)
    except UsageError as error:
        print(f"measure_gpu.py: {error}", file=sys.stderr)
        return 2
    except (Unsupported, DeviceLost) as error:
        print(f"measure_gpu.py: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print(f"\nmeasure_gpu.py: stopped; {args.out} holds what was measured, --resume goes on with it", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
