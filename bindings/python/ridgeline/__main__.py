"""The program ``ridgeline``: the command that the package installs, and ``python -m ridgeline``."""

from __future__ import annotations

import signal
import sys

from . import _core
from .commands import COMMANDS


def main(argv: list[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv
        Arguments after the program's name; those of the process if left out.

    Returns
    -------
    int
        The exit code: 0 done, 1 a check failed, 2 wrong input, 3 the input cannot run, 130 stopped by Ctrl-C.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments and arguments[0] in COMMANDS:
        return COMMANDS[arguments[0]](arguments[1:])
    _give_signals_back()
    return _core.main(["ridgeline", *arguments])


def _give_signals_back() -> None:
    """The C++ program expects signals as a shell hands them over, and Python has taken three of them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for taken in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(taken, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
