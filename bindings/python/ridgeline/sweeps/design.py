"""Samples of ranges: independent, or a Latin hypercube, in which every n-th part of every range holds one sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Sequence

from ..errors import ConfigError
from .plan import Axis
from .values import parse_assignment, parse_quantity

__all__ = ["Range", "sampled"]

_DIGITS = 6  # of a sampled number: more than any scenario's values are known to


@dataclass(frozen=True)
class Range:
    """Values from ``low`` to ``high``, both included; evenly by logarithm if ``log``; whole numbers if both ends are written so."""

    keys: tuple[str, ...]
    low: float
    high: float
    unit: str = ""
    log: bool = False
    whole: bool = False

    @classmethod
    def parse(cls, text: str, option: str = "--range") -> Range:
        """``key=LOW..HIGH`` or ``key=LOW..HIGH:log``.

        Raises
        ------
        ConfigError
            It is no such thing, or the low end is not below the high one, or a logarithm meets a number that is not above 0.
        """
        keys, ends = parse_assignment(text, option)
        ends, _, how = ends.partition(":")
        low, dots, high = (part.strip() for part in ends.partition(".."))
        begin, end = parse_quantity(low), parse_quantity(high)
        if not dots or begin is None or end is None or how.strip() not in ("", "log"):
            raise ConfigError(f"{option}: expected KEY=LOW..HIGH or KEY=LOW..HIGH:log, got '{text}'")
        if begin.unit not in ("", end.unit):
            raise ConfigError(f"{option}: '{text}': expected one unit, got '{begin}' and '{end}'")
        whole = not end.unit and all(set(part) <= set("+-0123456789") for part in (low, high))
        return cls(keys, float(begin.number), float(end.number), end.unit, how.strip() == "log", whole)

    def __post_init__(self) -> None:
        name = "+".join(self.keys)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ConfigError(f"{name}: expected a range from a low end to a high one, got {self.low:g}..{self.high:g}")
        if self.log and self.low <= 0:
            raise ConfigError(f"{name}: expected a range above 0 for a logarithm, got {self.low:g}..{self.high:g}")

    def value(self, u: float) -> str:
        """The value at ``u`` in [0, 1), as YAML text."""
        # A whole number takes the part of the range from half below it to half above it.
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole and not self.log else (self.low, self.high)
        number = low * (high / low) ** u if self.log else low + (high - low) * u
        if self.whole:
            return str(min(max(round(number), int(self.low)), int(self.high)))
        return f"{Decimal(f'{number:.{_DIGITS}g}'):f}{self.unit}" if 1e-4 <= abs(number) < 1e15 else f"{number:.{_DIGITS}g}{self.unit}"


def sampled(ranges: Sequence[Range], n: int, method: str, seed: int) -> Axis:
    """An axis of ``n`` settings of all the ranges' keys.

    Parameters
    ----------
    ranges
        One for each key, or for keys that are to have the same value.
    n
        How many samples.
    method
        ``"random"`` or ``"lhs"`` (scipy.stats.qmc.LatinHypercube).
    seed
        The same seed gives the same samples.

    Raises
    ------
    ConfigError
        No range, or no sample.
    """
    if not ranges:
        raise ConfigError(f"--{method}: expected ranges to sample; give --range KEY=LOW..HIGH")
    if n < 1:
        raise ConfigError(f"--{method}: expected a number of samples of at least 1, got {n}")
    if method == "lhs":
        from scipy.stats import qmc  # type: ignore[import-untyped, unused-ignore]

        unit = qmc.LatinHypercube(d=len(ranges), seed=seed).random(n)
    else:
        import numpy as np

        unit = np.random.default_rng(seed).random((n, len(ranges)))
    keys = tuple(key for one in ranges for key in one.keys)
    settings = tuple(tuple(one.value(float(u)) for one, u in zip(ranges, row) for _ in one.keys) for row in unit)
    return Axis(keys, settings)
