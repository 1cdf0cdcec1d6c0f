"""What the typed parts of a scenario have in common: each is a map of YAML whose keys are its fields, and None leaves a key out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

from . import _core
from ._values import plain
from .errors import ConfigError

T = TypeVar("T")


def known_keys(at: str) -> Callable[[type[T]], type[T]]:
    """Makes an unknown keyword of a dataclass the error that an unknown key at `at` is in a scenario file."""

    def decorate(cls: type[T]) -> type[T]:
        names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
        init: Callable[..., None] = cls.__init__

        @wraps(init)
        def __init__(self: T, *args: Any, **kwargs: Any) -> None:
            for key in kwargs:
                if key not in names:
                    where = f"{at}.{key}" if at else key
                    raise ConfigError(f"{cls.__name__}: {where}: unknown key{_core.suggestion(key, names)}")
            init(self, *args, **kwargs)

        setattr(cls, "__init__", __init__)
        return cls

    return decorate


class Part:
    """A part of a scenario."""

    #: The one key that names a law and holds its parameters: ``poisson`` of ``{poisson: {rate: 5.5 /s}}``.
    _law: ClassVar[str] = ""
    #: Units of fields that may be given as plain numbers.
    _units: ClassVar[dict[str, str]] = {}

    def as_dict(self) -> dict[str, Any]:
        """The part as it stands in a scenario file: a dictionary of what was set.

        Returns
        -------
        dict
            Keys and values as in YAML; quantities carry their unit.
        """
        out = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = plain(getattr(self, field.name))
            if value is None:
                continue
            if unit := self._units.get(field.name):
                value = value if isinstance(value, str) else f"{value!r} {unit}"
            out[field.name] = value
        return {self._law: out} if self._law else out

    def __repr__(self) -> str:
        said = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in said if value is not None)})"
