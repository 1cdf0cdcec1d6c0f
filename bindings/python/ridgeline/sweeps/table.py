"""The table of a sweep: one row a point, Parquet or CSV by the suffix of its name.

Columns, in order: ``sweep`` (which sweep: equal in all its shards), ``points`` (how many it has in all), ``point`` (which of them, from 0),
``id`` (of scenario and settings), a column for each key of the plan, the figures, ``regime`` and ``confidence`` of the diagnosis,
``error`` (why a point has no figures), ``scenario`` (all of it, as YAML that runs again), and ``wall_seconds``, unless left out: without it
the table is the same, byte for byte, whoever ran its points and in how many pieces.
"""

from __future__ import annotations

import csv
import importlib
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Sequence

from .._core import ScenarioRuns
from ..errors import ConfigError
from .plan import Plan, Point
from .values import parse_quantity
from .worker import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "merged", "read", "require_suffix"]

_SUFFIXES = (".parquet", ".csv")
_OWN = ("sweep", "points", "point", "id")


@dataclass(frozen=True)
class Table:
    """Names, kinds (``int``, ``float`` or ``str``) and values of the columns."""

    names: tuple[str, ...]
    kinds: tuple[type, ...]
    columns: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, plan: Plan, points: Sequence[Point], rows: Sequence[Row], timing: bool) -> Table:
        """The rows of a plan's points, both in the same order."""
        sweep = plan.id
        head: list[tuple[str, type, list[Any]]] = [
            ("sweep", str, [sweep] * len(points)),
            ("points", int, [len(plan)] * len(points)),
            ("point", int, [point.index for point in points]),
            ("id", str, [point.id for point in points]),
        ]
        kinds = _kinds_of_keys(plan)
        values = [dict(point.settings) for point in points]
        settings = [(key, kinds[key], [kinds[key](value[key]) for value in values]) for key in plan.keys]
        answered: list[tuple[str, type]] = [(name, float) for name, *_ in ScenarioRuns.figures()]
        answered += [("regime", str), ("confidence", float), ("error", str), ("scenario", str)]
        answered += [("wall_seconds", float)] if timing else []
        whole = [*head, *settings, *((name, kind, [row[name] for row in rows]) for name, kind in answered)]
        names, types, columns = zip(*whole)
        return cls(names, types, tuple(tuple(column) for column in columns))

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, name: str) -> tuple[Any, ...]:
        return self.columns[self.names.index(name)]

    def frame(self) -> pd.DataFrame:
        """The same as a pandas frame; nothing is NaN in numbers and None in text."""
        import pandas as pd

        types = {int: "int64", float: "float64", str: "object"}
        return pd.DataFrame({n: pd.Series(c, dtype=types[k]) for n, k, c in zip(self.names, self.kinds, self.columns)})

    def write(self, path: Path) -> None:
        """Write it, beside and then in its place, so that there is never a part of it there."""
        require_suffix(path)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            if path.suffix == ".csv":
                beside.write_text(self._csv(), encoding="utf-8", newline="")
            else:
                self._write_parquet(beside)
            os.replace(beside, path)
        except OSError as why:
            raise ConfigError(f"{path}: cannot be written: {why.strerror}") from why
        finally:
            beside.unlink(missing_ok=True)

    def _csv(self) -> str:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows(["" if cell is None else repr(cell) if isinstance(cell, float) else cell for cell in row] for row in zip(*self.columns))
        return text.getvalue()

    def _write_parquet(self, path: Path) -> None:
        import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-untyped, unused-ignore]

        types = {int: pa.int64(), float: pa.float64(), str: pa.string()}
        schema = pa.schema([(name, types[kind]) for name, kind in zip(self.names, self.kinds)])
        arrays = [pa.array(column, type=field.type) for column, field in zip(self.columns, schema)]
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


def require_suffix(path: Path) -> None:
    """Raise ConfigError unless it is a name for a table, and ModuleNotFoundError where what writes it is not there."""
    if path.suffix not in _SUFFIXES:
        raise ConfigError(f"--out: expected a name that ends in .parquet or .csv, got '{path}'")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ConfigError(f"--out: {path}: {'is a directory' if path.is_dir() else 'no such directory'}")
    if path.suffix == ".parquet":
        importlib.import_module("pyarrow.parquet")


def read(path: Path) -> Table:
    """A table that was written here, or one that looks like it.

    Raises
    ------
    ConfigError
        It cannot be read, or lacks the columns that say of which sweep it is.
    """
    if path.suffix not in _SUFFIXES:
        raise ConfigError(f"{path}: expected a table that ends in .parquet or .csv")
    try:
        table = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    except OSError as why:
        raise ConfigError(f"{path}: cannot be read: {why.strerror or why}") from why
    if missing := [name for name in _OWN if name not in table.names]:
        raise ConfigError(f"{path}: expected the table of a sweep, got one without the column '{missing[0]}'")
    return table


def _read_parquet(path: Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as why:
        raise ConfigError(f"{path}: expected a Parquet file: {str(why).splitlines()[0]}") from why
    kinds = tuple(int if pa.types.is_integer(f.type) else float if pa.types.is_floating(f.type) else str for f in table.schema)
    return Table(tuple(table.column_names), kinds, tuple(tuple(column.to_pylist()) for column in table.columns))


def _read_csv(path: Path) -> Table:
    figures = {name for name, *_ in ScenarioRuns.figures()} | {"confidence", "wall_seconds"}
    with open(path, encoding="utf-8", newline="") as file:
        names, *rows = list(csv.reader(file)) or [[]]
    if any(len(row) != len(names) for row in rows):
        raise ConfigError(f"{path}: expected {len(names)} cells in every row")
    columns = list(zip(*rows)) if rows else [()] * len(names)
    kinds = [float if n in figures else str if n in ("sweep", "id", "regime", "error", "scenario") else _kind_of(c) for n, c in zip(names, columns)]
    try:
        typed = tuple(tuple(None if cell == "" else kind(cell) for cell in column) for kind, column in zip(kinds, columns))
    except ValueError as why:
        raise ConfigError(f"{path}: expected numbers in the columns of figures: {why}") from why
    return Table(tuple(names), tuple(kinds), typed)


def _kind_of(texts: Iterable[str]) -> type:
    """Whole numbers, numbers, or words: what all of them are."""
    kind: type = int
    for text in texts:
        quantity = parse_quantity(text)
        if quantity is None or quantity.unit:
            return str
        if not text.lstrip("+-").isdigit():
            kind = float
    return kind


def _kinds_of_keys(plan: Plan) -> dict[str, type]:
    """Of the whole plan's values, so that all shards agree."""
    return {key: _kind_of(setting[i] for setting in axis.settings) for axis in plan.axes for i, key in enumerate(axis.keys)}


def merged(tables: Sequence[Table], names: Sequence[str]) -> Table:
    """The table of the whole sweep from those of its shards, in whatever order these come.

    Raises
    ------
    ConfigError
        They are not shards of one sweep, have other columns, or a point is missing or there twice; says which.
    """
    first = tables[0]
    for table, name in zip(tables, names):
        if table.names != first.names:
            odd = sorted(set(table.names) ^ set(first.names)) or ["the order"]
            raise ConfigError(f"{name}: expected the columns of {names[0]}; they differ in {', '.join(odd[:5])}")
        for key, what in (("sweep", "sweep"), ("points", "number of points")):
            if other := set(table[key]) - set(first[key][:1]):
                raise ConfigError(f"{name}: expected shards of one sweep; its {what} is {other.pop()}, that of {names[0]} {first[key][0]}")
    if not any(len(table) for table in tables):
        raise ConfigError(f"{names[0]}: expected rows, got none")
    where: dict[int, str] = {}
    for table, name in zip(tables, names):
        for point in table["point"]:
            if point in where:
                raise ConfigError(f"{name}: point {point} is also in {where[point]}")
            where[point] = name
    points = next(table for table in tables if len(table))["points"][0]
    missing = sorted(set(range(points)) - set(where))
    if missing:
        some = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise ConfigError(f"{len(missing)} of {points} points are in none of the {len(tables)} tables: {some}")
    if strangers := sorted(set(where) - set(range(points))):
        raise ConfigError(f"{where[strangers[0]]}: expected points from 0 to {points - 1}, got {strangers[0]}")
    order = sorted((point, t, r) for t, table in enumerate(tables) for r, point in enumerate(table["point"]))
    kinds = tuple(max((table.kinds[c] for table in tables), key=(int, float, str).index) for c in range(len(first.names)))
    columns = tuple(tuple(tables[t].columns[c][r] for _, t, r in order) for c in range(len(first.names)))
    return Table(first.names, kinds, columns)
