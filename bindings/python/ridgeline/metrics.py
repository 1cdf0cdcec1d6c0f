"""Metrics of a run, by the names that ``vllm bench serve --save-result`` has, and what only a simulator knows."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from . import _html

__all__ = ["Ledger", "Metrics"]

_LATENCIES = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2el": "E2E", "queue": "queue"}
_STATISTICS = ("mean", "median", "p90", "p95", "p99")


@dataclass(frozen=True, repr=False)
class Metrics:
    """What clients of the server see, and the state of the server at its worst.

    Attributes
    ----------
    duration : float
        From the first arrival to the last completion, seconds.
    num_prompts, completed, failed : int
        Requests: all, finished, and refused or unfinished.
    total_input_tokens, total_output_tokens : int
        Tokens of finished requests.
    request_throughput, output_throughput, total_token_throughput : float
        Requests, output tokens, and input and output tokens a second.
    mean_ttft_ms, median_ttft_ms, std_ttft_ms, p90_ttft_ms, p95_ttft_ms, p99_ttft_ms : float
        Time to first token, milliseconds.
    mean_tpot_ms, median_tpot_ms, std_tpot_ms, p90_tpot_ms, p95_tpot_ms, p99_tpot_ms : float
        Time per output token after the first, a mean for each request, milliseconds.
    mean_itl_ms, median_itl_ms, std_itl_ms, p90_itl_ms, p95_itl_ms, p99_itl_ms : float
        Time between two tokens, pooled over requests, milliseconds.
    mean_e2el_ms, median_e2el_ms, std_e2el_ms, p90_e2el_ms, p95_e2el_ms, p99_e2el_ms : float
        From a request's arrival to its last token, milliseconds.
    mean_queue_ms, median_queue_ms, std_queue_ms, p90_queue_ms, p95_queue_ms, p99_queue_ms : float
        From a request's arrival to the first step that works on it, milliseconds.
    refused, unfinished, preemptions, steps : int
        Requests with too long a prompt, requests that an interrupted run left, preemptions, steps of the engine.
    kv_blocks, block_size : int
        Blocks of the KV cache, and tokens in each.
    peak_kv_usage : float
        Largest share of the blocks in use, from 0 to 1.
    peak_running, peak_waiting : int
        Most requests running and waiting at once.
    extrapolated_share : float
        Share of the kernels' time outside the sizes or machines that were measured, from 0 to 1.
    prefix_cache_hit_tokens : int
        Prompt tokens that were in the prefix cache.
    prefix_cache_hit_rate : float
        Their share of all prompt tokens that were looked up, from 0 to 1.
    energy_joules_rough, energy_joules_per_output_token_rough : float or None
        Joules, from the board's power; None where that is not known.
    spec_decode_num_drafts, spec_decode_draft_tokens, spec_decode_accepted_tokens : int or None
        Drafts that were checked, their tokens, and those of them that were right; None without speculation.
    spec_decode_acceptance_rate, spec_decode_acceptance_length : float or None
        Right ones in per cent, and tokens that a step brings a sequence on average.
    """

    duration: float
    num_prompts: int
    completed: int
    failed: int
    total_input_tokens: int
    total_output_tokens: int
    request_throughput: float
    output_throughput: float
    total_token_throughput: float
    mean_ttft_ms: float
    median_ttft_ms: float
    std_ttft_ms: float
    p90_ttft_ms: float
    p95_ttft_ms: float
    p99_ttft_ms: float
    mean_tpot_ms: float
    median_tpot_ms: float
    std_tpot_ms: float
    p90_tpot_ms: float
    p95_tpot_ms: float
    p99_tpot_ms: float
    mean_itl_ms: float
    median_itl_ms: float
    std_itl_ms: float
    p90_itl_ms: float
    p95_itl_ms: float
    p99_itl_ms: float
    mean_e2el_ms: float
    median_e2el_ms: float
    std_e2el_ms: float
    p90_e2el_ms: float
    p95_e2el_ms: float
    p99_e2el_ms: float
    mean_queue_ms: float
    median_queue_ms: float
    std_queue_ms: float
    p90_queue_ms: float
    p95_queue_ms: float
    p99_queue_ms: float
    refused: int
    unfinished: int
    preemptions: int
    steps: int
    kv_blocks: int
    block_size: int
    peak_kv_usage: float
    peak_running: int
    peak_waiting: int
    extrapolated_share: float
    prefix_cache_hit_tokens: int
    prefix_cache_hit_rate: float
    energy_joules_rough: float | None = None
    energy_joules_per_output_token_rough: float | None = None
    spec_decode_num_drafts: int | None = None
    spec_decode_draft_tokens: int | None = None
    spec_decode_accepted_tokens: int | None = None
    spec_decode_acceptance_rate: float | None = None
    spec_decode_acceptance_length: float | None = None

    @classmethod
    def of(cls, result: dict[str, Any]) -> Metrics:
        """The metrics in a result as ``result.json`` has it.

        Parameters
        ----------
        result
            The whole of it.

        Returns
        -------
        Metrics
            Those that this class has.
        """
        every = result | result["ridgeline"]
        return cls(**{field.name: every[field.name] for field in dataclasses.fields(cls) if field.name in every})

    def as_dict(self) -> dict[str, float | int | None]:
        """The metrics by name, for a row of a table.

        Returns
        -------
        dict
            Every attribute.
        """
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __repr__(self) -> str:
        return (
            f"Metrics({self.completed:,} of {self.num_prompts:,} requests in {self.duration:.4g} s: "
            f"{self.output_throughput:,.4g} output tokens/s, mean TTFT {self.mean_ttft_ms:.4g} ms, mean TPOT {self.mean_tpot_ms:.4g} ms)"
        )

    def _repr_html_(self) -> str:
        counts = [
            ["requests answered", f"{self.completed:,} of {self.num_prompts:,}"],
            ["requests/s", f"{self.request_throughput:,.4g}"],
            ["output tokens/s", f"{self.output_throughput:,.4g}"],
            ["KV blocks used at most", f"{self.peak_kv_usage:.1%}"],
            ["running and waiting at most", f"{self.peak_running:,}, {self.peak_waiting:,}"],
            ["preemptions", f"{self.preemptions:,}"],
        ]
        rows = [[title, *(f"{getattr(self, f'{s}_{name}_ms'):,.4g}" for s in _STATISTICS)] for name, title in _LATENCIES.items()]
        return _html.table(["served", f"in {self.duration:,.4g} s"], counts) + _html.table(["ms", *_STATISTICS], rows)


@dataclass(frozen=True, repr=False)
class Ledger:
    """Where the server's time went, to the nanosecond: seven causes that add up to its steps, and the time without a request.

    Attributes
    ----------
    compute_ns, memory_ns, floor_ns : int
        In kernels that the matrix units, HBM, or their fixed cost bind.
    communication_ns : int
        In collectives between devices.
    dispatch_ns, launch_ns : int
        Between kernels: the device turning from one to the next, and waiting for the host.
    host_ns : int
        Before and after a step's kernels: the host working alone.
    idle_ns : int
        Between steps, with no request to work on.
    """

    compute_ns: int
    memory_ns: int
    floor_ns: int
    communication_ns: int
    dispatch_ns: int
    launch_ns: int
    host_ns: int
    idle_ns: int

    @property
    def total_ns(self) -> int:
        """All of it: from the beginning of the first step to the end of the last."""
        return sum(self.as_dict().values())

    def as_dict(self) -> dict[str, int]:
        """The parts by name.

        Returns
        -------
        dict
            Whole nanoseconds.
        """
        return {field.name: int(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def shares(self) -> dict[str, float]:
        """The parts as shares of the whole.

        Returns
        -------
        dict
            By cause, without the unit in its name; they add up to 1, or are all 0 for a run without steps.
        """
        whole = self.total_ns
        return {name.removesuffix("_ns"): part / whole if whole else 0.0 for name, part in self.as_dict().items()}

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {share:.1%}" for name, share in self.shares().items() if share)
        return f"Ledger({self.total_ns * 1e-9:.4g} s: {parts})"

    def _repr_html_(self) -> str:
        parts = zip(self.shares().items(), self.as_dict().values())
        rows = [[name, f"{ns * 1e-9:,.4g}", f"{share:.1%}", _html.bar(share)] for (name, share), ns in parts]
        return _html.table(["where the time went", "s", "share", ""], rows)
