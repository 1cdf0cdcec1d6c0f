"""What if: a scenario before and after changes, side by side, and what the diagnosis had said of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core, _html
from .scenarios import AnyScenario, opened

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Experiment", "Prediction", "Variant", "changes", "verify_diagnosis", "whatif"]


@dataclass(frozen=True)
class Variant:
    """A scenario that was run, or the reason why it could not be.

    Attributes
    ----------
    name : str
        ``"before"``, or the changes.
    overrides : dict of str
        What they changed, by dotted key.
    cannot_run : str or None
        The reason; then the rest is empty.
    gain : float or None
        Speed over that of the first variant, in the experiment's objective.
    figures : dict of float or None
        By name, as the columns of a sweep; None where the run has no such number.
    ledger_ns : dict of int
        Time of all steps by cause, and ``"idle"`` between them, nanoseconds.
    ledger_is_of : float
        Output tokens, or 1 of a training step: what the ledger is to be divided by.
    diagnosis : dict or None
        Of this variant, as `Diagnosis` has it.
    """

    name: str
    overrides: dict[str, str]
    cannot_run: str | None
    gain: float | None
    figures: dict[str, float | None]
    ledger_ns: dict[str, int]
    ledger_is_of: float
    diagnosis: dict[str, Any] | None


@dataclass(frozen=True)
class Prediction:
    """What the diagnosis of the scenario as it is says of a change, beside what came of it.

    Attributes
    ----------
    variant, fix : str
        Where it was tried, and by which name the diagnosis knows it.
    place : str
        ``"first fix"``, ``"second fix"``, ``"reject"``, or ``"asked"`` of what the diagnosis says only when asked.
    speedup : tuple of float
        (low, high), as a factor.
    measured : float or None
        The same of the simulation; None where it was not run.
    holds : bool or None
        Whether it lies within.
    why, note : str
        The diagnosis' reason; why nothing was measured, or with what it is to be compared.
    """

    variant: str
    fix: str
    place: str
    speedup: tuple[float, float]
    measured: float | None
    holds: bool | None
    why: str
    note: str


@dataclass(frozen=True)
class Experiment:
    """A what-if. `whatif` and `verify_diagnosis` make it.

    Attributes
    ----------
    scenario : str
        Its name.
    objective : str
        What gains are in: ``"output_rate"``, ``"first_token"``, ``"latency"`` or ``"training_rate"``.
    variants : list of Variant
        The first is the scenario as it is.
    predictions : list of Prediction
        What the diagnosis had said.
    """

    scenario: str
    objective: str
    variants: list[Variant]
    predictions: list[Prediction]

    def __getitem__(self, name: str) -> Variant:
        """The variant of that name."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise KeyError(name)

    def to_frame(self) -> pd.DataFrame:
        """The figures: a row each, a column a variant that ran.

        Returns
        -------
        pandas.DataFrame
            Units as `Sweep.units` says.
        """
        import pandas as pd

        return pd.DataFrame({v.name: v.figures for v in self.variants if v.cannot_run is None}, dtype=float)

    def ledger_frame(self) -> pd.DataFrame:
        """Where the time went: a row a cause, a column a variant that ran.

        Returns
        -------
        pandas.DataFrame
            Seconds an output token, or of a training step.
        """
        import pandas as pd

        ran = [v for v in self.variants if v.cannot_run is None]
        return pd.DataFrame({v.name: {cause: 1e-9 * ns / v.ledger_is_of for cause, ns in v.ledger_ns.items()} for v in ran})

    def __repr__(self) -> str:
        tried = ", ".join(f"{v.name} {v.gain:.2f}x" if v.gain is not None else f"{v.name} cannot run" for v in self.variants[1:])
        return f"Experiment({self.scenario}, {self.objective}: {tried or 'nothing tried'})"

    def _repr_html_(self) -> str:
        ran = [v for v in self.variants if v.cannot_run is None]
        names = [name for name in _SHOWN if any(v.figures.get(name) is not None for v in ran)]
        rows = [[name, *(_cell(v, ran[0], name) for v in ran)] for name in names]
        rows.append(["speed", *("" if v is ran[0] else f"{v.gain:.2f}x" for v in ran)])
        rows.append(["binds", *(v.diagnosis["regime"] if v.diagnosis else "" for v in ran)])
        parts = [_html.table([self.scenario, *(v.name for v in ran)], rows)]
        parts += [_html.paragraph(f"{v.name} cannot run: {v.cannot_run}") for v in self.variants if v.cannot_run is not None]
        if self.predictions:
            said = [[p.fix, p.place, "{:.2f}x to {:.2f}x".format(*p.speedup), "not run" if p.measured is None else f"{p.measured:.2f}x", p.note] for p in self.predictions]
            parts.append(_html.table(["what the diagnosis had said", "", "predicted", "measured", ""], said))
        return "".join(parts)


def whatif(
    scenario: AnyScenario,
    *names: str,
    each: bool = False,
    overrides: Mapping[str, Any] | None = None,
) -> Experiment:
    """Run a scenario as it is and after changes.

    Parameters
    ----------
    scenario
        A `Scenario`, a path, or the name of a shipped scenario or case.
    names
        Changes, made one after the other: ``"quantize:int4"``, ``"graphs:on"``, ``"batch:64"``, ``"gpu:h200"``,
        ``"engine.max_num_seqs=64"``, or the name of a fix. `changes` lists them.
    each
        Run every change alone too.
    overrides
        Values for all runs, by dotted key.

    Returns
    -------
    Experiment
        The variants with their figures, ledgers and diagnoses; and of changes that the diagnosis knows as fixes, what it had predicted.

    Raises
    ------
    ConfigError
        A change that nobody knows, or that makes no scenario.
    SimulationError
        The scenario as it is cannot run. One that cannot run after changes is a variant that says why.
    TypeError
        A change is no text.

    Examples
    --------
    >>> import ridgeline as rl
    >>> rl.whatif("a_chatbot", "quantize:int4")["quantize:int4"].gain > 2
    True
    """
    if strange := [name for name in names if not isinstance(name, str)]:
        expected = 'changes as text, each its own argument: whatif(scenario, "quantize:int4", "graphs:on")'
        raise TypeError(f"whatif: expected {expected}; got a {type(strange[0]).__name__}")
    return _experiment(_core.what_if(opened(scenario, overrides), list(names), each))


def verify_diagnosis(scenario: AnyScenario, overrides: Mapping[str, Any] | None = None) -> Experiment:
    """Run a scenario, diagnose it, and run it again with every fix the diagnosis names and every one it rejects.

    Parameters
    ----------
    scenario, overrides
        As of `whatif`.

    Returns
    -------
    Experiment
        Fixes for which the simulator has no mechanism are predictions without a measurement; the note says why.

    Raises
    ------
    ConfigError
        The scenario is wrong.
    SimulationError
        It cannot run.

    Examples
    --------
    >>> import ridgeline as rl
    >>> [p.fix for p in rl.verify_diagnosis("d_api").predictions if p.place == "first fix"]
    ['fp8_w8a8']
    """
    return _experiment(_core.verify_diagnosis(opened(scenario, overrides)))


def changes() -> dict[str, str]:
    """The changes that `whatif` and the ``whatif`` axis of a sweep know.

    Returns
    -------
    dict of str
        What each does, by its name with the arguments it takes: ``{"quantize:int4 | int8 ...": "number format of the weights"}``. Besides
        these, any ``KEY=VALUE``.

    Raises
    ------
    ConfigError
        Never; it reads nothing.
    """
    return {f"{name}:{argument}" if argument else name: meaning for name, argument, meaning in _core.levers()}


_SHOWN = (
    "request_throughput",
    "output_throughput",
    "training_throughput",
    "median_ttft_ms",
    "median_tpot_ms",
    "p99_itl_ms",
    "mean_e2el_ms",
    "mean_step_ms",
    "mean_batch",
    "kv_cache_tokens",
    "usd_per_million_output_tokens",
    "joules_per_output_token",
)


def _cell(variant: Variant, before: Variant, name: str) -> str:
    value, first = variant.figures[name], before.figures[name]
    if value is None:
        return "-"
    factor = f" ({value / first:.2f}x)" if variant is not before and first else ""
    return f"{value:,.4g}{factor}"


def _experiment(text: str) -> Experiment:
    told = json.loads(text)
    return Experiment(
        scenario=told["scenario"],
        objective=told["objective"],
        variants=[_variant(v) for v in told["variants"]],
        predictions=[_prediction(p) for p in told["predictions"]],
    )


def _variant(told: dict[str, Any]) -> Variant:
    return Variant(
        name=told["name"],
        overrides=told["overrides"],
        cannot_run=told.get("cannot_run"),
        gain=told.get("gain"),
        figures=told.get("figures", {}),
        ledger_ns=told.get("ledger_ns", {}),
        ledger_is_of=told.get("ledger_is_of", 1.0),
        diagnosis=told.get("diagnosis"),
    )


def _prediction(told: dict[str, Any]) -> Prediction:
    low, high = told["speedup"]
    return Prediction(note=told.get("note", ""), speedup=(low, high), **{k: told[k] for k in ("variant", "fix", "place", "measured", "holds", "why")})
