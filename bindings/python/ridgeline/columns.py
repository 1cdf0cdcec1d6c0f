"""Columns of plain data in C++ memory, seen through NumPy without a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import _core, _html

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["Column", "Columns", "Derived", "Labels"]

S = TypeVar("S", bound="np.generic")
_SHOWN = 5  # rows in a notebook


class Column(Generic[S]):
    """A column as an attribute: a read-only view over C++ memory."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, columns: None, owner: type) -> Column[S]: ...
    @overload
    def __get__(self, columns: Columns, owner: type) -> np.ndarray[Any, np.dtype[S]]: ...
    def __get__(self, columns: Columns | None, owner: type) -> Column[S] | np.ndarray[Any, np.dtype[S]]:
        return self if columns is None else self.of(columns)

    def of(self, columns: Columns) -> np.ndarray[Any, np.dtype[S]]:
        """The column of these rows."""
        return columns.view(self.name)


class Derived(Column[S]):
    """A column that is computed from others when it is asked for."""

    def __init__(self, compute: Callable[[Any], np.ndarray[Any, np.dtype[S]]], doc: str) -> None:
        super().__init__(doc)
        self.compute = compute

    def of(self, columns: Columns) -> np.ndarray[Any, np.dtype[S]]:
        """The column of these rows."""
        return self.compute(columns)


class Labels(Column["np.object_"]):
    """A column of texts, of which there are few: kept as numbers, given as text."""

    def of(self, columns: Columns) -> np.ndarray[Any, np.dtype[np.object_]]:
        """The column of these rows."""
        import numpy as np

        return np.array(columns.labels(self.name), dtype=object)[columns.view(self.name)]


class Columns:
    """Rows as columns: attributes and items of the same names are NumPy arrays of one value a row.

    ``len`` counts rows, and iteration gives the names of the columns, as with a pandas frame. Arrays of stored columns are views over
    C++ memory: nothing is copied, nothing can be written, and each keeps the memory alive.

    Examples
    --------
    >>> import ridgeline as rl
    >>> requests = rl.run("chat_8b", {"workload.requests": 3}).requests
    >>> len(requests), requests.arrival_ns.dtype, requests.arrival_ns.flags.writeable
    (3, dtype('int64'), False)
    >>> bool((requests.ttft_ns == requests["first_token_ns"] - requests["arrival_ns"]).all())
    True
    """

    def __init__(self, records: _core.Records, **labels: Sequence[str]) -> None:
        import numpy as np

        names, formats, offsets = zip(*records.fields())
        dtype = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": records.row_bytes()})
        self._rows = np.frombuffer(memoryview(records), dtype=dtype) if records.count() else np.empty(0, dtype)
        self._labels = labels
        derived = [name for cls in type(self).__mro__ for name, thing in vars(cls).items() if isinstance(thing, Derived)]
        self._names = (*names, *derived)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns: those that are stored, then those computed from them."""
        return self._names

    def keys(self) -> tuple[str, ...]:
        """Names of the columns, so that ``dict(columns)`` works.

        Returns
        -------
        tuple of str
            The same as `names`.
        """
        return self._names

    def view(self, name: str) -> Array:
        """A stored column as it lies in memory; of a column of texts their numbers in `labels`.

        Parameters
        ----------
        name
            Of the column.

        Returns
        -------
        numpy.ndarray
            One value a row, read-only.

        Raises
        ------
        KeyError
            No stored column has this name.
        """
        if name not in (self._rows.dtype.names or ()):
            raise KeyError(name)
        return self._rows[name]

    def labels(self, name: str) -> Sequence[str]:
        """The texts that the numbers of a column of texts stand for.

        Parameters
        ----------
        name
            Of the column.

        Returns
        -------
        sequence of str
            The text of number 0, 1 ...

        Raises
        ------
        KeyError
            It is no column of texts.
        """
        return self._labels[name]

    def to_frame(self) -> pd.DataFrame:
        """All columns as a pandas frame; texts as categories.

        Returns
        -------
        pandas.DataFrame
            A copy of the data, one row each.

        Raises
        ------
        ImportError
            pandas is not installed (``pip install ridgeline[sweeps]``).
        """
        import pandas as pd

        def column(name: str) -> Any:
            if name not in self._labels:
                return self[name]
            used = {label: None for label in self._labels[name]}  # a text may be there twice
            return pd.Categorical(self[name], categories=list(used))

        return pd.DataFrame({name: column(name) for name in self._names})

    def __getitem__(self, name: str) -> Array:
        described = getattr(type(self), name, None) if name in self._names else None
        if not isinstance(described, Column):
            raise KeyError(f"{name}{_core.suggestion(name, list(self._names))}")
        return described.of(self)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {len(self):,} rows of {', '.join(self._names)}"

    def _repr_html_(self) -> str:
        shown = min(len(self), _SHOWN)
        rows = [[str(i), *(str(self._cell(name, i)) for name in self._names)] for i in range(shown)]
        more = _html.paragraph(f"{len(self):,} rows") if len(self) > shown else ""
        return _html.table(["", *self._names], rows) + more

    def _cell(self, name: str, row: int) -> Any:
        if name in self._labels:
            return self._labels[name][self.view(name)[row]]
        return self[name][row]
