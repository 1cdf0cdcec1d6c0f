"""The command line reference: what `--help` of every command says."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RIDGELINE", str(ROOT / "build" / "ridgeline"))


def help_of(*words):
    wide = {**os.environ, "COLUMNS": "120"}
    told = subprocess.run([PROGRAM, *words, "--help"], check=True, capture_output=True, text=True, env=wide).stdout
    return told.replace(PROGRAM, "ridgeline").rstrip()


def commands(text):
    """(name, summary) of the subcommands that a help lists."""
    listed = re.search(r"^Subcommands:\n((?:  .*\n?)+)", text, re.M)
    return re.findall(r"^  (\S+) +(\S.*)$", listed[1], re.M) if listed else []


def subcommands(name, text):
    """Of a command with subcommands, or kinds as `plot` has."""
    below = [word for word, _ in commands(text)]
    return below or (re.findall(r"^  (\w+) [A-Z]", text.partition("\n\n")[2], re.M) if name == "plot" else [])


def page():
    """All of it as one page."""
    whole = help_of()
    lines = ["# Command line", "", "What the program says of itself by `--help`.", "", "```text", whole, "```", ""]
    for name, _ in commands(whole):
        text = help_of(name)
        lines += [f"## {name}", "", "```text", text, "```", ""]
        for below in subcommands(name, text):
            lines += [f"### {name} {below}", "", "```text", help_of(name, below), "```", ""]
    return "\n".join(lines)
