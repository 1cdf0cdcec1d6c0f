"""The rows that a sweep has so far, in a file beside its table: a line of JSON a row, after one that says of which sweep.

A sweep that is killed loses the rows that were not yet written, which are those of runs in flight and of the last second: lines are
handed to the system as they come, so that a killed process loses none, and to the disk every second, for a machine that stops.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any, Sequence

from ..errors import ConfigError
from .worker import Row

__all__ = ["Journal", "path_for"]

_SECONDS_BETWEEN_SYNCS = 1.0


def path_for(out: Path) -> Path:
    """Where the journal of a table is."""
    return out.with_name(out.name + ".journal")


class Journal:
    """Appends rows; holds those of an earlier attempt that is resumed.

    Parameters
    ----------
    out
        The table that will be written.
    header
        What says which sweep it is; one of another sweep is refused.
    resume
        Go on with what is there. Without it, a journal that is there is an error, lest somebody's rows be lost.

    Raises
    ------
    ConfigError
        There is a journal and ``resume`` is not given, it is another sweep's, or another process is writing it.
    """

    def __init__(self, out: Path, header: dict[str, Any], resume: bool) -> None:
        self.path = path_for(out)
        self._synced = time.monotonic()
        try:
            self._file = open(self.path, "a+", encoding="utf-8")
        except OSError as why:
            raise ConfigError(f"{self.path}: cannot be written: {why.strerror}") from why
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as why:
            self._file.close()
            raise ConfigError(f"{self.path}: another process is writing it: this sweep is running already") from why
        try:
            self.rows = self._read(header, resume)
        except BaseException:
            self._file.close()
            raise

    def _read(self, header: dict[str, Any], resume: bool) -> list[Row]:
        self._file.seek(0)
        text = self._file.read()
        whole, newline, _torn = text.rpartition("\n")
        lines = whole.split("\n") if newline else []
        if not lines:  # new, or killed before its first line was whole
            self._truncate(0)
            self._write(header)
            return []
        if not resume:
            raise ConfigError(f"{self.path} has {len(lines) - 1} finished runs; go on with --resume, or delete it to begin anew")
        try:
            found, *rows = [json.loads(line) for line in lines]
        except ValueError as why:
            raise ConfigError(f"{self.path}: expected lines of JSON, got something else: {why}") from why
        if found != header:
            differs = [key for key in header if not isinstance(found, dict) or found.get(key) != header[key]]
            raise ConfigError(f"{self.path}: expected the journal of this sweep, got another's: {_difference(found, header, differs)}")
        self._truncate(len(whole.encode()) + 1)
        return rows

    def _truncate(self, size: int) -> None:
        self._file.truncate(size)
        self._file.seek(0, os.SEEK_END)

    def _write(self, what: dict[str, Any]) -> None:
        self._file.write(json.dumps(what) + "\n")

    def append(self, rows: Sequence[Row]) -> None:
        """Keep these."""
        for row in rows:
            self._write(row)
        self._file.flush()
        if time.monotonic() - self._synced > _SECONDS_BETWEEN_SYNCS:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def close(self, done: bool) -> None:
        """Close it; delete it when the table it was for is written."""
        if done:
            self.path.unlink(missing_ok=True)
        else:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()


def _difference(found: Any, header: dict[str, Any], keys: Sequence[str]) -> str:
    if not isinstance(found, dict):
        return "it says of none"
    return ", ".join(f"{key} {found.get(key)} instead of {header[key]}" for key in keys)
