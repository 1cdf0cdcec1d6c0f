"""What the requests of one run say of a server in steady state: whether it keeps up, and what its clients see while it does.

A run begins with an empty server and ends with no more arrivals; both are left out. Whether the server keeps up is judged by how the
number of requests in it grows, not by how long the run is: of a load that is a tenth too high, one request in eleven stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["Observed", "service_rate"]

_COLUMNS = ("arrival", "ttft", "tpot", "e2el", "queue")
_WARM = 0.2  # share of the arrivals that come while the server fills
_MOST_STAYING = 0.02  # share of arrivals that may add to those in the server before it counts as falling behind


@dataclass(frozen=True)
class Observed:
    """Requests of a run, by arrival: times in seconds.

    Attributes
    ----------
    arrival, ttft, tpot, e2el, queue : numpy.ndarray, shape (requests,)
        NaN where a request has none: TPOT of an answer of one token.
    """

    arrival: Array
    ttft: Array
    tpot: Array
    e2el: Array
    queue: Array

    @classmethod
    def of(cls, requests: Mapping[str, Array]) -> Observed:
        """From columns in any order; sorted by arrival, and without those of NaN, which were not finished."""
        import numpy as np

        order = np.argsort(requests["arrival"], kind="stable")
        order = order[~np.isnan(requests["arrival"][order])]
        return cls(*(requests[name][order] for name in _COLUMNS))

    @property
    def staying(self) -> float:
        """Of the requests that arrive, the share by which those in the server grow.

        The mean number in the server over the last quarter of the arrivals, less that over the quarter before the middle, over the
        arrivals between the two quarters' middles.
        """
        import numpy as np

        arrival, n = self.arrival, len(self.arrival)
        left = np.sort(arrival + self.e2el)
        in_server = np.arange(n) - np.searchsorted(left, arrival, side="right")  # as each one comes
        early, late = in_server[n // 4 : n // 2], in_server[n - n // 4 :]
        return float(late.mean() - early.mean()) / (n / 2) if len(early) and len(late) else 0.0

    @property
    def keeps_up(self) -> bool:
        """Whether the number of requests in the server stays as it is."""
        return self.staying <= _MOST_STAYING

    @property
    def steady(self) -> npt.NDArray[np.bool_]:
        """Which requests count: those after the warm-up."""
        import numpy as np

        return np.arange(len(self.arrival)) >= int(_WARM * len(self.arrival))

    def statistic(self, name: str) -> float:
        """``p99_ttft_ms`` and the like, of the requests that count; percentiles as numpy.percentile has them."""
        import numpy as np

        how, latency, _ = name.split("_")
        values = getattr(self, latency)[self.steady]
        values = values[~np.isnan(values)]
        if not len(values):
            return 0.0
        value = values.mean() if how == "mean" else np.percentile(values, 50 if how == "median" else float(how[1:]))
        return 1e3 * float(value)

    def good_share(self, slo: Mapping[str, float]) -> float:
        """Share of the requests that count which are each within all of the limits."""
        import numpy as np

        good = np.ones(int(self.steady.sum()), dtype=bool)
        for name, limit in slo.items():
            values = getattr(self, name.split("_")[1])[self.steady]
            good &= np.isnan(values) | (1e3 * values <= limit)
        return float(good.mean()) if len(good) else 0.0

    @property
    def offered_rate(self) -> float:
        """Requests that arrived a second."""
        span = float(self.arrival[-1] - self.arrival[0])
        return (len(self.arrival) - 1) / span if span > 0.0 else float("inf")


def service_rate(observed: Observed) -> float:
    """Requests answered a second by a server that always has more waiting: of the answers between the first and last quarter."""
    import numpy as np

    left = np.sort(observed.arrival + observed.e2el)
    n = len(left)
    first, last = n // 4, n - 1 - n // 4
    span = float(left[last] - left[first])
    if last > first and span > 0.0:
        return (last - first) / span
    return n / float(left[-1] - observed.arrival[0])
