"""How far a sweep is, on stderr: done of all, and the time left. Only for a person, who sits at a terminal."""

from __future__ import annotations

import sys
from types import TracebackType

__all__ = ["Progress"]


class Progress:
    """A bar; nothing where stderr is no terminal or there is no tqdm, unless asked for."""

    def __init__(self, points: int, done: int, show: bool | None = None) -> None:
        self._bar = None
        if show if show is not None else sys.stderr.isatty():
            try:
                from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
            except ModuleNotFoundError:
                if show:
                    raise
                return
            self._bar = tqdm(total=points, initial=done, unit="run", file=sys.stderr, dynamic_ncols=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()

    def add(self, runs: int) -> None:
        """So many more are done."""
        if self._bar is not None:
            self._bar.update(runs)
