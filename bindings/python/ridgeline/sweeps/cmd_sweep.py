"""``ridgeline sweep`` and ``ridgeline merge``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Sequence

from ..errors import ConfigError
from . import journal, table
from .command_line import Parser, add_scenario, overrides_of, write_json
from .run import parse_grid, reasons, sweep
from .result import Sweep
from .values import parse_assignment, parse_values, split_outside_brackets

__all__ = ["merge_command", "sweep_command"]

SWEEP = "run a scenario at many settings: grids, samples, interventions, seeds; on many cores or machines"
MERGE = "one table from the tables of a sweep's shards"

_EXAMPLES = """\
  ridgeline sweep chat_8b --grid engine.max_num_seqs=1,2,4...256 --grid model.quantization=none,fp8 --out batch.parquet
  ridgeline sweep chat_8b --grid engine.max_num_seqs=1..256*2 --grid workload.arrivals.gamma.rate='2 /s..10 /s:2 /s'
  ridgeline sweep chat_8b --grid hw+usd_per_gpu_hour=mi300x+2.5,h100_sxm+2.9 --seeds 1..5
  ridgeline sweep chat_8b --lhs 200 --range engine.max_num_seqs=1..512:log --range engine.gpu_memory_utilization=0.5..0.95
  ridgeline sweep chat_8b --grid engine.max_num_seqs=1..256 --shard 1/4 --out part1.parquet
  ridgeline sweep chat_8b --grid engine.max_num_seqs=1..256 --dask tcp://10.0.0.1:8786 --out all.csv

Values: 1,2,8 are these; 1..5 whole numbers; 0.5..2:0.25 in steps; 1..256*2 by a factor; 1,2,4...256 goes on as it began. Keys joined
by '+' change together: one value is for each of them, values joined by '+' are one for each key. Several axes are combined.

Without --out the table is printed. With it, finished runs are kept in OUT.journal until the table is written: after a kill or Ctrl-C
the same command with --resume goes on from there. Points that cannot run are rows with the reason in the column 'error'.

Exit codes: 0 done, 2 wrong input, 3 no point could run, 130 stopped by Ctrl-C.
"""


def sweep_command(argv: Sequence[str]) -> int:
    """``ridgeline sweep``."""
    parser = Parser("sweep", SWEEP, _EXAMPLES)
    add_scenario(parser)
    plan = parser.add_argument_group("points")
    plan.add_argument("--grid", action="append", default=[], metavar="KEY=VALUES", help="an axis; several are combined, the last one fastest")
    plan.add_argument("--range", action="append", default=[], metavar="KEY=LOW..HIGH[:log]", help="what --random and --lhs sample")
    plan.add_argument("--random", type=int, default=0, metavar="N", help="so many independent samples of the ranges")
    plan.add_argument("--lhs", type=int, default=0, metavar="N", help="so many samples as a Latin hypercube")
    plan.add_argument("--sample-seed", type=int, default=1, metavar="SEED", help="of the samples (default 1)")
    plan.add_argument("--whatif", action="append", default=[], metavar="NAMES", help="interventions as an axis: quantize:int4,quantize:fp8+graphs:on,none")
    plan.add_argument("--seeds", metavar="SEEDS", help="run every point with each of these seeds: 1..5")
    who = parser.add_argument_group("who runs them")
    who.add_argument("--jobs", type=int, metavar="N", help="processes on this machine (default: one a core)")
    who.add_argument("--dask", metavar="ADDRESS", help="the workers of this Dask scheduler instead")
    who.add_argument("--shard", metavar="I/N", help="only every N-th point, from the I-th on; 'ridgeline merge' puts them together")
    what = parser.add_argument_group("results")
    what.add_argument("--out", metavar="FILE", help="the table: .parquet or .csv")
    what.add_argument("--resume", action="store_true", help="go on with the runs that are in OUT.journal")
    what.add_argument("--no-timing", action="store_true", help="leave out wall_seconds: the table is then the same, byte for byte, in every attempt")
    what.add_argument("--no-diagnosis", action="store_true", help="leave regime and confidence empty; faster")
    what.add_argument("--json", action="store_true", help="print the rows as JSON")
    what.add_argument("--quiet", action="store_true", help="no progress on stderr")
    a = parser.parse(argv)
    if a.resume and not a.out:
        raise ConfigError("--resume: expected --out too: the journal is beside the table")
    if a.shard and not a.out:
        raise ConfigError("--shard: expected --out too: 'ridgeline merge' takes the tables")
    if not (a.grid or a.random or a.lhs or a.whatif or a.seeds):
        raise ConfigError("sweep: expected points: --grid, --random, --lhs, --whatif or --seeds")
    try:
        result = sweep(
            a.scenario,
            parse_grid(a.grid),
            ranges=_ranges(a.range),
            random=a.random,
            lhs=a.lhs,
            whatif=[name for text in a.whatif for name in _interventions(text)] or None,
            seeds=_seeds(a.seeds) if a.seeds else None,
            overrides=overrides_of(a),
            sample_seed=a.sample_seed,
            jobs=a.jobs,
            dask=a.dask,
            shard=a.shard,
            out=a.out,
            resume=a.resume,
            timing=not a.no_timing,
            diagnose=not a.no_diagnosis,
            progress=False if a.quiet else None,
        )
    except KeyboardInterrupt:
        kept = journal.path_for(Path(a.out)) if a.out else None
        if kept is None:
            again = "nothing was kept: there is no --out"
        elif kept.exists():
            again = f"finished runs are in {kept}; the same command with --resume goes on"
        else:
            again = "no run had begun"
        print(f"ridgeline: stopped; {again}", file=sys.stderr)
        return 130
    return _tell(result, a)


def _tell(result: Sweep, a: argparse.Namespace) -> int:
    failed = reasons(result.table)
    for why, times in failed[:5]:
        print(f"ridgeline: {times} of {len(result)} points could not run: {why.splitlines()[0]}", file=sys.stderr)
    if len(failed) > 5:
        print(f"ridgeline: and {len(failed) - 5} other reasons; see the column 'error'", file=sys.stderr)
    if a.json:
        rows = [dict(zip(result.table.names, row)) for row in zip(*result.table.columns)]
        write_json(rows, None)
    elif a.out:
        print(f"{len(result)} rows in {a.out}")
    else:
        _print_rows(result)
    return 3 if sum(times for _, times in failed) == len(result) else 0


_SHOWN = ("training_throughput", "output_throughput", "output_throughput_per_user", "mean_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "usd_per_million_output_tokens")


def _print_rows(result: Sweep) -> None:
    columns = [*result.keys, *(name for name in _SHOWN if result.frame[name].notna().any()), "regime"]
    if result.frame["error"].notna().any():
        columns.append("error")
    print(result.frame[columns].to_string(index=False, na_rep="", float_format=lambda x: f"{x:.4g}", max_colwidth=60))
    print("\nAll figures and the scenarios: --out FILE.parquet or --json")


def _ranges(texts: Sequence[str]) -> dict[str, str | tuple[float, float]]:
    out: dict[str, str | tuple[float, float]] = {}
    for text in texts:
        keys, values = parse_assignment(text, "--range")
        out["+".join(keys)] = values
    return out


def _interventions(text: str) -> list[str]:
    """Names between commas; a comma may also part the arguments of one: ``speculate:k=4,acceptance=0.7,none`` are two."""
    names: list[str] = []
    for part in split_outside_brackets(text, ","):
        key, equals, _ = part.partition("=")
        if names and ":" in names[-1] and equals and not set(".:") & set(key):
            names[-1] += "," + part
        else:
            names.append(part)
    return names


def _seeds(text: str) -> list[int]:
    values = parse_values(text, "--seeds")
    if any(not value.isdigit() for value in values):
        raise ConfigError(f"--seeds: expected whole numbers like 1..5, got '{text}'")
    return [int(value) for value in values]


def merge_command(argv: Sequence[str]) -> int:
    """``ridgeline merge``."""
    parser = Parser("merge", MERGE, "  ridgeline merge part1.parquet part2.parquet --out all.parquet\n")
    parser.add_argument("tables", nargs="+", metavar="TABLE", help="a table of 'ridgeline sweep --shard I/N --out TABLE'")
    parser.add_argument("--out", required=True, metavar="FILE", help="the whole table, of the same kind")
    a = parser.parse(argv)
    out = Path(a.out)
    table.require_suffix(out)
    paths = [Path(name) for name in a.tables]
    if odd := [path for path in paths if path.suffix != out.suffix]:
        raise ConfigError(f"{odd[0]}: expected a table of the same kind as --out, {out.suffix}")
    if same := [path for path in paths if path.exists() and out.exists() and path.samefile(out)]:
        raise ConfigError(f"--out: {out}: expected another file than the tables to merge, got {same[0]} itself")
    whole = table.merged([table.read(path) for path in paths], a.tables)
    whole.write(out)
    print(f"{len(whole)} rows in {out}")
    return 0
