"""Command lines as the program ``ridgeline`` reads them: errors of one sentence with the nearest name, and its exit codes."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Callable, NoReturn, Sequence

from .._core import suggestion
from ..errors import ConfigError, SimulationError

__all__ = ["Parser", "add_overrides", "add_scenario", "finite", "overrides_of", "run", "write_json"]


class Parser(argparse.ArgumentParser):
    """One command's arguments."""

    def __init__(self, command: str, summary: str, examples: str) -> None:
        super().__init__(
            prog=f"ridgeline {command}",
            description=summary,
            epilog=f"For example:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.command = command
        self._argv: list[str] = []

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """The arguments; ConfigError for what is wrong with them."""
        self._argv = list(argv)
        known, rest = self.parse_known_args(self._argv)
        if rest:
            if rest[0].startswith("-"):
                self._unknown(rest[0].partition("=")[0])
            self.error(f"unexpected argument '{rest[0]}'; see 'ridgeline {self.command} --help'")
        return known

    def error(self, message: str) -> NoReturn:
        unknown = [word for word in self._argv if word.startswith("--") and word.partition("=")[0] not in self._option_string_actions]
        if unknown and "required" in message:  # it may be why something else is missing
            self._unknown(unknown[0].partition("=")[0])
        message = re.sub(r"^argument (\S+?)(/\S+)?: ", r"\1: ", message)
        message = re.sub(r"^the following arguments are required: (.*)$", rf"expected \1, got nothing; see 'ridgeline {self.command} --help'", message)
        raise ConfigError(f"{self.command}: {message}")

    def _unknown(self, option: str) -> NoReturn:
        known = [name for name in self._option_string_actions if name.startswith("--")]
        raise ConfigError(f"{self.command}: unknown option '{option}'{suggestion(option, known)}")


def add_scenario(parser: Parser) -> None:
    """The scenario, and values of it for every run."""
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario file, or the name of a shipped one (see 'ridgeline list scenarios')")
    add_overrides(parser)


def add_overrides(parser: Parser) -> None:
    """``--set``."""
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one value of the scenario in every run; may be given several times")


def overrides_of(arguments: argparse.Namespace) -> dict[str, str]:
    """What ``--set`` was given, the last of a key in the place of the last."""
    out: dict[str, str] = {}
    for text in arguments.set:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ConfigError(f"--set: expected KEY=VALUE like engine.max_num_seqs=64, got '{text}'")
        out.pop(key, None)
        out[key] = value
    return out


def finite(value: Any) -> Any:
    """For JSON, which has no NaN: None instead."""
    if isinstance(value, dict):
        return {key: finite(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and value != value else value


def write_json(what: Any, out: str | None) -> None:
    """To a file, written beside and renamed, or to standard output."""
    text = json.dumps(finite(what), indent=2, allow_nan=False) + "\n"
    if out is None:
        sys.stdout.write(text)
        return
    path = Path(out)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    except OSError as why:
        raise ConfigError(f"--out: {path}: cannot be written: {why.strerror}") from why
    finally:
        beside.unlink(missing_ok=True)


def run(command: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    """Call a command; an error is a sentence on stderr and an exit code."""
    try:
        code = command(argv)
        sys.stdout.flush()
        return code
    except ConfigError as wrong:
        return _told(str(wrong), 2)
    except SimulationError as cannot:
        return _told(str(cannot), 3)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package == "ridgeline":
            raise
        return _told(f"this command needs the Python package {package}: {sys.executable} -m pip install {package}", 3)
    except BrokenPipeError:  # whoever read our output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _told("stopped", 130)


def _told(sentence: str, code: int) -> int:
    print(f"ridgeline: {sentence}", file=sys.stderr)
    return code
