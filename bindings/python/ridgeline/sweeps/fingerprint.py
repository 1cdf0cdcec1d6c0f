"""What makes two sweeps the same: the program, the scenario, and what is in every file that the scenario, an axis or an intervention names.

Without the files, rows of a trace or of a GPU's data sheet before and after an edit would stand in one table.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import Iterable, Sequence

from .._core import ScenarioRuns, __version__
from ..errors import ConfigError
from .plan import WHATIF, Axis, anchored
from .values import parse_quantity

__all__ = ["fingerprint"]

_PARTS = re.compile(r"[\s,:=+{}\[\]\"']+")
_READ_BYTES = 1 << 20


def fingerprint(runs: ScenarioRuns, axes: Sequence[Axis]) -> str:
    """Of a scenario and the files that it and the axes name, as they are now; where they are and what they are called is not in it."""
    leaves = [runs.leaves([]), *_leaves_of_values(runs, axes)]
    texts = {text for some in leaves for _, text in some}
    texts |= {value for axis in axes for setting in axis.settings for value in setting if not parse_quantity(value)}
    what = [__version__, runs.document(), runs.overrides(), leaves, sorted(map(_hash_of_file, _files(texts)))]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def _leaves_of_values(runs: ScenarioRuns, axes: Sequence[Axis]) -> Iterable[list[tuple[str, str]]]:
    """What the scenario is with each word that an axis holds: a word may be the name of a file with a GPU, a model or a stack."""
    pairs = {pair for axis in axes for setting in axis.settings for pair in zip(axis.keys, setting)}
    for key, value in sorted(pairs):
        if key == WHATIF or parse_quantity(value):
            continue
        try:
            yield runs.leaves([(key, anchored(key, value))])
        except ConfigError:  # its points will say so
            continue


def _files(texts: Iterable[str]) -> set[str]:
    """Those that are there, of texts that are a path or have one among their words."""
    parts = {part for text in texts for part in (text, *_PARTS.split(text)) if part and "\0" not in part}
    return {os.path.realpath(part) for part in parts if os.path.isfile(part)}


def _hash_of_file(path: str) -> str:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while some := file.read(_READ_BYTES):
                digest.update(some)
    except OSError as why:
        raise ConfigError(f"{path}: cannot be read: {why.strerror}") from why
    return digest.hexdigest()
