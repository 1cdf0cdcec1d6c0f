"""Diagnoses: what binds, what settles it, what helps and what would not."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from . import _core
from ._diagnosis_html import diagnosis_html
from ._values import StrPath
from .errors import ConfigError

if TYPE_CHECKING:
    from .runs import Run
    from .traces import Trace

__all__ = ["Diagnosis", "diagnose"]


class Diagnosis(dict[str, Any]):
    """A diagnosis: a dictionary, and the same told in other forms. A notebook shows it as markdown.

    Of a trace that cannot be believed every form is empty; ``cannot_tell`` in the dictionary says why.
    """

    def __init__(self, told: _core.Told) -> None:
        super().__init__(json.loads(told.json()))
        self._told = told

    @property
    def regime(self) -> str | None:
        """What binds, such as ``"bandwidth_bound"``; None where a trace cannot be believed."""
        return self.get("regime")

    @property
    def phase(self) -> str | None:
        """``"prefill"``, ``"decode"`` or ``"training"``."""
        return self.get("phase")

    @property
    def confidence(self) -> float | None:
        """How often answers like this are right, from 0 to 1."""
        return self.get("confidence")

    def __str__(self) -> str:
        """As the program prints it."""
        return self._told.text() or super().__str__()

    def to_markdown(self) -> str:
        """The diagnosis to paste into an issue.

        Returns
        -------
        str
            GitHub's markdown.
        """
        return self._told.markdown()

    def to_memo(self) -> str:
        """A page for whoever decides: what to do, what it gains and costs, what is not known.

        Returns
        -------
        str
            Markdown.
        """
        return self._told.memo()

    def explain(self, quantity: str = "") -> str:
        """From what each number came, down to what was given, read or assumed.

        Parameters
        ----------
        quantity
            One number, by its name; all if left out.

        Returns
        -------
        str
            A tree of derivations, line by line.

        Raises
        ------
        ConfigError
            No number has that name; says which is near.
        """
        return self._told.explain(quantity)

    def derivations(self) -> list[dict[str, Any]]:
        """The same for programs.

        Returns
        -------
        list of dict
            Steps, operands first: ``id``, ``value``, ``operation``, ``from`` (ids), ``place`` ...
        """
        steps: list[dict[str, Any]] = json.loads(self._told.derivations())
        return steps

    def __repr__(self) -> str:
        if not self.regime:
            return super().__repr__()
        return f"Diagnosis({self.regime}, {self.phase}, confidence {self.confidence})"

    def _repr_html_(self) -> str:
        return diagnosis_html(self)

    def _repr_markdown_(self) -> str:
        return self.to_markdown() or f"This trace cannot tell: {self.get('cannot_tell')}."

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (dict(self),)  # what is pickled or copied is the dictionary


def diagnose(
    evidence: StrPath | Run | Trace,
    hw: str | None = None,
    model: str | None = None,
) -> Diagnosis:
    """Diagnose a finished run, typed evidence or a profiler's trace.

    Parameters
    ----------
    evidence
        A `Run` or the directory of one; a `Trace` or a path as `read_trace` takes it; a YAML file with any subset of machine, model,
        serving, measured and profile; or a file of text as tools print it.
    hw, model
        Of a trace: names or paths of configurations, where the trace does not say the GPU, and from which bytes and FLOP follow.

    Returns
    -------
    Diagnosis
        A dictionary: regime, phase, confidence, settling evidence, time budget (seconds), fixes, rejects, inconsistencies, question. Of a
        trace also ``gates`` and ``notes``; ``regime`` is None, and ``cannot_tell`` says why, where the trace cannot be believed.

    Raises
    ------
    ConfigError
        The file or the directory is wrong; says where.
    """
    from .runs import Run
    from .traces import Trace, read_trace

    if isinstance(evidence, (str, os.PathLike)) and _core.looks_like_trace(os.fspath(evidence)):
        evidence = read_trace(evidence)
    if isinstance(evidence, Trace):
        return evidence.diagnose(hw, model)
    if hw or model:
        raise ConfigError("hw and model go with a trace; evidence and runs say their machine and model themselves")
    if isinstance(evidence, Run):
        if evidence.diagnosis is None:
            raise ConfigError("diagnose: expected a run with steps, got one without")
        return evidence.diagnosis
    return Diagnosis(_core.diagnose(os.fspath(evidence)))
