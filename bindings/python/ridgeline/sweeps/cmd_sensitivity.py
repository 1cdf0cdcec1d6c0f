"""``ridgeline sensitivity``."""

from __future__ import annotations

from typing import Sequence

from ..errors import ConfigError
from .command_line import Parser, add_scenario, overrides_of, write_json
from .sensitivity import elasticities, tornado

__all__ = ["SENSITIVITY", "sensitivity_command"]

SENSITIVITY = "which values of a scenario a figure depends on, and how strongly"

_EXAMPLES = """\
  ridgeline sensitivity chat_8b --key 'hw.hbm.*' --key 'stack.launch.*' --figure mean_tpot_ms
  ridgeline sensitivity chat_8b --key 'hw.*' --swing 0.2            # a tornado chart's numbers: each value 20 % lower and higher

An elasticity of 1 means that the figure grows in proportion to the value, 0 that it does not care. A key may hold '*'; only values that
the scenario gives can be moved, so give others with --set first.
"""


def sensitivity_command(argv: Sequence[str]) -> int:
    """``ridgeline sensitivity``."""
    parser = Parser("sensitivity", SENSITIVITY, _EXAMPLES)
    add_scenario(parser)
    parser.add_argument("--key", action="append", required=True, metavar="KEY", help="a value to move; may hold '*', may be given several times")
    parser.add_argument("--figure", metavar="NAME", help="what to look at (default output_throughput, of a training step training_throughput)")
    parser.add_argument("--step", type=float, default=0.01, metavar="SHARE", help="by which values are moved (default 0.01)")
    parser.add_argument("--swing", type=float, metavar="SHARE", help="instead of elasticities: the figure with each value so much lower and higher")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes on this machine (default: one a core)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--out", metavar="FILE", help="write it there: .json or .csv")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    a = parser.parse(argv)
    if a.out and not a.out.endswith((".json", ".csv")):
        raise ConfigError(f"--out: expected a name that ends in .json or .csv, got '{a.out}'")
    show = False if a.quiet else None
    if a.swing is None:
        frame = elasticities(a.scenario, a.key, a.figure, step=a.step, overrides=overrides_of(a), jobs=a.jobs, progress=show)
    else:
        frame = tornado(a.scenario, a.key, a.figure, swing=a.swing, overrides=overrides_of(a), jobs=a.jobs, progress=show)
    frame["error"] = frame["error"].astype(object).where(frame["error"].notna(), None)
    answer = {**frame.attrs, "keys": frame.to_dict("records")}
    if a.out and a.out.endswith(".csv"):
        frame.to_csv(a.out, index=False)
    elif a.out:
        write_json(answer, a.out)
    if a.json:
        write_json(answer, None)
    else:
        shown = frame if frame["error"].notna().any() else frame.drop(columns="error")
        print(f"{frame.attrs['figure']} = {frame.attrs['base']:.6g} as the scenario is\n")
        print(shown.to_string(index=False, na_rep="", float_format=lambda x: f"{x:.4g}"))
    return 0
