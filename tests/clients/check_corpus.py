#!/usr/bin/env python3
"""Real traces, read by us and by a few lines of Python that share nothing with us: the same kernels, the same span, the same busy time,
the same class at the top.

    check_corpus.py RIDGELINE CORPUS [--write]

The traces are in CORPUS/traces, or below $RIDGELINE_CORPUS if that is set; without them the test is skipped. What is read of each file, or why it is
refused, is also held against the table beside this script, corpus_golden.tsv, which --write writes anew: read its diff.
"""

import csv
import gzip
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
from decimal import Decimal


def nanoseconds(microseconds):
    return int(Decimal(str(microseconds)) * 1000)


def from_kineto(path):
    """Kernels, and everything on the device, as (device, start, end) in ns; exact, from the file's own digits."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", errors="replace") as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    kernels, device = [], []
    for e in events:
        if e.get("ph") != "X" or e.get("cat", "").lower() not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        start = nanoseconds(e["ts"])
        span = (e["args"].get("device", e["pid"]), start, start + nanoseconds(e["dur"]), e["name"])
        device.append(span)
        if e["cat"].lower() == "kernel":
            kernels.append(span)
    return kernels, device


def from_csv(path):
    with open(path, newline="") as file:
        rows = [r for r in csv.DictReader(file) if r.get("Start_Timestamp")]
    if "Kernel_Name" not in rows[0]:
        return None
    seen = {r.get("Dispatch_Id") or r.get("Dispatch_ID"): (0, int(r["Start_Timestamp"]), int(r["End_Timestamp"]), r["Kernel_Name"]) for r in rows}
    return list(seen.values()), list(seen.values())


def from_rpd(path):
    rows = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(
        "select o.gpuId, o.start, o.end, d.string, t.string from rocpd_op o"
        " join rocpd_string t on t.id = o.opType_id join rocpd_string d on d.id = o.description_id"
    ).fetchall()
    device = [r[:4] for r in rows]
    return [r[:4] for r in rows if "Kernel" in r[4] or "Task" in r[4]], device


def union(spans):
    total, end = 0, None
    for _, start, stop, _ in sorted(spans, key=lambda s: (s[1], s[2])):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


# The kernels that the corpus spends its time in, by what their names say to a reader; not ours to keep in step with timeline/classify.
CLASSES = {
    "gemm": r"^Cijk_|gemm|cutlass|_matmul_ogs|wvSplt|hgemm|nvjet",
    "attention": r"attention|fmha|flash_fwd|attn",
    "collective": r"nccl|cross_device_reduce|allreduce",
    "convolution": r"conv|miopen|winograd",
    "moe": r"moe",
}


def class_of(name):
    return next((c for c, pattern in CLASSES.items() if re.search(pattern, name, re.I)), None)


def top_class(kernels):
    """The class of most kernel time; None where the names of that time say nothing to us."""
    time = {}
    for _, start, end, name in kernels:
        kind = class_of(name)
        time[kind] = time.get(kind, 0) + end - start
    return max(time, key=time.get) if time else None


def hold_against_golden(table, write):
    """The number of files that are not read as the golden table says."""
    golden = pathlib.Path(__file__).with_name("corpus_golden.tsv")
    head = "file\tkernels, or refused\tspan_ns, or why\tbusy %\ttop class\n"
    if write:
        golden.write_text(head + "".join(f"{name}\t{row}\n" for name, row in table.items()))
        return 0
    known = dict(line.split("\t", 1) for line in golden.read_text().splitlines()[1:])
    differing = [name for name in known.keys() & table.keys() if known[name] != table[name]]
    for name in sorted(differing):
        print(f"  {name}: {table[name]!r}, in corpus_golden.tsv {known[name]!r}")
    for name in sorted(known.keys() - table.keys()):
        print(f"  {name}: not in the corpus any more")
    return len(differing)


def main():
    program, folder = sys.argv[1], pathlib.Path(os.environ.get("RIDGELINE_CORPUS") or sys.argv[2]) / "traces"
    if not folder.is_dir():
        print("skipped: no corpus")
        return
    failures = checked = refused = 0
    table = {}
    print(f"{'file':<56} {'kernels':>8} {'busy %':>7}  top class")
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "index.tsv"):
        name = str(path.relative_to(folder))
        answer = subprocess.run([program, "inspect", path, "--json"], capture_output=True, text=True)
        if answer.returncode == 2 and answer.stderr.startswith("ridgeline: "):
            why = answer.stderr.strip().split(": ", 2)[-1]
            print(f"{name:<56} refused: {why[:70]}")
            table[name] = f"refused\t{why}"
            refused += 1
            continue
        if answer.returncode != 0:
            print(f"{name}: exit code {answer.returncode}: {answer.stderr.strip()}")
            failures += 1
            continue
        ours = json.loads(answer.stdout)
        top = ours["kernels_by_class"][0]["class"] if ours["kernels_by_class"] else "-"
        busy = 100 * ours["device_busy_ns"] / max(1, ours["device_span_ns"])
        print(f"{name:<56} {ours['kernel_count']:>8} {busy:>7.1f}  {top}")
        table[name] = f"{ours['kernel_count']}\t{ours['device_span_ns']}\t{busy:.2f}\t{top}"
        if path.name.endswith((".json", ".json.gz")) and "rpd" not in path.name:
            theirs = from_kineto(path)
        elif path.name in ("kernel_trace.csv", "kernel_trace_truncated.csv", "counter_collection.csv"):
            theirs = from_csv(path)
        elif path.suffix == ".rpd":
            theirs = from_rpd(path)
        else:
            continue
        kernels, device = theirs
        checked += 1
        main_device = max({s[0] for s in device}, key=lambda d: sum(s[2] - s[1] for s in kernels if s[0] == d) if kernels else 0)
        mine = [s for s in device if s[0] == main_device]
        expected = {
            "kernel_count": len(kernels),
            "device_span_ns": max(s[2] for s in device) - min(s[1] for s in device),
            "device_busy_ns": union(mine),
        }
        for key, value in expected.items():
            if key == "kernel_count" and path.suffix == ".rpd":
                continue  # which operations count as kernels is a matter of their names
            if ours[key] != value:
                print(f"  {name}: {key}: {ours[key]} by us, {value} by Python")
                failures += 1
        theirs_top = top_class(kernels)
        if theirs_top and theirs_top != top:
            print(f"  {name}: most time in {top} by us, in {theirs_top} by Python")
            failures += 1
    failures += hold_against_golden(table, "--write" in sys.argv)
    print(f"{checked} held against Python, {refused} refused, {failures} differences")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
