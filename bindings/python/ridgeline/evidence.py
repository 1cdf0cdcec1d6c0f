"""Evidence that a person has: templates, checks, pasted text, and exercises in reading it."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _core
from ._values import StrPath

__all__ = ["check_evidence", "evidence_template", "exercise", "read_pasted"]


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


def check_evidence(path: StrPath) -> dict[str, Any]:
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
    answer: dict[str, Any] = json.loads(_core.check_evidence(os.fspath(path)))
    return answer


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
    >>> import ridgeline as rl
    >>> rl.read_pasted("Mean TTFT (ms):  12.30")["facts"][0]["value"]
    '12.30 ms'
    """
    answer: dict[str, Any] = json.loads(_core.read_pasted(text))
    return answer


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
        ``title``, ``sheet`` (the evidence, as text) and ``questions``: each with ``question``, ``text``, ``right`` (a letter) and
        ``choices`` (``letter``, ``name``, ``text``, ``verdict``, ``why``).

    Raises
    ------
    ConfigError
        No such source or level, or nothing says what is true of the reports.
    """
    items: list[dict[str, Any]] = json.loads(_core.exercise(n, seed, source, level))
    return items
