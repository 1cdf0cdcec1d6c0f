"""``ridgeline capacity``."""

from __future__ import annotations

from typing import Sequence

from ..errors import ConfigError
from .capacity import capacity
from .command_line import Parser, add_scenario, overrides_of, write_json

__all__ = ["CAPACITY", "capacity_command"]

CAPACITY = "the largest request rate that meets latency objectives, by bisection"

_EXAMPLES = """\
  ridgeline capacity chat_8b --slo p99_ttft_ms=2000 --slo mean_tpot_ms=50
  ridgeline capacity chat_8b --slo p99_ttft_ms=2000 --set hw=h100_sxm --json

An objective is mean, median, p90, p95 or p99 of ttft, tpot, e2el or queue, in milliseconds, over the requests after the warm-up. A rate
at which the number of requests in the server still grows is not met, whatever the latencies of the run.
"""


def capacity_command(argv: Sequence[str]) -> int:
    """``ridgeline capacity``."""
    parser = Parser("capacity", CAPACITY, _EXAMPLES)
    add_scenario(parser)
    parser.add_argument("--slo", action="append", required=True, metavar="NAME=MS", help="an objective; may be given several times")
    parser.add_argument("--requests", type=int, metavar="N", help="requests of a run (default: the scenario's, at least 1000); more where a run needs them")
    parser.add_argument("--tolerance", type=float, default=0.02, metavar="SHARE", help="width of the final bracket (default 0.02)")
    parser.add_argument("--json", action="store_true", help="print it as JSON, with every rate tried")
    parser.add_argument("--out", metavar="FILE", help="write the JSON there")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    a = parser.parse(argv)
    slo: dict[str, float] = {}
    for text in a.slo:
        name, _, limit = text.partition("=")
        try:
            slo[name] = float(limit)
        except ValueError:
            raise ConfigError(f"--slo: expected NAME=MILLISECONDS like p99_ttft_ms=2000, got '{text}'") from None
    found = capacity(a.scenario, slo, requests=a.requests, tolerance=a.tolerance, overrides=overrides_of(a), progress=False if a.quiet else None)
    if a.out:
        write_json(found.as_dict(), a.out)
    if a.json:
        write_json(found.as_dict(), None)
    else:
        print(found)
    return 0
