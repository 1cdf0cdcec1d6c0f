"""The largest request rate at which a server meets its objectives.

The rate at which it answers when it always has more waiting bounds what it can take: above, its queue grows for as long as the run lasts,
however short that is and however well the latencies of a short run look. Below that the rate is found by bisection. A rate is met where
the server keeps up (`ridgeline.sweeps.queue`) and every statistic of the requests after the warm-up is within its limit.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Mapping

from .._core import ScenarioRuns, suggestion
from ..scenarios import AnyScenario
from ..errors import ConfigError
from .progress import Progress
from .queue import Observed, service_rate
from .run import opened

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Capacity", "Probe", "capacity", "statistics"]

_LATENCIES = ("ttft", "tpot", "e2el", "queue")
_FALLS_BEHIND = "saturation"
_UNSETTLED = "unsettled"
_HOW = {
    _FALLS_BEHIND: "it falls behind its arrivals",
    _UNSETTLED: "the trace ends before the number of requests in the server has settled, so that it is not known whether it would keep up",
}
_LIGHTEST = 1e-4  # of the service rate: a server that works on a hundred at once has one for a hundredth of the time
_LONG = 20.0  # a run lasts so many times what a request does, so that most of it is neither filling nor emptying
_TIMES_IN_FLOOD = 8  # so many times the requests that a server works on at once, so that the middle of them meets it in a steady state
_MOST_TIMES_LONGER = 16  # than what was asked for


def statistics() -> list[str]:
    """The names that objectives may have: ``mean_ttft_ms``, ``p99_tpot_ms`` ..."""
    return [f"{how}_{latency}_ms" for latency in _LATENCIES for how in ("mean", "median", "p90", "p95", "p99")]


@dataclass(frozen=True)
class Probe:
    """One rate that was tried.

    Attributes
    ----------
    request_rate : float
        Requests/s offered.
    requests : int
        How many were simulated.
    staying : float
        Share of the arriving requests by which those in the server grew; above 0.02 it falls behind.
    statistics : dict
        The objectives' statistics, in ms.
    failed : tuple of str
        What was not met: ``"saturation"``, ``"unsettled"`` (a trace, which cannot be made longer, ends while the server still fills), or names of
        objectives.
    goodput : float
        Requests/s of those that are each within all limits.
    """

    request_rate: float
    requests: int
    staying: float
    statistics: dict[str, float]
    failed: tuple[str, ...]
    goodput: float


@dataclass(frozen=True)
class Capacity:
    """What was found.

    Attributes
    ----------
    request_rate : float
        The largest rate met, requests/s; 0 where not even requests that hardly ever meet another (a ten thousandth of the service rate) meet
        the objectives.
    bracket : tuple of float
        The largest rate met and the smallest not met, requests/s.
    service_rate : float
        Requests/s that are answered when there are always more waiting: what no rate can exceed for long.
    binds : str
        What is not met at the upper end of the bracket: the objective that is missed by the largest factor, ``"saturation"``, or
        ``"unsettled"``: a trace too short to tell.
    goodput : float
        At the rate found: requests/s that are each within all limits.
    slo : dict
        The objectives, in ms.
    probes : tuple of Probe
        Every rate tried, in order; the unbounded load not among them.
    """

    request_rate: float
    bracket: tuple[float, float]
    service_rate: float
    binds: str
    goodput: float
    slo: dict[str, float]
    probes: tuple[Probe, ...]

    @property
    def runs(self) -> int:
        """Simulations that it took."""
        return len(self.probes) + 1

    @property
    def frame(self) -> pd.DataFrame:
        """The probes as a pandas frame, a row each, sorted by rate."""
        import pandas as pd

        rows = [{**asdict(p), **p.statistics, "failed": ", ".join(p.failed) or None} for p in sorted(self.probes, key=lambda p: p.request_rate)]
        return pd.DataFrame(rows).drop(columns="statistics")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "runs": self.runs}

    def __str__(self) -> str:
        limits = ", ".join(f"{name} <= {limit:g}" for name, limit in self.slo.items())
        low, high = self.bracket
        how = _HOW.get(self.binds) or f"{self.binds} is above {self.slo[self.binds]:g}"
        first = f"{self.request_rate:.4g} requests/s with {limits}"
        if not self.probes or low == 0.0:
            first = f"no rate meets {limits}"
        return (
            f"{first}\n"
            f"  between {low:.4g} and {high:.4g} requests/s, at which {how}\n"
            f"  with requests always waiting it answers {self.service_rate:.4g} requests/s\n"
            f"  goodput {self.goodput:.4g} requests/s: requests within all limits, each by itself\n"
            f"  {self.runs} runs"
        )


def capacity(
    scenario: AnyScenario,
    slo: Mapping[str, float],
    *,
    requests: int | None = None,
    tolerance: float = 0.02,
    overrides: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Capacity:
    """The largest request rate that meets latency objectives.

    Parameters
    ----------
    scenario
        As for `sweep`. Its requests come at the rates that are tried: arrivals with a rate keep their law, clients of a closed loop become
        Poisson arrivals, a trace is stretched in time.
    slo
        Objectives in milliseconds, such as ``{"p99_ttft_ms": 2000, "mean_tpot_ms": 50}``: mean, median, p90, p95 or p99 of ttft, tpot, e2el or
        queue, over the requests after the warm-up.
    requests
        Of a run; the scenario's if left out, and at least 1000. Runs are made longer where most of one would be filling and emptying. A trace
        has those that it has.
    tolerance
        Width of the bracket when it is done, relative to the rate found.
    overrides
        Values for every run.
    progress
        A bar on stderr; by default only on a terminal.

    Returns
    -------
    Capacity
        The rate, its bracket, the service rate that bounds it, what binds, goodput, and every rate tried.

    Raises
    ------
    ConfigError
        No such objective, or the scenario has no requests.
    SimulationError
        The scenario cannot run.

    Examples
    --------
    >>> import ridgeline as rl
    >>> found = rl.capacity("chat_8b", {"p99_ttft_ms": 2000, "mean_tpot_ms": 50}, requests=200, tolerance=0.5)
    >>> found.request_rate < found.service_rate
    True
    """
    limits = _checked(slo)
    if not 0.0 < tolerance < 1.0:
        raise ConfigError(f"--tolerance: expected a share above 0 and below 1, got {tolerance:g}")
    with Progress(math.ceil(math.log2(1.0 / tolerance)) + 2, 0, progress) as bar:  # about: each run halves the bracket
        load = _Load(opened(scenario, overrides), requests)
        most = load.service_rate()
        probes: list[Probe] = []

        def probe(rate: float) -> Probe:
            bar.add(1)
            probes.append(load.probe(rate, limits))
            return probes[-1]

        low, high = 0.0, most
        met: Probe | None = None
        missed: Probe | None = None
        light, lightest = most * tolerance, most * _LIGHTEST
        rate = max(light, lightest)
        while True:
            one = probe(rate)
            if one.failed:
                high, missed = one.request_rate, one
            else:
                low, met = one.request_rate, one
            if high <= lightest or (met is not None and high - low <= tolerance * low):
                break
            if met is None:
                rate = lightest
            elif high <= light:  # somewhere in orders of magnitude
                rate = math.sqrt(low * high)
            else:
                rate = (low + high) / 2
    binds = _worst(missed, limits) if missed else _FALLS_BEHIND
    return Capacity(low, (low, high), most, binds, met.goodput if met else 0.0, limits, tuple(probes))


def _checked(slo: Mapping[str, float]) -> dict[str, float]:
    if not slo:
        raise ConfigError("--slo: expected objectives like p99_ttft_ms=2000, got none")
    for name, limit in slo.items():
        if name not in statistics():
            raise ConfigError(f"--slo: no objective is named '{name}'{suggestion(name, statistics())}")
        if not limit > 0.0:
            raise ConfigError(f"--slo: {name}: expected milliseconds above 0, got {limit:g}")
    return {name: float(limit) for name, limit in slo.items()}


def _worst(probe: Probe, limits: Mapping[str, float]) -> str:
    """What is missed by the largest factor. A server that falls behind misses everything, sooner or later."""
    for why in _HOW:
        if why in probe.failed:
            return why
    return max(probe.failed, key=lambda name: probe.statistics[name] / limits[name])


class _Load:
    """The scenario's requests at any rate: generated ones by the rate of their arrivals, a trace's by stretching its time."""

    def __init__(self, runs: ScenarioRuns, requests: int | None) -> None:
        self._runs = runs
        leaves = dict(runs.leaves([]))
        if any(key.startswith("workload.training.") for key in leaves):
            raise ConfigError("capacity: a training step has no requests; give a scenario that serves some")
        if requests is not None and requests < 1:
            raise ConfigError(f"--requests: expected at least 1, got {requests}")
        self._is_trace = "workload.trace" in leaves
        self._rate_key = next((key for key in leaves if key.startswith("workload.arrivals.") and key.endswith(".rate")), None)
        given = leaves.get("workload.requests")
        self._requests = requests if requests is not None else max(1000, int(given)) if given and not self._is_trace else None
        self._native = 0.0  # of a trace: its own rate
        self._copies = 1
        if self._is_trace:
            observed = self._observe([("workload.time_scale", "1")])
            self._native = self._copies * observed.offered_rate

    def service_rate(self) -> float:
        """Requests/s with all of them waiting from the start, of all copies of the server."""
        if self._is_trace:
            flooded = self._observe([("workload.time_scale", "1e-6")])
        else:
            n, flooded = 0, self._flood(self._requests or 1000)
            while n < _TIMES_IN_FLOOD * flooded.peak_running * self._copies:
                n = _TIMES_IN_FLOOD * flooded.peak_running * self._copies
                flooded = self._flood(n)
        return self._copies * service_rate(flooded)

    def _flood(self, n: int) -> Observed:
        """So many requests at once. Of those that start together the short ones end first; later starts are mixed."""
        at_once = json.dumps({"closed_loop": {"concurrency": n}})
        # Who is there from the start need not be gathered.
        return self._observe([("workload.gather", "null"), ("workload.arrivals", at_once), ("workload.requests", str(n))])

    def probe(self, rate: float, limits: Mapping[str, float]) -> Probe:
        """A run at a rate, long enough that it is mostly neither filling nor emptying."""
        n = self._requests
        while True:
            observed = self._observe(self._at(rate, n))
            wanted = int(_LONG * float(observed.e2el.mean()) * rate)
            if n is None or n >= _MOST_TIMES_LONGER * (self._requests or n):
                break
            # What only fills grows less and less in a longer run; what is fed faster than it is emptied does not.
            if n >= wanted and observed.settled:
                break
            n = min(max(wanted, 2 * n), _MOST_TIMES_LONGER * (self._requests or n))
        values = {name: observed.statistic(name) for name in limits}
        failed = tuple(name for name, limit in limits.items() if values[name] > limit)
        if not observed.keeps_up:
            too_short = n is None and len(observed.arrival) * self._copies < wanted
            failed = (_UNSETTLED if too_short else _FALLS_BEHIND, *failed)
        return Probe(rate, len(observed.arrival) * self._copies, observed.staying, values, failed, rate * observed.good_share(limits))

    def _at(self, rate: float, n: int | None) -> list[tuple[str, str]]:
        if self._is_trace:
            out = [("workload.time_scale", repr(self._native / rate))]
        elif self._rate_key:
            out = [(self._rate_key, f"{rate!r} /s")]
        else:  # clients that wait for answers have no rate; strangers who come at random do
            out = [("workload.arrivals", json.dumps({"poisson": {"rate": f"{rate!r} /s"}}))]
        return out + ([("workload.requests", str(n))] if n is not None else [])

    def _observe(self, point: list[tuple[str, str]]) -> Observed:
        import numpy as np

        answer = self._runs.requests(point)
        self._copies = int(answer.pop("copies"))
        return Observed.of({name: np.frombuffer(column) for name, column in answer.items()})
