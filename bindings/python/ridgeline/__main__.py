"""``python3 -m ridgeline``: the commands that are written in Python."""

from __future__ import annotations

import sys

from .commands import COMMANDS


def main(argv: list[str]) -> int:
    """Run a command line, without the program's name; returns the exit code."""
    if not argv or argv[0] not in COMMANDS:
        print(f"ridgeline: expected one of {', '.join(COMMANDS)}; the others are commands of the program ridgeline", file=sys.stderr)
        return 2
    return COMMANDS[argv[0]](argv[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
