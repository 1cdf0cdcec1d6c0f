"""What a sweep found: its table as a pandas frame, and what one asks of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence

from .._core import ScenarioRuns, suggestion
from ..errors import ConfigError
from . import table as tables
from .fronts import front, sign

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Sweep"]

_NOT_SHOWN = ("sweep", "points", "id", "scenario")


class Sweep:
    """The rows of a sweep.

    Attributes
    ----------
    frame : pandas.DataFrame
        A row a point, in the plan's order. Columns: ``sweep``, ``points``, ``point``, ``id``, the keys swept over, the figures (units:
        `units`), ``regime``, ``confidence``, ``error``, ``scenario`` and ``wall_seconds``.
    keys : tuple of str
        What was swept over.
    """

    def __init__(self, table: tables.Table, keys: Sequence[str]) -> None:
        self.table = table
        self.keys = tuple(keys)
        self.frame: pd.DataFrame = table.frame()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Sweep:
        """A table that ``ridgeline sweep --out`` or `write` has written.

        Parameters
        ----------
        path
            The file: Parquet or CSV, by its suffix.

        Returns
        -------
        Sweep
            What was written.

        Raises
        ------
        ConfigError
            It cannot be read, or is no table of a sweep.
        """
        table = tables.read(Path(path))
        others = {name for name, *_ in ScenarioRuns.figures()} | {*_NOT_SHOWN, "point", "regime", "confidence", "error", "wall_seconds"}
        return cls(table, [name for name in table.names if name not in others])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table.

        Parameters
        ----------
        path
            The file: Parquet or CSV, by its suffix.

        Raises
        ------
        ConfigError
            Another suffix, or it cannot be written.
        """
        self.table.write(Path(path))

    @staticmethod
    def units() -> dict[str, str]:
        """The unit of every figure."""
        return {name: unit for name, unit, *_ in ScenarioRuns.figures()}

    @property
    def ran(self) -> pd.DataFrame:
        """The rows of points that ran."""
        return self.frame[self.frame["error"].isna()]

    @property
    def errors(self) -> pd.Series[int]:
        """How many points did not run, by reason, the most frequent first."""
        return self.frame["error"].dropna().value_counts()

    def pareto(self, *figures: str) -> pd.DataFrame:
        """The points that no other is better than in all of these figures at once.

        Parameters
        ----------
        figures
            Two or more; by default ``output_throughput_per_user`` and ``output_throughput_per_gpu``, both in tokens/s. Which way is
            better is the figure's: more throughput, less latency and cost.

        Returns
        -------
        pandas.DataFrame
            Rows of `frame`, sorted by the first figure. Of points that are equal in all of them the first.

        Raises
        ------
        ConfigError
            No such figure, one of which neither direction is better, or fewer than two.

        Examples
        --------
        >>> import ridgeline as rl
        >>> s = rl.sweep("chat_8b", {"engine.max_num_seqs": "1,4"}, overrides={"workload.requests": 20}, jobs=1)
        >>> list(s.pareto("output_throughput_per_user", "output_throughput")["engine.max_num_seqs"])
        [4, 1]
        """
        names = figures or ("output_throughput_per_user", "output_throughput_per_gpu")
        if len(names) < 2:
            raise ConfigError("pareto: expected two figures or more")
        known = self.ran.dropna(subset=[_known(name, "pareto") for name in names])
        return front(known, names, "pareto")

    def best(self, figure: str, **limits: float) -> pd.Series[Any]:
        """The row that is best in a figure, of those within limits.

        Parameters
        ----------
        figure
            Its name; which way is better is the figure's.
        **limits
            Other figures that must be at most so much, or at least where more is better: ``best("output_throughput", p99_ttft_ms=2000)``.

        Returns
        -------
        pandas.Series
            A row of `frame`.

        Raises
        ------
        ConfigError
            No such figure, or no point within the limits; says which limit none meets.
        """
        rows = self.ran.dropna(subset=[_known(figure, "best")])
        for name, limit in limits.items():
            way = sign(_known(name, "best"), "best")
            within = rows[rows[name] * way >= limit * way]
            if within.empty:
                nearest = (rows[name] * way).max() * way if len(rows) else float("nan")
                raise ConfigError(f"best: no point has {name} at {'least' if way > 0 else 'most'} {limit:g}; the nearest has {nearest:.4g}")
            rows = within
        if rows.empty:
            raise ConfigError(f"best: no point has a {figure}")
        return rows.iloc[int((rows[figure] * sign(figure, "best")).to_numpy().argmax())]

    def over_seeds(self) -> pd.DataFrame:
        """Figures over seeds.

        Returns
        -------
        pandas.DataFrame
            A row for each setting of the other keys, with the mean of every figure over the seeds and its standard deviation as ``NAME_std``.

        Raises
        ------
        ConfigError
            The sweep has no seeds.
        """
        if "seed" not in self.keys:
            raise ConfigError("over_seeds: expected a sweep with seeds")
        keys = [key for key in self.keys if key != "seed"]
        names = [name for name, *_ in ScenarioRuns.figures()]
        ran = self.ran if keys else self.ran.assign(all="all")
        groups = ran.groupby(keys or ["all"], sort=False)[names]
        return groups.mean().join(groups.std().add_suffix("_std")).reset_index()

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        failed = int(self.frame["error"].notna().sum())
        return f"<Sweep: {len(self)} points over {', '.join(self.keys) or 'nothing'}{f', {failed} of them did not run' if failed else ''}>"

    def _repr_html_(self) -> str:
        shown = self.frame.drop(columns=[name for name in _NOT_SHOWN if name in self.frame])
        html: str = shown.to_html(max_rows=20, na_rep="", float_format=lambda x: f"{x:.4g}")
        return html


def _known(name: str, where: str) -> str:
    names = [figure for figure, *_ in ScenarioRuns.figures()]
    if name not in names:
        raise ConfigError(f"{where}: no figure is named '{name}'{suggestion(name, names)}")
    return name
