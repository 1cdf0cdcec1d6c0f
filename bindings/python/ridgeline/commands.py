"""The commands of the program ``ridgeline`` that are written in Python. All others are the C++ program's."""

from __future__ import annotations

from typing import Callable, Sequence

__all__ = ["COMMANDS", "capacity", "merge", "plot", "sensitivity", "sweep"]

# Each imports what it needs when it is called: pandas and SciPy are slow to load.


def sweep(argv: Sequence[str]) -> int:
    """``ridgeline sweep``: the arguments after the command's name; returns the exit code."""
    from .sweeps import cmd_sweep

    return cmd_sweep.sweep_command(argv)


def merge(argv: Sequence[str]) -> int:
    """``ridgeline merge``."""
    from .sweeps import cmd_sweep

    return cmd_sweep.merge_command(argv)


def capacity(argv: Sequence[str]) -> int:
    """``ridgeline capacity``."""
    from .sweeps import cmd_capacity

    return cmd_capacity.capacity_command(argv)


def sensitivity(argv: Sequence[str]) -> int:
    """``ridgeline sensitivity``."""
    from .sweeps import cmd_sensitivity

    return cmd_sensitivity.sensitivity_command(argv)


def plot(argv: Sequence[str]) -> int:
    """``ridgeline plot``."""
    from .plot.command import plot_command

    return plot_command(argv)


def _guarded(command: Callable[[Sequence[str]], int]) -> Callable[[Sequence[str]], int]:
    def guarded(argv: Sequence[str]) -> int:
        from .sweeps.command_line import run

        return run(command, argv)

    return guarded


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    command.__name__: _guarded(command) for command in (sweep, merge, capacity, sensitivity, plot)
}
"""Name and function, which takes the arguments after the name, tells of errors on stderr, and returns the exit code."""
