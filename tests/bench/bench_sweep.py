#!/usr/bin/env python3
"""How well a sweep of short runs uses the cores, and what it costs beside the simulations.

    PYTHONPATH=build/python python3 tests/bench/bench_sweep.py [POINTS [ROUNDS]]

A round runs the same POINTS (default 1,000) twice: one after the other in this process, and by processes, one a core. Of ROUNDS (default 3)
the best of each counts, because other programs on the machine only make things slower.

  run                what `ridgeline run` would take too: simulation, metrics, figures, diagnosis
  overhead a run     the rest of the serial sweep: reading the scenario at the point, the scenario as text, the row and the table
  efficiency         time in runs of the serial sweep / (cores x wall time of the parallel one), start of the processes included
  of processor time  the same over the processor time that the parallel sweep took: what it is where nothing else wants the cores and
                     the last chunk is small

The overhead is the serial sweep's processor time times the share of its wall time outside runs, since others on the machine slow both.
Exit code 1 unless the overhead is under 2 ms and one of the efficiencies over 85 %.
"""

from __future__ import annotations

import os
import resource
import sys
import time

from ridgeline.sweeps.executors import Executor, Processes, Serial
from ridgeline.sweeps.run import axes_of, execute, opened, plan_of

MOST_OVERHEAD_SECONDS = 2e-3
LEAST_EFFICIENCY = 0.85
SHORT = {"workload.requests": 400}  # about 50 ms a run


def cpu_seconds() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main(points: int, rounds: int) -> int:
    runs = opened("chat_8b", SHORT)
    plan = plan_of(runs, axes_of({"engine.max_num_seqs": "1..256*4"}, None, 0, 0, None, range(points // 5), 1))
    cores = len(os.sched_getaffinity(0))

    def measured(executor: Executor) -> tuple[float, float, float]:
        wall, cpu = time.perf_counter(), cpu_seconds()
        table = execute(runs, plan, executor, progress=False)
        return time.perf_counter() - wall, cpu_seconds() - cpu, sum(table["wall_seconds"])

    rounds_of = [(measured(Serial()), measured(Processes(cores))) for _ in range(rounds)]
    overhead = min(cpu * (1.0 - inside / wall) / len(plan) for (wall, cpu, inside), _ in rounds_of)
    inside = min(inside for (_, _, inside), _ in rounds_of)
    inside_cpu = min(cpu * inside / wall for (wall, cpu, inside), _ in rounds_of)
    wall, cpu = min(wall for _, (wall, _, _) in rounds_of), min(cpu for _, (_, cpu, _) in rounds_of)
    by_wall, by_cpu = inside / (cores * wall), inside_cpu / cpu
    print(f"{len(plan)} runs of {1e3 * inside_cpu / len(plan):.1f} ms on {cores} cores, best of {rounds} rounds")
    print(f"  overhead a run      {1e3 * overhead:.2f} ms")
    print(f"  efficiency          {100 * by_wall:.1f} %  ({wall:.1f} s of wall time)")
    print(f"  of processor time   {100 * by_cpu:.1f} %  ({cpu:.1f} s)")
    return 0 if overhead < MOST_OVERHEAD_SECONDS and max(by_wall, by_cpu) > LEAST_EFFICIENCY else 1


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:3]), *(1000, 3)[len(sys.argv[1:3]) :]))
