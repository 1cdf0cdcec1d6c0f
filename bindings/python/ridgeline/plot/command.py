"""``ridgeline plot``: pictures from what other commands wrote."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._core import suggestion
from ..errors import ConfigError
from ..sweeps.command_line import Parser

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ..runs import Run, Window

__all__ = ["plot_command"]

_SUFFIXES = (".png", ".svg", ".pdf")

_HELP = """\
Usage: ridgeline plot KIND INPUT... --out FILE

Draws what other commands wrote, as PNG, SVG or PDF by the suffix of FILE. 'ridgeline plot KIND --help' says more.

  roofline RUN             kernels of a step under the roofs of their machine
  ledger RUN [RUN]         where the time goes, or what moved it from one run to another
  timeline RUN|TRACE       steps, launches and kernels of a window
  latencies RUN...         distributions of TTFT, TPOT, ITL and end-to-end latency
  pareto TABLE             points of a sweep in two figures, and their front
  curve TABLE              a figure of a sweep against a key
  heatmap TABLE            a figure of a sweep over two keys
  tornado FILE.json        swings of a figure, from 'ridgeline sensitivity --swing'

RUN is a directory of 'ridgeline run --out', TABLE a file of 'ridgeline sweep --out', TRACE a profiler's trace.

For example:
  ridgeline run chat_8b --out runs/chat && ridgeline plot roofline runs/chat --out roofline.png
  ridgeline plot timeline trace.json.gz --window 0s..20ms --out lanes.svg
  ridgeline plot pareto sweep.parquet --by hw --label engine.max_num_seqs --out front.png
"""


def plot_command(argv: Sequence[str]) -> int:
    """``ridgeline plot``."""
    if not argv or argv[0] in ("-h", "--help"):
        sys.stdout.write(_HELP)
        return 0
    if argv[0] not in _KINDS:
        raise ConfigError(f"plot: unknown kind of picture '{argv[0]}'{suggestion(argv[0], list(_KINDS))}")
    summary, example, declare, draw = _KINDS[argv[0]]
    parser = Parser(f"plot {argv[0]}", summary, f"  ridgeline plot {argv[0]} {example}\n")
    declare(parser)
    parser.add_argument("--title", metavar="TEXT", help="instead of the picture's own")
    parser.add_argument("--dpi", type=int, default=150, metavar="N", help="of a PNG, dots an inch (default 150)")
    parser.add_argument("--out", required=True, metavar="FILE", help="where it goes: .png, .svg or .pdf")
    a = parser.parse(argv[1:])
    if not a.out.endswith(_SUFFIXES):
        raise ConfigError(f"--out: expected a name that ends in {', '.join(_SUFFIXES)}, got '{a.out}'")
    import matplotlib

    matplotlib.use("Agg")
    ax = draw(a)
    if a.title is not None:
        ax.set_title("", loc="left")
        ax.set_title(a.title, loc="left", fontsize=10)
    _save(ax, Path(a.out), a.dpi)
    return 0


def _save(ax: Axes, path: Path, dpi: int) -> None:
    """Written beside and renamed; the same picture gives the same bytes."""
    import matplotlib

    beside = path.with_name(f".{path.name}.{os.getpid()}{path.suffix}")
    when = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
    try:
        with matplotlib.rc_context({"svg.hashsalt": "ridgeline"}):
            ax.figure.savefig(beside, dpi=dpi, metadata=when)  # type: ignore[union-attr]
        os.replace(beside, path)
    except OSError as why:
        raise ConfigError(f"--out: {path}: cannot be written: {why.strerror}") from why
    finally:
        beside.unlink(missing_ok=True)


_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIME = r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(s|ms|us|ns)"


def _window(text: str | None) -> Window | None:
    """``10s..10.2s``, as ``ridgeline trace`` takes it."""
    if text is None:
        return None
    match = re.fullmatch(rf"\s*{_TIME}\s*\.\.\s*{_TIME}\s*", text)
    if match is None:
        raise ConfigError(f"--window: expected two times like 10s..10.2s, got '{text}'")
    begin, end = float(match[1]) * _SECONDS[match[2]], float(match[3]) * _SECONDS[match[4]]
    if not begin < end:
        raise ConfigError(f"--window: expected an end after the beginning, got '{text}'")
    return begin, end


def _run(path: str) -> Run:
    from ..runs import load_run

    return load_run(path)


def _named_runs(paths: Sequence[str]) -> dict[str, Run]:
    names = [Path(path).resolve().name for path in paths]
    return {name if names.count(name) == 1 else path: _run(path) for name, path in zip(names, paths)}


def _sweep(path: str) -> pd.DataFrame:
    from ..sweeps.result import Sweep

    return Sweep.read(path).frame


def _declare_roofline(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--step", type=int, metavar="N", help="the step's number (default: one of typical length)")
    parser.add_argument("--window", metavar="FROM..TO", help="all steps that begin in it: 10s..10.2s")


def _roofline(a: argparse.Namespace) -> Axes:
    from . import roofline

    return roofline(_run(a.run), _window(a.window), step=a.step)


def _declare_ledger(parser: Parser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one, or the one before and the one after")
    parser.add_argument("--per", choices=("token", "step", "run"), default="token", help="what the time is divided by (default token)")


def _ledger(a: argparse.Namespace) -> Axes:
    from . import ledger, ledger_change

    if len(a.runs) > 2:
        raise ConfigError(f"plot ledger: expected one run or two, got {len(a.runs)}")
    named = _named_runs(a.runs)
    if len(named) == 1:
        return ledger(*named.values(), per=a.per)
    (first, before), (second, after) = named.items()
    return ledger_change(before, after, per=a.per, names=(first, second))


def _declare_timeline(parser: Parser) -> None:
    parser.add_argument("source", metavar="RUN|TRACE")
    parser.add_argument("--window", metavar="FROM..TO", help="steps that begin in it: 10s..10.2s (default: two steps)")


def _timeline(a: argparse.Namespace) -> Axes:
    from ..traces import read_trace
    from . import timeline

    is_run = (Path(a.source) / "result.json").is_file()
    return timeline(_run(a.source) if is_run else read_trace(a.source), _window(a.window))


def _declare_latencies(parser: Parser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--of", choices=("ttft", "tpot", "itl", "e2el"), help="only this one (default: all four)")
    parser.add_argument("--slo", action="append", default=[], metavar="NAME=MS", help="a limit: ttft=500; may be given several times")


def _latencies(a: argparse.Namespace) -> Axes:
    from . import latencies, latency

    slo: dict[str, float] = {}
    for text in a.slo:
        name, _, limit = text.partition("=")
        try:
            slo[name] = float(limit)
        except ValueError:
            raise ConfigError(f"--slo: expected NAME=MILLISECONDS like ttft=500, got '{text}'") from None
    runs = _named_runs(a.runs)
    return latency(runs, a.of, slo=slo.get(a.of)) if a.of else latencies(runs, slo=slo)[0]


def _declare_pareto(parser: Parser) -> None:
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("--x", default="output_throughput_per_user", metavar="FIGURE", help="default output_throughput_per_user")
    parser.add_argument("--y", default="output_throughput_per_gpu", metavar="FIGURE", help="default output_throughput_per_gpu")
    parser.add_argument("--by", metavar="KEY", help="a front for each value of this key")
    parser.add_argument("--label", metavar="KEY", help="write this key's value at the points of the front")


def _pareto(a: argparse.Namespace) -> Axes:
    from . import pareto

    return pareto(_sweep(a.table), a.x, a.y, by=a.by, label=a.label)


def _declare_curve(parser: Parser) -> None:
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("--x", required=True, metavar="KEY")
    parser.add_argument("--figure", default="output_throughput", metavar="NAME", help="default output_throughput")
    parser.add_argument("--by", metavar="KEY", help="a line for each value of this key")


def _curve(a: argparse.Namespace) -> Axes:
    from . import curve

    return curve(_sweep(a.table), a.x, a.figure, by=a.by)


def _declare_heatmap(parser: Parser) -> None:
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("--x", required=True, metavar="KEY")
    parser.add_argument("--y", required=True, metavar="KEY")
    parser.add_argument("--figure", default="output_throughput", metavar="NAME", help="default output_throughput")


def _heatmap(a: argparse.Namespace) -> Axes:
    from . import heat_map

    return heat_map(_sweep(a.table), a.x, a.y, a.figure)


def _declare_tornado(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE.json", help="of 'ridgeline sensitivity --swing SHARE --out FILE.json'")


def _tornado(a: argparse.Namespace) -> Axes:
    from . import tornado

    return tornado(_swings(Path(a.file)))


def _swings(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        swings = pd.DataFrame(told.pop("keys"))
    except OSError as why:
        raise ConfigError(f"{path}: cannot be read: {why.strerror}") from why
    except (ValueError, KeyError, TypeError, AttributeError) as why:
        raise ConfigError(f"{path}: expected the JSON of 'ridgeline sensitivity --swing'") from why
    swings.attrs.update(told)
    return swings


# Name: what it draws, an example of its arguments, what it takes, and how it is drawn. A new kind of picture is one line.
_KINDS: dict[str, tuple[str, str, Callable[[Parser], None], Callable[[argparse.Namespace], Axes]]] = {
    "roofline": ("kernels of a step under the roofs of their machine", "runs/chat --out roofline.png", _declare_roofline, _roofline),
    "ledger": (
        "where the time goes, or what moved it from one run to another",
        "runs/before runs/after --out ledger.png",
        _declare_ledger,
        _ledger,
    ),
    "timeline": ("steps, launches and kernels of a window", "runs/chat --window 10s..10.02s --out lanes.svg", _declare_timeline, _timeline),
    "latencies": (
        "distributions of TTFT, TPOT, ITL and end-to-end latency",
        "runs/a runs/b --slo ttft=500 --out cdf.png",
        _declare_latencies,
        _latencies,
    ),
    "pareto": ("points of a sweep in two figures, and their front", "sweep.parquet --by hw --out front.png", _declare_pareto, _pareto),
    "curve": ("a figure of a sweep against a key", "sweep.parquet --x engine.max_num_seqs --out curve.png", _declare_curve, _curve),
    "heatmap": (
        "a figure of a sweep over two keys",
        "sweep.parquet --x engine.max_num_seqs --y model.quantization --out map.png",
        _declare_heatmap,
        _heatmap,
    ),
    "tornado": ("swings of a figure, from 'ridgeline sensitivity --swing'", "swings.json --out tornado.png", _declare_tornado, _tornado),
}
