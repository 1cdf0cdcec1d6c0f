"""Python values as the words of a scenario, and what a caller may give where a name, a path or a list of them is expected."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

StrPath = Union[str, "os.PathLike[str]"]
#: A configuration: a shipped name, a path, or a mapping, which may have a ``base``.
Reference = Union[StrPath, Mapping[str, Any]]


def plain(value: Any) -> Any:
    """A value as JSON has it: paths as text, NumPy's scalars as Python's, typed parts of a scenario as mappings."""
    if hasattr(value, "as_dict"):
        return plain(value.as_dict())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's
        return plain(value.tolist())
    return value


def yaml(value: Any) -> str:
    """A value as YAML: JSON is YAML, and text is taken as it stands, as that of ``--set``."""
    value = plain(value)
    return value if isinstance(value, str) else quoted(value)


def quoted(value: Any) -> str:
    """A value as YAML, text as nothing but text: ``"run #1"`` and ``"a: b"`` mean themselves."""
    return json.dumps(plain(value), ensure_ascii=False)  # YAML has no surrogate pairs


def path_list(paths: StrPath | Iterable[StrPath]) -> list[str]:
    """One path or several."""
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
