"""Which points a sweep has: axes, each a list of settings, and every combination of them, the last axis fastest.

A grid, samples of a design, interventions and seeds are all axes. A point has an index, which is its place in the plan, and an id, which
is the same wherever the same scenario is run with the same settings.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
from dataclasses import dataclass
from typing import Iterable, Iterator, Sequence

from ..errors import ConfigError
from .values import split_outside_brackets

__all__ = ["Axis", "Plan", "Point", "Shard", "WHATIF", "anchored"]

WHATIF = "whatif"  # the key whose values are interventions instead of values of the scenario
_REFERENCES = ("hw", "model", "stack", "workload.trace", "workload.prompt_tokens.empirical", "workload.output_tokens.empirical")
_MOST_POINTS = 2_000_000


@dataclass(frozen=True)
class Axis:
    """Keys that change together, and the values that they take: one text a key in each setting."""

    keys: tuple[str, ...]
    settings: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.settings:
            raise ConfigError(f"{'+'.join(self.keys)}: expected values, got none")
        for setting in self.settings:
            if len(setting) != len(self.keys):
                raise ConfigError(f"{'+'.join(self.keys)}: expected {len(self.keys)} values together, got {'+'.join(setting)}")


@dataclass(frozen=True)
class Point:
    """One run of a sweep."""

    index: int
    id: str
    settings: tuple[tuple[str, str], ...]

    @property
    def overrides(self) -> list[tuple[str, str]]:
        """What it changes in the scenario. Files are named by their whole path, since workers may stand elsewhere."""
        return [(key, anchored(key, value)) for key, value in self.settings if key != WHATIF]

    @property
    def levers(self) -> list[str]:
        """The interventions applied on top."""
        return [lever for key, value in self.settings if key == WHATIF for lever in _levers(value) if lever != "none"]


@dataclass(frozen=True)
class Shard:
    """Every ``of``-th point, from the ``number``-th on, counted from 1."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``2/4``.

        Raises
        ------
        ConfigError
            It is no such thing.
        """
        number, slash, of = text.partition("/")
        if not (slash and number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
            raise ConfigError(f"--shard: expected I/N with I from 1 to N, got '{text}'")
        return cls(int(number), int(of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def holds(self, index: int) -> bool:
        return index % self.of == self.number - 1


class Plan:
    """Every combination of the axes' settings.

    Parameters
    ----------
    axes
        In the order of the table's columns.
    fingerprint
        What says which scenario it is; part of every id.
    """

    def __init__(self, axes: Sequence[Axis], fingerprint: str) -> None:
        self.axes = tuple(axes)
        self.keys = tuple(key for axis in axes for key in axis.keys)
        for key in self.keys:
            if self.keys.count(key) > 1:
                raise ConfigError(f"{key}: expected one axis for each key, got two")
        self._size = math.prod(len(axis.settings) for axis in axes)
        if self._size > _MOST_POINTS:
            raise ConfigError(f"the sweep has {self._size:,} points; expected at most {_MOST_POINTS:,}")
        self._fingerprint = fingerprint

    def __len__(self) -> int:
        return self._size

    def points(self, shard: Shard = Shard()) -> Iterator[Point]:
        """The points of a shard, in order."""
        for index, settings in enumerate(itertools.product(*(axis.settings for axis in self.axes))):
            if shard.holds(index):
                values = tuple(zip(self.keys, itertools.chain.from_iterable(settings)))
                yield Point(index, _hash([self._fingerprint, *map(list, values)]), values)

    @property
    def id(self) -> str:
        """Of the whole sweep: equal for shards of one, different for another scenario or another plan."""
        return _hash([self._fingerprint, [[list(axis.keys), [list(setting) for setting in axis.settings]] for axis in self.axes]])


def _levers(text: str) -> list[str]:
    """Names joined by '+'; the sign of an exponent joins none, as no name begins with a digit."""
    names: list[str] = []
    for part in split_outside_brackets(text, "+"):
        if names and part[:1].isdigit():
            names[-1] += "+" + part
        else:
            names.append(part)
    return names


def _hash(what: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(what)).encode()).hexdigest()[:16]


def anchored(key: str, value: str) -> str:
    """A reference to a file by its whole path; anything else as it is."""
    is_file = key in _REFERENCES and (os.sep in value or value.endswith((".yaml", ".yml", ".csv", ".json"))) and os.path.isfile(value)
    return os.path.abspath(value) if is_file else value
