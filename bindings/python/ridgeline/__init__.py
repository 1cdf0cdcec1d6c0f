"""Ridgeline simulates an LLM inference server on a GPU and says what its speed is bound by.

The same as the program ``ridgeline``, from Python::

    import ridgeline
    run = ridgeline.run("chat_8b", {"engine.max_num_seqs": 64})
    run["result"]["output_throughput"]      # tokens per second
    run["diagnosis"]["regime"]              # "bandwidth_bound", ...
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, Mapping

from ._core import ConfigError, SimulationError
from . import _core

if TYPE_CHECKING:
    from .sweeps.capacity import Capacity, capacity
    from .sweeps.result import Sweep
    from .sweeps.run import sweep
    from .sweeps.sensitivity import elasticities, tornado

__all__ = ["ConfigError", "Diagnosis", "SimulationError", "run", "diagnose", "inspect", "read_pasted", "evidence_template", "check_evidence", "compare", "predict", "validate", "calibrate", "exercise", "Capacity", "Sweep", "capacity", "elasticities", "sweep", "tornado"]


def run(
    scenario: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Simulate a scenario and diagnose it.

    Parameters
    ----------
    scenario
        A scenario file, or the name of a shipped one.
    overrides
        Values to change, by dotted key: ``{"engine.max_num_seqs": 64}``. Quantities carry their unit, as in YAML:
        ``{"stack.launch.issue": "20 us"}``.
    out
        Directory to keep the run in; nothing is written when left out.

    Returns
    -------
    dict
        ``result``: metrics by the names of vLLM's benchmark (milliseconds where the name ends in ``_ms``, else SI units);
        ``diagnosis``: regime, evidence, fixes and rejects.

    Raises
    ------
    ConfigError
        The scenario, an override or a trace is wrong; a subclass of ``ValueError``. Says where.
    SimulationError
        The scenario is well formed but cannot run; a subclass of ``RuntimeError``.
    """
    pairs = [(key, _yaml(value)) for key, value in (overrides or {}).items()]
    return json.loads(_core.run(os.fspath(scenario), pairs, "" if out is None else os.fspath(out)))


class Diagnosis(Dict[str, Any]):
    """A diagnosis: a dictionary, and the same told in other forms. A notebook shows it as markdown.

    Of a trace that cannot be believed every form is empty; ``cannot_tell`` in the dictionary says why.
    """

    def __init__(self, told: _core.Told) -> None:
        super().__init__(json.loads(told.json()))
        self._told = told

    def __str__(self) -> str:
        """As the program prints it."""
        return self._told.text() or super().__str__()

    def to_markdown(self) -> str:
        """To paste into an issue."""
        return self._told.markdown()

    def to_memo(self) -> str:
        """A page in markdown for whoever decides: what to do, what it gains and costs, what is not known."""
        return self._told.memo()

    def explain(self, quantity: str = "") -> str:
        """From what each number came, down to what was given, read or assumed; or one number, by its name.

        Raises
        ------
        ConfigError
            No number has that name; says which is near.
        """
        return self._told.explain(quantity)

    def derivations(self) -> list[dict[str, Any]]:
        """The same as a list of steps, operands first: ``id``, ``value``, ``operation``, ``from`` (ids), ``place`` ..."""
        steps: list[dict[str, Any]] = json.loads(self._told.derivations())
        return steps

    def _repr_markdown_(self) -> str:
        return self.to_markdown() or f"This trace cannot tell: {self.get('cannot_tell')}."

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (dict(self),)  # what is pickled or copied is the dictionary


def diagnose(
    evidence: str | os.PathLike[str],
    hw: str | None = None,
    model: str | None = None,
) -> Diagnosis:
    """Diagnose a finished run, typed evidence or a profiler's trace.

    Parameters
    ----------
    evidence
        The directory of a run; a YAML file with any subset of machine, model, serving, measured and profile; a file of text as tools
        print it; or a trace as `inspect` reads it.
    hw, model
        Of a trace: names or paths of configurations, where the trace does not say the GPU, and from which bytes and FLOP follow.

    Returns
    -------
    Diagnosis
        A dictionary: regime, phase, confidence, settling evidence, time budget (seconds), fixes, rejects, inconsistencies, question. Of a trace
        also ``gates`` and ``notes``; ``regime`` is None, and ``cannot_tell`` says why, where the trace cannot be believed.

    Raises
    ------
    ConfigError
        The file or the directory is wrong; says where.
    """
    path = os.fspath(evidence)
    if _core.looks_like_trace(path):
        return Diagnosis(_core.diagnose_trace(path, hw or "", model or ""))
    if hw or model:
        raise ConfigError("hw and model go with a trace; evidence and runs say their machine and model themselves")
    return Diagnosis(_core.diagnose(path))


def exercise(n: int = 5, seed: int = 1, source: str = "all", level: str = "percentages") -> list[dict[str, Any]]:
    """Exercises in diagnosis, as ``ridgeline drill`` gives them.

    Parameters
    ----------
    n, seed
        How many; the same for the same seed.
    source
        ``"cases"``, ``"generated"``, ``"reports"`` or ``"all"``.
    level
        What is known of a generated server: ``"throughput"`` or ``"percentages"``.

    Returns
    -------
    list of dict
        ``title``, ``sheet`` (the evidence, as text) and ``questions``: each with ``question``, ``text``, ``right`` (a letter) and ``choices``
        (``letter``, ``name``, ``text``, ``verdict``, ``why``).

    Raises
    ------
    ConfigError
        No such source or level, or nothing says what is true of the reports.
    """
    items: list[dict[str, Any]] = json.loads(_core.exercise(n, seed, source, level))
    return items


def inspect(trace: str | os.PathLike[str], top: int = 15) -> dict[str, Any]:
    """What a profiler's trace holds: kernels by class and name, gaps and their causes, whether to believe it.

    Parameters
    ----------
    trace
        A file of the PyTorch profiler, rocprofv3, rocprof, RPD or rocprofiler-compute, compressed or not; or a directory of
        rocprofv3 CSV files.
    top
        How many kernels to list by name.

    Returns
    -------
    dict
        ``kernel_count``, ``device_span_ns``, ``device_busy_ns``, ``kernels_by_class``, ``top_kernels``, ``devices``, ``gaps``,
        ``gates`` and more. Times in nanoseconds.

    Raises
    ------
    ConfigError
        The file cannot be read, or is no recording; says what it is and what is understood.
    """
    return json.loads(_core.inspect(os.fspath(trace), top))


def read_pasted(text: str | bytes) -> dict[str, Any]:
    """Evidence from text that people paste: benchmark summaries, engine logs, kernel tables, what GPU tools show, commands.

    Parameters
    ----------
    text
        All of it in one piece, in any order. ``ridgeline evidence formats`` lists what is known; the rest is left unread.

    Returns
    -------
    dict
        ``facts`` (each with ``key``, ``value`` as evidence has it, ``line``, ``line_number`` and ``format``), ``kernels`` (``name``,
        ``calls``, ``seconds``, ``line_number``), ``unread`` lines, and ``notes`` about what was chosen and what was ambiguous.

    Raises
    ------
    TypeError
        It is neither text nor bytes. No text is wrong: what is not known is unread.

    Examples
    --------
    >>> ridgeline.read_pasted("Mean TTFT (ms):  12.30")["facts"][0]["value"]
    '12.30 ms'
    """
    return json.loads(_core.read_pasted(text))


def evidence_template(training: bool = False) -> str:
    """The evidence file that a person fills in: every key with its meaning and an example, commented out.

    Parameters
    ----------
    training
        The quantities of a training step instead of a server's.

    Returns
    -------
    str
        YAML that `diagnose` and `check_evidence` take once a line of it is filled in.

    Raises
    ------
    TypeError
        ``training`` is no truth value.
    """
    return _core.evidence_template("mi300x", "llama3_8b", training)


def check_evidence(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is understood of some evidence, and which number that is missing would tell most.

    Parameters
    ----------
    path
        A YAML file as `diagnose` takes it, or a file of pasted text.

    Returns
    -------
    dict
        ``understood`` (facts with ``path``, ``value``, ``low``, ``high``, ``origin``, ``place``), ``assumed`` and ``unknown`` (sentences),
        ``missing`` (``path``, ``meaning``, ``separates``, ``sentence``, ``bands`` of values with one regime), ``regime``, ``confidence``,
        ``notes``.

    Raises
    ------
    ConfigError
        The file is wrong; says where.
    """
    return json.loads(_core.check_evidence(os.fspath(path)))


def compare(
    trace: str | os.PathLike[str],
    scenario: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A trace beside a simulation of the same steps.

    Parameters
    ----------
    trace
        As for `inspect`; its annotations must say what its steps hold.
    scenario, overrides
        As for `run`; machine, model and stack are used.

    Returns
    -------
    dict
        ``classes`` and ``roles``: rows with real and simulated seconds a step, and their ratio (None where one side has none).

    Raises
    ------
    ConfigError
        The trace or the scenario is wrong, or no step's batch is known.
    """
    pairs = [(key, _yaml(value)) for key, value in (overrides or {}).items()]
    return json.loads(_core.compare(os.fspath(trace), os.fspath(scenario), pairs))


def predict(
    operation: str,
    table: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    hw: str | os.PathLike[str] | None = None,
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
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    hw: str | os.PathLike[str] | None = None,
    scenario: str | os.PathLike[str] | None = None,
) -> list[dict[str, Any]]:
    """Predictions held against tables of measurements.

    Parameters
    ----------
    paths
        CSV files of measured kernels or servers, or folders of them; one or several.
    hw
        The machine of every row of kernels, whatever its ``hw`` column says: a name or a file.
    scenario
        The server of recorded runs (JSON lines with the times of every request): a name or a file.

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
    return json.loads(_core.validate(_paths(paths), "" if hw is None else os.fspath(hw), "" if scenario is None else os.fspath(scenario)))


def calibrate(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    hw: str | os.PathLike[str],
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
    return json.loads(_core.calibrate(_paths(paths), os.fspath(hw), only, every_row))


_PREDICTED = ("predicted_us", "low_us", "high_us", "binds", "flags")


def _read(text: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV text."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, rows


def _paths(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def _cell(value: Any) -> str:
    """A value as a cell; nothing for None and NaN, which is how pandas says that there is nothing."""
    return "" if value is None or value != value else str(value)


def _yaml(value: Any) -> str:
    """A Python value as YAML: JSON is YAML, and strings are taken as they stand."""
    return value if isinstance(value, str) else json.dumps(value)


#: Names that are loaded when they are first asked for, and their modules.
_LATER = {
    "Capacity": ".sweeps.capacity",
    "Sweep": ".sweeps.result",
    "capacity": ".sweeps.capacity",
    "elasticities": ".sweeps.sensitivity",
    "sweep": ".sweeps.run",
    "tornado": ".sweeps.sensitivity",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'ridgeline' has no attribute '{name}'")
    return getattr(importlib.import_module(_LATER[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
