"""The five cases: what must come out, what came out, and both diagnoses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import _core, _html

__all__ = ["Case", "cases"]


@dataclass(frozen=True)
class Case:
    """A case, run.

    Attributes
    ----------
    letter, title : str
        Which.
    given : list of str
        What the case states, as sentences.
    free : list of dict
        Parameters that it leaves open: ``keys``, ``value``, ``reason``.
    simulated, expected : dict
        Numbers by quantity; the unit is in ``ridgeline cases``.
    accepted : dict
        (low, high) by quantity.
    from_timeline, from_typed : dict
        Diagnoses of the simulated timeline, and of the numbers as a person would type them.
    numbers_hold, diagnoses_agree : bool
        Every number within what is accepted; the same regime, phase, first fix and first reject.
    """

    letter: str
    title: str
    given: list[str]
    free: list[dict[str, Any]]
    simulated: dict[str, float]
    expected: dict[str, float]
    accepted: dict[str, tuple[float, float]]
    from_timeline: dict[str, Any]
    from_typed: dict[str, Any]
    numbers_hold: bool
    diagnoses_agree: bool

    def __repr__(self) -> str:
        hold = "numbers hold" if self.numbers_hold else "numbers do not hold"
        return f"Case({self.letter}: {self.title}; {self.from_timeline['regime']}, {hold})"

    def _repr_html_(self) -> str:
        rows = [
            [name, f"{value:,.4g}", f"{self.expected[name]:,.4g}", "{:,.4g} to {:,.4g}".format(*self.accepted[name])]
            for name, value in self.simulated.items()
        ]
        binds = f"Binds: {self.from_timeline['regime']} / {self.from_timeline['phase']}"
        return _html.table([f"Case {self.letter}: {self.title}", "simulated", "stated", "accepted"], rows) + _html.paragraph(binds)


def cases(letters: str = "") -> list[Case]:
    """Run the five cases.

    Parameters
    ----------
    letters
        Which: ``"AC"``; all of them when empty.

    Returns
    -------
    list of Case
        In the order of their letters.

    Raises
    ------
    ConfigError
        No case has such a letter.

    Examples
    --------
    >>> import ridgeline as rl
    >>> rl.cases("E")[0].from_timeline["regime"]
    'overhead_bound'
    """
    return [_case(answer) for answer in json.loads(_core.cases(list(letters)))]


def _case(answer: dict[str, Any]) -> Case:
    return Case(
        letter=answer["case"],
        accepted={name: (low, high) for name, (low, high) in answer["accepted"].items()},
        from_timeline=answer["diagnosis"]["simulated"],
        from_typed=answer["diagnosis"]["typed"],
        **{key: answer[key] for key in ("title", "given", "free", "simulated", "expected", "numbers_hold", "diagnoses_agree")},
    )
