#!/usr/bin/env python3
"""HolisticTraceAnalysis reads our timelines unmodified and finds what we say is in them.

    check_hta.py RIDGELINE

Runs in an environment that has HolisticTraceAnalysis (scripts/install_clients.sh makes one). HTA rounds every start up and every end
down to whole microseconds, so each kernel may lose up to 2 us and each gap gain as much: that is the tolerance, nothing else.
"""

import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

from hta.trace_analysis import TraceAnalysis  # noqa: E402

RUNS = {
    # One eager step after another, with gaps; decode steps in graphs with prefills between them.
    "eager": ["run", "e_gaps", "--set", "workload.output_tokens=6"],
    "graphs": ["run", "chat_8b", "--set", "workload.requests=3"],
}


def check(program, name, arguments, folder):
    run = folder / name
    subprocess.run([program, *arguments, "--out", run, "--quiet", "--json"], check=True, capture_output=True)
    file = folder / f"{name}.json.gz"
    ours = json.loads(subprocess.run([program, "trace", run, "--out", file, "--json"], check=True, capture_output=True, text=True).stdout)
    analysis = TraceAnalysis(trace_files={0: str(file)}, trace_dir=str(folder))

    kernels = ours["kernels"]
    rounding_us = 2 * kernels
    temporal = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    busy_us = ours["busy_ns"] / 1e3
    found_us = float(temporal["compute_time(us)"])
    assert abs(found_us - busy_us) <= rounding_us, f"{name}: HTA finds {found_us} us of compute, we say {busy_us}"
    span_us = float(temporal["kernel_time(us)"])
    idle_us = float(temporal["idle_time(us)"])
    assert abs(span_us - idle_us - found_us) <= rounding_us, f"{name}: HTA's idle time {idle_us} does not fit its span {span_us}"
    assert float(temporal["non_compute_time(us)"]) == 0.0, f"{name}: HTA takes some kernels for communication or copies"

    by_kind, by_name = analysis.get_gpu_kernel_breakdown(visualize=False, duration_ratio=1.0, num_kernels=10**6)
    total_us = float(by_kind["sum"].sum())
    ours_us = sum(row["total_ns"] for row in ours["kernels_by_class"]) / 1e3
    assert abs(total_us - ours_us) <= rounding_us, f"{name}: HTA's kernels take {total_us} us, ours {ours_us}"

    idle, _ = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
    split_us = float(idle["idle_time"].sum())
    assert abs(split_us - idle_us) <= rounding_us, f"{name}: HTA splits {split_us} us of idle time, and counts {idle_us}"
    print(f"ok: {name}: {kernels} kernels, compute {found_us:.0f} us by HTA, {busy_us:.1f} us by us; idle {idle_us:.0f} us")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in RUNS.items():
            check(program, name, arguments, pathlib.Path(folder))


if __name__ == "__main__":
    main()
