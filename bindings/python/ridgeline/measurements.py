"""Single kernels and tables of measurements: predict, validate, calibrate."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _core
from ._values import StrPath, path_list
from .errors import ConfigError
from .scenarios import AnyScenario, Scenario

__all__ = ["calibrate", "predict", "validate"]


def predict(
    operation: str,
    table: StrPath | Iterable[Mapping[str, Any]],
    hw: StrPath | None = None,
) -> list[dict[str, Any]]:
    """How long kernels take on a machine, with error bars.

    Parameters
    ----------
    operation
        ``"gemm"``, ``"attention"``, ``"allreduce"`` or ``"moe"``; ``ridgeline predict --help`` lists the columns each needs.
    table
        A CSV file with a header, or rows as mappings: ``[{"hw": "MI300X", "M": 16, "N": 8192, "K": 8192, "dtype": "bf16"}]``.
        Of a pandas frame: ``frame.to_dict("records")``.
    hw
        The machine of every row, whatever its ``hw`` column says: a name or a file.

    Returns
    -------
    list of dict
        The rows again, each with ``predicted_us``, ``low_us`` and ``high_us`` (microseconds; nine of ten measurements lie
        between the last two), ``binds`` (what most of the time goes to) and ``flags`` (why to be careful, a list). A row that
        cannot be predicted has None for the numbers, and the reason as its flag. ``pandas.DataFrame`` takes it as it is.

    Raises
    ------
    ConfigError
        No such operation or machine, or the file is no table.
    """
    machine = "" if hw is None else os.fspath(hw)
    if isinstance(table, (str, os.PathLike)):
        header, answer = _read(_core.predict_file(operation, os.fspath(table), machine))
        rows: list[dict[str, Any]] = [dict(zip(header[: -len(_PREDICTED)], cells)) for cells in answer]
    else:
        rows = [dict(row) for row in table]
        names = list(dict.fromkeys(key for row in rows for key in row))
        if not names:
            raise ConfigError("table: expected rows with columns, got nothing")
        text = io.StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([names, *([_cell(row.get(name)) for name in names] for row in rows)])
        _, answer = _read(_core.predict_text(operation, text.getvalue(), machine))
    for row, cells in zip(rows, answer):
        *numbers, binds, flags = cells[-len(_PREDICTED) :]
        row |= zip(_PREDICTED, [*(float(number) if number else None for number in numbers), binds])
        # A reason is one sentence, whatever it holds.
        row["flags"] = [flag for flag in flags.split("; ") if flag] if numbers[0] else [flags]
    return rows


def validate(
    paths: StrPath | Iterable[StrPath],
    hw: StrPath | None = None,
    scenario: AnyScenario | None = None,
) -> list[dict[str, Any]]:
    """Predictions held against tables of measurements.

    Parameters
    ----------
    paths
        CSV files of measured kernels or servers, or folders of them; one or several.
    hw
        The machine of every row of kernels, whatever its ``hw`` column says: a name or a file.
    scenario
        The server of recorded runs (JSON lines with the times of every request): a `Scenario`, a name or a file.

    Returns
    -------
    list of dict
        Groups of rows that are judged together. ``fitted`` and ``held_back`` (a quarter of the rows, chosen by a hash of their
        cells): ``rows``, ``median_error``, ``p90_error`` and ``bias``, relative, of predicted over measured. ``inside_interval``:
        share of the measurements within the predicted interval, 0.9 if the error bars are right. ``below_floor``: predictions
        that no kernel could reach, 0 unless there is a bug. ``misses_beyond_twice``: rows, with seconds.

    Raises
    ------
    ConfigError
        A file cannot be read or is no table, no such machine, or no table holds measured kernels.
    """
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(scenario, Scenario):
            whole = Path(folder, "scenario.yaml")
            whole.write_text(scenario.to_yaml(), encoding="utf-8")
            scenario = whole
        names = ("" if name is None else os.fspath(name) for name in (hw, scenario))
        answer: list[dict[str, Any]] = json.loads(_core.validate(path_list(paths), *names))
    return answer


def calibrate(
    paths: StrPath | Iterable[StrPath],
    hw: StrPath,
    only: str = "",
    every_row: bool = False,
) -> dict[str, Any]:
    """Fit a machine's constants to tables of measured kernels.

    Parameters
    ----------
    paths
        CSV files of measured kernels, or folders of them; one or several.
    hw
        The machine that is fitted, and where the fit starts: a name or a file.
    only
        Fit those places of the machine's file whose name holds this, such as ``"gemm"``.
    every_row
        Take all rows for this machine's, whatever their ``hw`` column says.

    Returns
    -------
    dict
        ``places``: for each its ``constants`` (``shipped`` and ``fitted`` with units, ``relative_error`` of one standard
        deviation, None where the rows do not say) and relative errors of predictions before and after, of the rows fitted and of
        those held back; ``why_not`` where nothing was fitted. ``machine``: the fitted machine as YAML, to be saved and given as
        ``hw``.

    Raises
    ------
    ConfigError
        A file cannot be read or is no table, no such machine, no row is about it, or ``only`` names no place.
    """
    answer: dict[str, Any] = json.loads(_core.calibrate(path_list(paths), os.fspath(hw), only, every_row))
    return answer


_PREDICTED = ("predicted_us", "low_us", "high_us", "binds", "flags")


def _read(text: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV text."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, rows


def _cell(value: Any) -> str:
    """A value as a cell; nothing for None and NaN, which is how pandas says that there is nothing."""
    return "" if value is None or value != value else str(value)
