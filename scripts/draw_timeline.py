#!/usr/bin/python3
"""Draws a picture of a Chrome trace that `ridgeline trace` wrote: host calls, kernels coloured by class, step annotations.

    scripts/draw_timeline.py TRACE.json[.gz] PICTURE.png [--from MS] [--to MS] [--title TEXT]

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("picture")
    parser.add_argument("--from", dest="begin", type=float, default=0.0, help="ms after the first event")
    parser.add_argument("--to", dest="end", type=float, default=1e12, help="ms after the first event")
    parser.add_argument("--title", default="")
    args = parser.parse_args()

    opener = gzip.open if args.trace.endswith(".gz") else open
    with opener(args.trace, "rt") as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    origin = min(e["ts"] for e in events)

    def within(event):
        begin = (event["ts"] - origin) / 1e3
        return begin < args.end and begin + event["dur"] / 1e3 > args.begin

    def bars(category):
        return [((e["ts"] - origin) / 1e3, e["dur"] / 1e3, e["name"]) for e in events if e["cat"] == category and within(e)]

    figure, axis = plt.subplots(figsize=(12, 2.9), constrained_layout=True)
    axis.broken_barh([b[:2] for b in bars("user_annotation")], (2.1, 0.8), facecolors="#DDDDDD", edgecolors="#666666")
    axis.broken_barh([b[:2] for b in bars("cuda_runtime")], (1.1, 0.8), facecolors="#56B4E9", linewidth=0)
    kernels = bars("kernel")
    for index, (label, _, colour) in enumerate(CLASSES):
        mine = [b[:2] for b in kernels if class_of(b[2]) == index]
        if mine:
            axis.broken_barh(mine, (0.1, 0.8), facecolors=colour, linewidth=0, label=label)
    axis.set_yticks([0.5, 1.5, 2.5], ["kernels", "launches", "steps"])
    axis.set_ylim(0, 3)
    last = max(b[0] + b[1] for b in bars("user_annotation") + kernels)
    axis.set_xlim(args.begin, min(args.end, last))
    axis.set_xlabel("ms")
    axis.set_title(args.title, loc="left")
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    figure.savefig(args.picture, dpi=110)


if __name__ == "__main__":
    main()
