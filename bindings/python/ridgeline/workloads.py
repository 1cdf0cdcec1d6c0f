"""What the server has to do: requests made up, requests of a trace, or training steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Union

from ._typed import Part, known_keys
from ._values import StrPath

__all__ = [
    "Arrivals",
    "ClosedLoop",
    "ConstantArrivals",
    "EmpiricalLength",
    "GammaArrivals",
    "Gather",
    "GeneratedWorkload",
    "Length",
    "LognormalLength",
    "PoissonArrivals",
    "QuantileLength",
    "SharedPrefix",
    "TraceWorkload",
    "TrainingWorkload",
    "UniformLength",
    "Workload",
]


@known_keys("workload.arrivals.poisson")
@dataclass(frozen=True, repr=False)
class PoissonArrivals(Part):
    """Requests that arrive with exponential gaps.

    Parameters
    ----------
    rate
        Requests per second, or text with a unit: ``"330 /min"``.
    rescale
        Stretch the gaps so that the last of N requests arrives at N / rate, as ``vllm bench serve`` does. Default True.
    """

    _law: ClassVar[str] = "poisson"
    _units: ClassVar[dict[str, str]] = {"rate": "/s"}
    rate: float | str
    rescale: bool | None = None


@known_keys("workload.arrivals.gamma")
@dataclass(frozen=True, repr=False)
class GammaArrivals(Part):
    """Requests that arrive with gamma-distributed gaps: in bursts for cv above 1.

    Parameters
    ----------
    rate
        Requests per second, or text with a unit.
    cv
        Coefficient of variation of the gaps: their standard deviation over their mean, from 0.001 to 100. vLLM's burstiness b is
        ``cv = b ** -0.5``.
    rescale
        As of `PoissonArrivals`.
    """

    _law: ClassVar[str] = "gamma"
    _units: ClassVar[dict[str, str]] = {"rate": "/s"}
    rate: float | str
    cv: float
    rescale: bool | None = None


@known_keys("workload.arrivals.constant")
@dataclass(frozen=True, repr=False)
class ConstantArrivals(Part):
    """Requests that arrive at equal gaps.

    Parameters
    ----------
    rate
        Requests per second, or text with a unit.
    """

    _law: ClassVar[str] = "constant"
    _units: ClassVar[dict[str, str]] = {"rate": "/s"}
    rate: float | str


@known_keys("workload.arrivals.closed_loop")
@dataclass(frozen=True, repr=False)
class ClosedLoop(Part):
    """Clients that wait for an answer before they ask again.

    Parameters
    ----------
    concurrency
        Clients: so many requests in flight at most.
    think_time
        From an answer to the client's next request: seconds, or text with a unit. Default 0.
    """

    _law: ClassVar[str] = "closed_loop"
    _units: ClassVar[dict[str, str]] = {"think_time": "s"}
    concurrency: int
    think_time: float | str | None = None


@known_keys("workload.prompt_tokens.uniform")
@dataclass(frozen=True, repr=False)
class UniformLength(Part):
    """A number of tokens drawn evenly.

    Parameters
    ----------
    low, high
        Tokens, both included.
    """

    _law: ClassVar[str] = "uniform"
    low: int
    high: int


@known_keys("workload.prompt_tokens.lognormal")
@dataclass(frozen=True, repr=False)
class LognormalLength(Part):
    """A number of tokens whose logarithm is normal: exp(N(ln median, sigma)), rounded.

    Parameters
    ----------
    median
        Tokens that half of the lengths are below.
    sigma
        Standard deviation of the logarithm, above 0 and at most 10.
    min, max
        Tokens; what falls outside becomes the bound.
    """

    _law: ClassVar[str] = "lognormal"
    median: float
    sigma: float
    min: int | None = None
    max: int | None = None


@known_keys("workload.prompt_tokens")
@dataclass(frozen=True, repr=False)
class EmpiricalLength(Part):
    """A number of tokens drawn, with replacement, from a request trace.

    Parameters
    ----------
    empirical
        The trace's file.
    """

    empirical: StrPath


@known_keys("workload.prompt_tokens")
@dataclass(frozen=True, repr=False)
class QuantileLength(Part):
    """A number of tokens by its quantiles at equal steps of probability; between two of them every length is as likely.

    Parameters
    ----------
    quantiles
        Tokens in ascending order, from the shortest to the longest: five of them are the quartiles.
    """

    quantiles: Sequence[int]


@known_keys("workload.gather")
@dataclass(frozen=True, repr=False)
class Gather(Part):
    """A front end that hands requests on in batches, as MLPerf harnesses and routers do.

    Parameters
    ----------
    interval
        From one batch to the next, unless nobody has arrived: seconds, or text with a unit.
    at_most
        Requests of a batch, which goes at once when it is full.
    """

    _units: ClassVar[dict[str, str]] = {"interval": "s"}
    interval: float | str
    at_most: int


@known_keys("workload.shared_prefix")
@dataclass(frozen=True, repr=False)
class SharedPrefix(Part):
    """Prompts that begin alike: each has the prefix of one of some groups before its own tokens.

    Parameters
    ----------
    groups
        How many prefixes there are.
    tokens
        Length of each.
    zipf
        The n-th group is as likely as 1 / n ** zipf; 0, the default, is all alike.
    """

    groups: int
    tokens: int
    zipf: float | None = None


#: When requests arrive.
Arrivals = Union[PoissonArrivals, GammaArrivals, ConstantArrivals, ClosedLoop]
#: How many tokens a prompt or an answer has: a whole number is always that many.
Length = Union[int, UniformLength, LognormalLength, QuantileLength, EmpiricalLength]


@known_keys("workload")
@dataclass(frozen=True, kw_only=True, repr=False)
class GeneratedWorkload(Part):
    """Requests that are made up from laws of arrival and length; the same for the same seed.

    On a scenario that generates its requests too, what is left out stays as it was; elsewhere the first four are needed.

    Parameters
    ----------
    requests
        How many.
    arrivals
        When they arrive.
    prompt_tokens, output_tokens
        Their lengths.
    shared_prefix
        What prompts begin with, on top of their own tokens.
    gather
        A front end that hands requests on in batches; none by default.

    Examples
    --------
    >>> import ridgeline as rl
    >>> rl.GeneratedWorkload(requests=100, arrivals=rl.PoissonArrivals(2.5)).as_dict()
    {'requests': 100, 'arrivals': {'poisson': {'rate': '2.5 /s'}}}
    """

    requests: int | None = None
    arrivals: Arrivals | None = None
    prompt_tokens: Length | None = None
    output_tokens: Length | None = None
    shared_prefix: SharedPrefix | None = None
    gather: Gather | None = None


@known_keys("workload")
@dataclass(frozen=True, repr=False)
class TraceWorkload(Part):
    """The requests of a trace: a CSV with the columns of Azure's or Vidur's, or an object a line (JSON).

    Parameters
    ----------
    trace
        The file.
    requests
        The first so many of it; all if left out.
    time_scale
        Arrival times are multiplied by it: 0.5 doubles the rate. Default 1.
    gather
        A front end that hands requests on in batches; none by default.
    """

    trace: StrPath
    requests: int | None = None
    time_scale: float | None = None
    gather: Gather | None = None


@known_keys("workload.training")
@dataclass(frozen=True, kw_only=True, repr=False)
class TrainingWorkload(Part):
    """A training step, forward and backward, instead of requests.

    Parameters
    ----------
    microbatch
        Sequences.
    sequence
        Tokens of each.
    """

    _law: ClassVar[str] = "training"
    microbatch: int
    sequence: int


#: What a server has to do.
Workload = Union[GeneratedWorkload, TraceWorkload, TrainingWorkload]

_LAWS: dict[str, type[Part]] = {
    cls._law: cls for cls in (PoissonArrivals, GammaArrivals, ConstantArrivals, ClosedLoop, UniformLength, LognormalLength)
}


def _law_from(value: Any) -> Any:
    """A law as it stands in YAML, typed."""
    if not isinstance(value, dict):
        return value
    ((name, parameters),) = value.items()
    if name == "fixed":
        return parameters
    named = {"empirical": EmpiricalLength, "quantiles": QuantileLength}.get(name)
    return named(parameters) if named else _LAWS[name](**parameters)


def workload_from(value: dict[str, Any]) -> Workload:
    """A workload as it stands in YAML, typed. It has been read by C++ before: no key is wrong."""
    if "training" in value:
        return TrainingWorkload(**value["training"])
    prefix, gather = value.pop("shared_prefix", None), value.pop("gather", None)
    gathered = None if gather is None else Gather(**gather)
    if "trace" in value:
        return TraceWorkload(**value, gather=gathered)
    laws = {key: _law_from(part) for key, part in value.items()}
    return GeneratedWorkload(**laws, shared_prefix=None if prefix is None else SharedPrefix(**prefix), gather=gathered)
