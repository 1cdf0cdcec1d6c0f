"""The values of an axis as people write them: lists, ranges, and patterns that go on.

==========================  ===========================================
``1,2,8``                   these
``1..5``                    whole numbers, both ends included
``0.5..2:0.25``             in steps of 0.25
``1..256*2``                each twice the one before
``1,2,4…256``, ``1,2,4...256``  goes on as it began, up to 256
``10 us..50 us:20 us``      with a unit
``{a: 1, b: 2},{a: 3}``     YAML; commas within brackets or quotes do not part
==========================  ===========================================

Numbers are decimal here, not binary: 0.1..0.3:0.1 has three values, and their text is what a person would have typed.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Callable, NamedTuple

from ..errors import ConfigError

__all__ = ["Quantity", "parse_assignment", "parse_quantity", "parse_values", "split_outside_brackets", "text_of"]

_NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_UNIT = r"\s*(?:[A-Za-z%µ/][A-Za-z%µ/0-9]*)?"
_QUANTITY = re.compile(rf"\s*(?P<number>{_NUMBER})(?P<unit>{_UNIT})\s*")
_RANGE = re.compile(rf"\s*(?P<low>{_NUMBER}{_UNIT})\s*\.\.\s*(?P<high>{_NUMBER}{_UNIT})\s*(?:(?P<how>[*:])\s*(?P<step>{_NUMBER}{_UNIT}))?\s*")
_MOST_VALUES = 100_000


class Quantity(NamedTuple):
    """A number and the unit after it, as written: ``20 us`` is 20 and `` us``."""

    number: Decimal
    unit: str

    def __str__(self) -> str:
        return text_of(self.number) + self.unit


def text_of(number: Decimal) -> str:
    """As a person types it: 256 and 0.25, not 2.56E+2."""
    if not number:
        return "0"
    if -7 < number.adjusted() < 16:
        text = f"{number:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{number.normalize():e}".replace("e+", "e")


def parse_quantity(text: str) -> Quantity | None:
    """A number with or without a unit; None for anything else."""
    match = _QUANTITY.fullmatch(text)
    return Quantity(Decimal(match["number"]), match["unit"].rstrip()) if match else None


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """The parts between separators that stand in no bracket and no quotes, stripped."""
    parts = [""]
    depth = 0
    quote = ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append("")
            continue
        parts[-1] += character
    return [part.strip() for part in parts]


def parse_assignment(text: str, option: str) -> tuple[tuple[str, ...], str]:
    """``a.b+c=1,2`` as (("a.b", "c"), "1,2").

    Raises
    ------
    ConfigError
        There is no key, or no ``=``.
    """
    keys, equals, values = text.partition("=")
    names = tuple(key.strip() for key in keys.split("+"))
    if not equals or not all(names) or not values.strip():
        raise ConfigError(f"{option}: expected KEY=VALUES like engine.max_num_seqs=1,2,4, got '{text}'")
    return names, values.strip()


def parse_values(text: str, option: str) -> list[str]:
    """The values that the text means, each as YAML text.

    Raises
    ------
    ConfigError
        A pattern that is none, a range without values or with units that differ; says which.
    """
    values: list[str] = []
    for item in split_outside_brackets(text.replace("...", "…"), ","):
        if not item:
            raise ConfigError(f"{option}: expected values between commas, got nothing in '{text}'")
        if "…" in item:
            begin, _, end = item.partition("…")
            values += [begin.strip()] if begin.strip() else []
            values += _continued(values, end.strip(), option, text) if end.strip() else []
            if not end.strip():
                values.append("…")  # "1,2,4,…,256": the end is the next item
        elif values and values[-1] == "…":
            values.pop()
            values += _continued(values, item, option, text)
        else:
            values += _range(item, option) or [item]
    if values and values[-1] == "…":
        raise ConfigError(f"{option}: '{text}': expected the last value after '…', got nothing")
    if len(values) > _MOST_VALUES:
        raise ConfigError(f"{option}: '{text}' has {len(values)} values; expected at most {_MOST_VALUES}")
    repeated = sorted({value for value in values if values.count(value) > 1}) if len(values) < 1000 else []
    if repeated:
        raise ConfigError(f"{option}: '{text}' has {repeated[0]} twice")
    return values


def _range(item: str, option: str) -> list[str] | None:
    match = _RANGE.fullmatch(item)
    if match is None:
        return None
    low, high = _known(match["low"]), _known(match["high"])
    step = _known(match["step"]) if match["step"] else Quantity(Decimal(1), "")
    unit = low.unit or high.unit or ("" if match["how"] == "*" else step.unit)
    if any(part.unit not in ("", unit) for part in (low, high, step)) or (match["how"] == "*" and step.unit):
        raise ConfigError(f"{option}: '{item}': expected one unit, got '{low}', '{high}' and '{step}'")
    geometric = match["how"] == "*"
    if low.number > high.number or (geometric and (step.number <= 1 or low.number <= 0)) or (not geometric and step.number <= 0):
        raise ConfigError(f"{option}: '{item}': expected LOW..HIGH, LOW..HIGH:STEP or LOW..HIGH*FACTOR that leads from a low end to a high one")
    out = []
    at = low.number
    while at <= high.number:
        out.append(str(Quantity(at, unit)))
        at = at * step.number if geometric else at + step.number
        if len(out) > _MOST_VALUES:
            raise ConfigError(f"{option}: '{item}' has more than {_MOST_VALUES} values")
    return out


def _known(text: str) -> Quantity:
    quantity = parse_quantity(text)
    assert quantity is not None  # the pattern of a range holds nothing else
    return quantity


def _continued(begun: list[str], end: str, option: str, text: str) -> list[str]:
    """What follows the values begun, up to the end, which the pattern must meet: in equal steps, else by equal factors."""
    quantities = [parse_quantity(value) for value in begun]
    last = parse_quantity(end)
    known = [quantity for quantity in quantities if quantity is not None]
    if last is None or len(known) < len(quantities) or len(known) < 2 or len({quantity.unit for quantity in [*known, last]}) > 1:
        raise ConfigError(f"{option}: '{text}': expected two or more numbers before '…' and one after it, all with one unit")
    numbers = [quantity.number for quantity in known]
    patterns = [pattern for pattern in (_by_steps(numbers, last.number), _by_factors(numbers, last.number)) if pattern]
    if not patterns:
        raise ConfigError(f"{option}: '{text}': expected equal steps or equal factors towards {last}")
    for pattern in patterns:
        if pattern[-1] == last.number:
            return [str(Quantity(number, last.unit)) for number in pattern]
    near = " or ".join(str(Quantity(number, last.unit)) for number in patterns[-1][-2:])
    raise ConfigError(f"{option}: '{text}': expected an end that the pattern meets, such as {near}, got {last}")


def _by_steps(begun: list[Decimal], end: Decimal) -> list[Decimal]:
    """Up to the end and one step beyond if it is not met; nothing if the steps are not equal or lead away from it."""
    step = begun[1] - begun[0]
    if any(b - a != step for a, b in zip(begun, begun[1:])):
        return []
    return _until(end, begun[-1], step > 0, lambda number: number + step)


def _by_factors(begun: list[Decimal], end: Decimal) -> list[Decimal]:
    """The same by factors."""
    first, second = begun[:2]
    if min(begun) <= 0 or end <= 0 or any(b * first != a * second for a, b in zip(begun, begun[1:])):
        return []
    return _until(end, begun[-1], second > first, lambda number: number * second / first)


def _until(end: Decimal, at: Decimal, rising: bool, following: Callable[[Decimal], Decimal]) -> list[Decimal]:
    out: list[Decimal] = []
    while (at < end if rising else at > end) and len(out) <= _MOST_VALUES:
        at = following(at)
        out.append(at)
    return out
