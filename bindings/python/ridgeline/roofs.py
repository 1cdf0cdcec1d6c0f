"""The roofs of a machine: what no kernel on it exceeds, and where they meet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Roofs"]


@dataclass(frozen=True)
class Roofs:
    """Peaks of one GPU, and what clocks under power and long streams leave of them. `Run.roofs` and `Scenario.roofs` give it.

    What a library's kernels reach below that, by their tiles, waves and fixed times, is not here.

    Attributes
    ----------
    gpu : str
        Its name.
    hbm_bytes_per_second, sustained_hbm_bytes_per_second : float
        Bandwidth of its memory: of the datasheet, and of a long stream; bytes/s.
    flop_per_second, sustained_flop_per_second : mapping of str to float
        Dense matrix rates by dtype (``"bf16"``), of those that it has: of the datasheet, and under power; FLOP/s.

    Examples
    --------
    >>> import ridgeline as rl
    >>> round(rl.Scenario("chat_8b").roofs().ridge("bf16"))  # 1307.4 TFLOP/s / 5.3 TB/s
    247
    """

    gpu: str
    hbm_bytes_per_second: float
    sustained_hbm_bytes_per_second: float
    flop_per_second: Mapping[str, float]
    sustained_flop_per_second: Mapping[str, float]

    @classmethod
    def read(cls, text: str) -> Roofs:
        """Roofs as C++ tells them.

        Parameters
        ----------
        text
            JSON: ``gpu``, and pairs of peak and sustained.

        Returns
        -------
        Roofs
            The same, typed.
        """
        told = json.loads(text)
        peak, sustained = told["hbm_bytes_per_second"]
        rates = told["flop_per_second"]
        return cls(told["gpu"], peak, sustained, {d: r[0] for d, r in rates.items()}, {d: r[1] for d, r in rates.items()})

    def ridge(self, dtype: str, *, sustained: bool = False) -> float:
        """Arithmetic intensity above which the matrix units bind, and below which memory does.

        Parameters
        ----------
        dtype
            Of the matrix units: ``"bf16"``.
        sustained
            Between the sustained roofs instead of the datasheet's.

        Returns
        -------
        float
            FLOP/byte.

        Raises
        ------
        KeyError
            The machine has no matrix units of this dtype.
        """
        if sustained:
            return self.sustained_flop_per_second[dtype] / self.sustained_hbm_bytes_per_second
        return self.flop_per_second[dtype] / self.hbm_bytes_per_second
