#!/usr/bin/env python3
"""Checks that a trace in PyTorch's profiler format says what its readers demand.

    check_kineto.py [--lenient] TRACE.json[.gz]

Stands alone: it knows the format, not Ridgeline. Prints the number of kernels, the time from the first kernel's start to the last
one's end and the union of the kernels, in ns. Exits 1 with a sentence on the first rule that is broken. Times are read as decimals
and compared as whole nanoseconds, because a double cannot hold 16 digits.

--lenient allows what real recorders do and a simulator need not: a shorter header, flows with one end only, kernels whose launch was
not recorded, unnamed processes, streams numbered from 0, slices that straddle, kernels of one stream that overlap by up to 1 ms.
"""

import argparse
import collections
import gzip
import json
import re
import sys
from decimal import Decimal

METADATA_NAMES = {"process_name", "process_labels", "process_sort_index", "thread_name", "thread_sort_index"}
RUNTIME_CATEGORIES = {"cuda_runtime", "cuda_driver"}
DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset"}
REQUIRED_TOP = ("schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds", "traceEvents", "traceName")
SERVER_COUNTERS = {"kv_cache_usage", "num_running", "num_waiting", "preemptions"}


class Broken(Exception):
    """A rule that the trace breaks, as a sentence."""


def require(holds, sentence):
    if not holds:
        raise Broken(sentence)


def nanoseconds(value, what):
    """Whole nanoseconds of a time in microseconds."""
    require(isinstance(value, (int, Decimal)) and not isinstance(value, bool), f"{what} is not a number: {value!r}")
    ns = Decimal(value) * 1000
    require(ns == ns.to_integral_value(), f"{what} is finer than a nanosecond: {value}")
    return int(ns)


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        text = file.read()
    return text, json.loads(text, parse_float=Decimal)


def check_top(text, trace, lenient):
    require(isinstance(trace, dict), "the trace is not an object")
    for key in ("traceEvents",) if lenient else REQUIRED_TOP:
        require(key in trace, f"the key {key} is missing")
    require(lenient or list(trace)[-1] == "traceName", "traceName is not the last key")
    ranked = re.search(r'"rank":\s+(\d+)', text)
    require(lenient or ranked, 'no "rank": N with a space after the colon, which HolisticTraceAnalysis looks for')
    versions = [key for key in trace if key in ("hip_runtime_version", "cuda_runtime_version")]
    require(lenient or len(versions) == 1, "expected one of hip_runtime_version and cuda_runtime_version")
    if not lenient:
        for key in ("id", "name", "totalGlobalMem", "warpSize", "numSms"):
            require(trace["deviceProperties"] and key in trace["deviceProperties"][0], f"deviceProperties lacks {key}")


def read_slices(events):
    """(start, end, event) of every X event, in ns."""
    slices = []
    for event in events:
        if event.get("ph") != "X":
            continue
        for key in ("name", "cat", "pid", "tid", "ts", "dur"):
            require(key in event, f"an X event lacks {key}: {event}")
        start = nanoseconds(event["ts"], "ts of " + event["name"])
        length = nanoseconds(event["dur"], "dur of " + event["name"])
        require(length >= 0, f"{event['name']} at {event['ts']} us has a negative duration")
        slices.append((start, start + length, event))
    return slices


def check_metadata(events, slices, lenient):
    named = collections.defaultdict(set)
    for event in events:
        if event.get("ph") == "M":
            require(event["name"] in METADATA_NAMES, f"TraceLens fails on the metadata event '{event['name']}'")
            of_thread = event["name"].startswith("thread")
            named[event["name"]].add((event["pid"], event["tid"]) if of_thread else event["pid"])
    if lenient:
        return
    for _, _, event in slices:
        for name in ("process_name", "process_labels", "process_sort_index"):
            require(event["pid"] in named[name], f"process {event['pid']} has no {name}")
        for name in ("thread_name", "thread_sort_index"):
            require((event["pid"], event["tid"]) in named[name], f"track {event['pid']}, {event['tid']} has no {name}")


def check_calls(slices, lenient):
    """Launches and kernels are tied by correlation."""
    launched = set()
    for _, _, event in slices:
        if event["cat"] in RUNTIME_CATEGORIES and "Launch" in event["name"]:
            require("correlation" in event.get("args", {}), f"the launch {event['name']} at {event['ts']} us has no correlation")
            launched.add(event["args"]["correlation"])
    for _, _, event in slices:
        if event["cat"] not in DEVICE_CATEGORIES:
            continue
        args = event.get("args", {})
        for key in ("device", "stream", "correlation"):
            require(key in args, f"the kernel at {event['ts']} us lacks {key}")
        require(args["device"] == event["pid"], f"the kernel at {event['ts']} us is of device {args['device']}, pid {event['pid']}")
        require(lenient or args["stream"] >= 1, f"the kernel at {event['ts']} us is on stream {args['stream']}, less than 1")
        if args.get("kind") == "Dispatch Task":
            for key in ("External id", "grid", "block"):
                require(lenient or key not in args, f"the graph kernel at {event['ts']} us has {key}, which a replay loses")
        require(lenient or args["correlation"] in launched, f"nothing launched the kernel at {event['ts']} us")


def check_flows(events, slices, lenient):
    """Every s has one f, and lies inside a call of its thread."""
    starts, finishes = collections.Counter(), collections.Counter()
    calls = collections.defaultdict(list)
    kernel_starts = {(event["pid"], event["tid"], start) for start, _, event in slices if event["cat"] in DEVICE_CATEGORIES}
    for start, end, event in slices:
        if event["cat"] in RUNTIME_CATEGORIES:
            calls[event.get("args", {}).get("correlation"), event["pid"], event["tid"]].append((start, end))
    for event in events:
        if event.get("cat") != "ac2g":
            continue
        at = nanoseconds(event["ts"], "ts of a flow")
        if event["ph"] == "s":
            starts[event["id"]] += 1
            inside = any(start <= at <= end for start, end in calls[event["id"], event["pid"], event["tid"]])
            require(inside, f"flow {event['id']} starts at {event['ts']} us, outside of the call with that correlation")
        elif event["ph"] == "f":
            finishes[event["id"]] += 1
            require(event.get("bp") == "e", f"flow {event['id']} ends without bp:\"e\"")
            require(lenient or (event["pid"], event["tid"], at) in kernel_starts, f"flow {event['id']} ends where no kernel starts")
    if lenient:
        return
    for flow in starts | finishes:
        require(starts[flow] == 1 and finishes[flow] == 1, f"flow {flow} has {starts[flow]} starts and {finishes[flow]} ends")
    for _, _, event in slices:
        if event["cat"] in RUNTIME_CATEGORIES and "Launch" in event["name"]:
            flow = event["args"]["correlation"]
            require(starts[flow] == 1, f"the launch {event['name']} with correlation {flow} has no flow")


def check_nesting(slices, lenient):
    """Slices of one track nest or are disjoint; kernels of one stream are disjoint."""
    tracks = collections.defaultdict(list)
    for start, end, event in slices:
        tracks[event["pid"], event["tid"]].append((start, -end, event))
    for (pid, tid), track in tracks.items():
        track.sort(key=lambda item: item[:2])
        on_device = any(event["cat"] in DEVICE_CATEGORIES for _, _, event in track)
        if lenient and not on_device:
            continue
        open_ends = []
        for start, negative_end, event in track:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and not lenient:
                straddles = f"'{event['name'][:60]}' at {event['ts']} us on {pid}, {tid} straddles the end of a slice"
                require(-negative_end <= open_ends[-1], straddles)
            open_ends.append(-negative_end)
        last = None
        for start, negative_end, event in track:
            if event["cat"] not in DEVICE_CATEGORIES:
                continue
            # Recorders are off by single nanoseconds; Hyperloom's gate for a broken recording is 1 ms.
            allowed = 1_000_000 if lenient else 0
            overlaps = f"the kernel at {event['ts']} us on {pid}, {tid} starts before the one in front ends"
            require(last is None or start >= last - allowed, overlaps)
            last = max(last or 0, -negative_end)


def check_counters(events, lenient):
    seen = set()
    for event in events:
        if event.get("ph") != "C":
            continue
        seen.add(event["name"])
        nanoseconds(event["ts"], "ts of " + event["name"])
        require(event.get("args"), f"the counter {event['name']} at {event['ts']} us has no series")
        for series, value in event["args"].items():
            numeric = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
            require(numeric, f"the counter {event['name']}, series {series}, is not a number: {value!r}")
    require(lenient or not seen or SERVER_COUNTERS <= seen, f"server counters are missing: {sorted(SERVER_COUNTERS - seen)}")


def union(intervals):
    busy, edge = 0, None
    for start, end in sorted(intervals):
        begin = start if edge is None else max(start, edge)
        busy += max(0, end - begin)
        edge = end if edge is None else max(edge, end)
    return busy


def check(path, lenient):
    text, trace = load(path)
    check_top(text, trace, lenient)
    events = trace["traceEvents"]
    slices = read_slices(events)
    check_metadata(events, slices, lenient)
    check_calls(slices, lenient)
    check_flows(events, slices, lenient)
    check_nesting(slices, lenient)
    check_counters(events, lenient)
    kernels = [(start, end) for start, end, event in slices if event["cat"] == "kernel"]
    span = max(end for _, end in kernels) - min(start for start, _ in kernels) if kernels else 0
    print(f"kernels {len(kernels)}\nspan_ns {span}\nbusy_ns {union(kernels)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("--lenient", action="store_true", help="allow what real recorders do")
    options = parser.parse_args()
    try:
        check(options.trace, options.lenient)
    except Broken as broken:
        sys.exit(f"{options.trace}: {broken}")
    except (OSError, EOFError, json.JSONDecodeError) as error:
        sys.exit(f"{options.trace}: cannot be read: {error}")


if __name__ == "__main__":
    main()
