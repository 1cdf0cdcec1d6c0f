"""Which part of a run a picture shows when nobody says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigError

if TYPE_CHECKING:
    from ..runs import Run, Window
    from ..tables import TimelineSteps

__all__ = ["typical_step", "window_of", "words"]


def typical_step(run: Run) -> int:
    """The number of a step of typical length: half of the server's time goes by in steps that are no longer."""
    import numpy as np

    lengths = run.steps.duration_ns
    if not len(lengths):
        raise ConfigError("plot: expected a run with steps, got one without")
    order = np.argsort(lengths, kind="stable")
    passed = np.cumsum(lengths[order])
    return int(order[np.searchsorted(passed, passed[-1] / 2)])


def window_of(run: Run, first: int, count: int = 1) -> Window:
    """The stretch in which these steps, and no others, begin; seconds."""
    starts = run.steps.start_ns
    if not 0 <= first < len(starts):
        raise ConfigError(f"plot: expected a step from 0 to {len(starts) - 1}, got {first}")
    last = min(first + count, len(starts)) - 1
    return starts[first] * 1e-9, (starts[last] + 1) * 1e-9


def words(steps: TimelineSteps, row: int) -> str:
    """What a step does, in a few words; its number where the source does not say."""
    parts = []
    if decoding := int(steps.decode_sequences[row]):
        parts.append(f"decode {decoding:,}")
    if prompts := int(steps.prefill_tokens[row]):
        parts.append(f"prefill {prompts:,} tokens")
    return ", ".join(parts) or f"step {int(steps.index[row])}"
