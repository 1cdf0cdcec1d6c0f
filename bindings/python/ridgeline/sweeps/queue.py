"""What the requests of one run say of a server in steady state: whether it keeps up, and what its clients see while it does.

A run begins with an empty server, and its first fifth is left out. Whether the server keeps up is judged by how the number of requests in
it grows, not by how long the run is: of a load that is a tenth too high, one request in eleven stays. A server that keeps up may still be
filling: then a longer run says more.
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
_MOST_FILLING = 0.1  # by which those in the server may grow in half of a run that has settled
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

    def _in_server(self) -> tuple[float, float]:
        """How many an arriving request finds in the server: mean of the quarter before the middle, and of the last one."""
        import numpy as np

        n = len(self.arrival)
        if n < 4:
            return 0.0, 0.0
        found = np.arange(n) - np.searchsorted(np.sort(self.arrival + self.e2el), self.arrival, side="right")
        return float(found[n // 4 : n // 2].mean()), float(found[n - n // 4 :].mean())

    @property
    def staying(self) -> float:
        """Of the requests that arrive, the share by which those in the server grow, from its second quarter to its last."""
        early, late = self._in_server()
        return (late - early) / (len(self.arrival) / 2)  # arrivals between the quarters' middles

    @property
    def settled(self) -> bool:
        """Whether the number of requests in the server has stopped growing, to a tenth or to one request."""
        early, late = self._in_server()
        return late - early <= max(1.0, _MOST_FILLING * late)

    @property
    def peak_running(self) -> int:
        """Most requests that were past the queue at once."""
        import numpy as np

        begun, left = np.sort(self.arrival + self.queue), np.sort(self.arrival + self.e2el)
        return int((np.arange(1, len(begun) + 1) - np.searchsorted(left, begun, side="right")).max(initial=0))

    @property
    def keeps_up(self) -> bool:
        """Whether requests leave as they come."""
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
