#!/usr/bin/python3
"""Draws a picture of a Chrome trace that `ridgeline trace` wrote.

    scripts/draw_timeline.py TRACE.json[.gz] PICTURE.png [--zoom FROM..TO] [--title TEXT]

Above, how busy the device is over the whole trace; below, the zoomed part kernel by kernel. Times in ms after the first event.

Needs matplotlib (Debian: python3-matplotlib).
"""

import argparse
import gzip
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Plain classes by what kernel names contain, and a colour for each (Okabe and Ito's palette, safe for colour-blind readers).
CLASSES = [
    ("attention", ("attention", "fmha", "flash"), "#D55E00"),
    ("gemm", ("Cijk", "gemm", "nvjet"), "#0072B2"),
    ("norm", ("norm",), "#009E73"),
    ("rope and cache", ("rotary", "rope", "cache"), "#CC79A7"),
    ("elementwise", ("elementwise", "act_and_mul", "silu"), "#E69F00"),
    ("other", ("",), "#999999"),
]


def class_of(name):
    return next(i for i, (_, words, _) in enumerate(CLASSES) if any(w.lower() in name.lower() for w in words))


def draw_gantt(axis, bars, begin, end):
    """Steps, launches and kernels as bars between two times."""
    axis.broken_barh([b[:2] for b in bars["user_annotation"]], (2.1, 0.8), facecolors="#DDDDDD", edgecolors="#666666")
    axis.broken_barh([b[:2] for b in bars["cuda_runtime"]], (1.1, 0.8), facecolors="#56B4E9", linewidth=0)
    for index, (label, _, colour) in enumerate(CLASSES):
        mine = [b[:2] for b in bars["kernel"] if class_of(b[2]) == index and b[0] < end and b[0] + b[1] > begin]
        if mine:
            axis.broken_barh(mine, (0.1, 0.8), facecolors=colour, linewidth=0, label=label)
    axis.set_yticks([0.5, 1.5, 2.5], ["kernels", "launches", "step"])
    axis.set_ylim(0, 3)
    axis.set_xlim(begin, end)
    axis.set_xlabel("ms")
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def draw_activity(axis, bars, zoom):
    """How much of each moment some kernel runs: at this scale kernels are too short to be seen one by one."""
    end = max(b[0] + b[1] for b in bars["user_annotation"])
    width = end / 400
    busy = [0.0] * 401
    for start, length, _ in bars["kernel"]:
        while length > 0:
            index = int(start / width)
            part = min(length, (index + 1) * width - start)
            if part <= 0:
                break
            busy[min(index, 400)] += part / width
            start, length = start + part, length - part
    axis.fill_between([i * width for i in range(401)], busy, step="post", color="#0072B2", linewidth=0)
    for start, _, _ in bars["user_annotation"]:
        axis.axvline(start, color="#666666", linewidth=0.8)
    axis.axvspan(*zoom, color="#D55E00", alpha=0.35, linewidth=0)
    axis.set_ylim(0, 1)
    axis.set_yticks([0, 1], ["idle", "busy"])
    axis.set_xlim(0, end)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("picture")
    parser.add_argument("--zoom", default="0..1", help="ms after the first event, shown kernel by kernel: FROM..TO")
    parser.add_argument("--title", default="")
    args = parser.parse_args()
    zoom = tuple(float(x) for x in args.zoom.split(".."))

    opener = gzip.open if args.trace.endswith(".gz") else open
    with opener(args.trace, "rt") as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    origin = min(e["ts"] for e in events)
    bars = {
        category: [((e["ts"] - origin) / 1e3, e["dur"] / 1e3, e["name"]) for e in events if e["cat"] == category]
        for category in ("user_annotation", "cuda_runtime", "kernel")
    }

    figure, (whole, part) = plt.subplots(2, 1, figsize=(12, 4), height_ratios=[1, 2], constrained_layout=True)
    draw_activity(whole, bars, zoom)
    whole.set_title(args.title, loc="left")
    draw_gantt(part, bars, *zoom)
    for axis in (whole, part):
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    figure.savefig(args.picture, dpi=110)


if __name__ == "__main__":
    main()
