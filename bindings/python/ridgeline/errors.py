"""Errors, with the words of the program."""

from ._core import ConfigError, SimulationError

__all__ = ["ConfigError", "SimulationError"]
