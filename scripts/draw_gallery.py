#!/usr/bin/env python3
"""Draws docs/pictures: every kind of picture, from runs and sweeps made here.

    PYTHONPATH=build/python build/venv/bin/python scripts/draw_gallery.py [DIRECTORY]

Look at them when something about drawing changes; tests compare what is drawn, not pixels.
"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import ridgeline as rl

ROOT = pathlib.Path(__file__).resolve().parent.parent


def clients(n, requests=None, **lengths):
    """Clients that never rest."""
    return {"workload.arrivals": {"closed_loop": {"concurrency": n}}, "workload.requests": requests or 2 * n, **lengths}


def pictures():
    """(name, Axes), one after the other."""
    busy = clients(64)
    run = rl.run("chat_8b", busy)
    yield "roofline", rl.plot.roofline(run)
    yield "ledger", rl.plot.ledger(run)
    alone = clients(1, 8)
    before, after = rl.run("chat_8b", alone), rl.run("chat_8b", {**alone, "model.quantization": "awq"})
    yield "ledger_change", rl.plot.ledger_change(before, after, names=("bf16", "int4"))
    yield "timeline", rl.plot.timeline(rl.run("e_gaps"), title="Case E on an MI300X: two decode steps")
    rates = {f"{rate} requests/s": rl.run("chat_8b", {"workload.requests": 400, "workload.arrivals.gamma.rate": f"{rate} /s"}) for rate in (4, 12)}
    yield "latencies", rl.plot.latencies(rates, slo={"ttft": 250, "tpot": 15})[0]
    closed = ("engine.max_num_seqs", "workload.arrivals.closed_loop.concurrency", "workload.requests")
    batches = [(n, n, 2 * n) for n in (1, 4, 16, 64, 256)]
    formats = {"model.quantization": ["none", "fp8", "awq"]}
    sweep = rl.sweep("chat_8b", {**formats, closed: batches}, overrides=clients(1))
    yield "curve", rl.plot.curve(sweep, "engine.max_num_seqs", "median_tpot_ms", by="model.quantization")
    yield "pareto", rl.plot.pareto(sweep, by="model.quantization", label="engine.max_num_seqs")
    prompts = {"workload.prompt_tokens": [500, 2000, 8000], "engine.max_num_batched_tokens": "1024,2048,4096,8192"}
    grid = rl.sweep("chat_8b", prompts, overrides=clients(16, 48))
    yield "heat_map", rl.plot.heat_map(grid, "engine.max_num_batched_tokens", "workload.prompt_tokens", "p99_itl_ms")
    keys = ["hw.hbm.bandwidth", "hw.hbm.sustained", "hw.peak.bf16", "hw.passes.fixed", "stack.launch.*"]
    yield "tornado", rl.plot.tornado(rl.tornado("chat_8b", keys, "mean_tpot_ms", overrides=clients(16)), most=8)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"
    for name, ax in pictures():
        ax.figure.savefig(folder / f"{name}.png", dpi=110)
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
