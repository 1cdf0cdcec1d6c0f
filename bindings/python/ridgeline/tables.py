"""The tables of a run and of a trace, column by column. Times are whole nanoseconds since the run or the recording began."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from .columns import Column, Columns, Derived, Labels

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Calls", "Counters", "Kernels", "Requests", "Steps", "Timeline", "TimelineSteps", "TokenGaps"]

_ONE_OF_CAUSES = {
    "compute": "in kernels that the matrix units bind",
    "memory": "in kernels that HBM binds",
    "floor": "in kernels at their fixed cost",
    "communication": "in collectives between devices",
    "dispatch": "between kernels: the device turning from one to the next",
    "launch": "between kernels: the device waiting for the host to issue the next",
    "host": "before and after the kernels: the host working alone",
}


class Requests(Columns):
    """One row a request, in the order of their numbers. Times of a request that was refused or interrupted mean nothing beyond its arrival.

    Of a finished one, queue + preempted + all prefill and decode columns are the time from its arrival to its last token, to the
    nanosecond.
    """

    id: Column[np.uint64] = Column("Its number, from 0.")
    status: Labels = Labels('"finished", "refused" (its prompt is too long) or "interrupted" (the run was stopped).')
    prompt_tokens: Column[np.int64] = Column("Tokens of the prompt.")
    asked_tokens: Column[np.int64] = Column("Output tokens asked for.")
    output_tokens: Column[np.int64] = Column("Output tokens produced.")
    preemptions: Column[np.int64] = Column("How often it lost its KV blocks.")
    arrival_ns: Column[np.int64] = Column("When it arrived.")
    scheduled_ns: Column[np.int64] = Column("When the first step that worked on it began.")
    first_token_ns: Column[np.int64] = Column("When its first token was out.")
    last_token_ns: Column[np.int64] = Column("When its last token was out.")
    preempted_ns: Column[np.int64] = Column("Time out of the running batch after a preemption.")
    prefill_compute_ns: Column[np.int64] = Column(f"Until its first token, {_ONE_OF_CAUSES['compute']}.")
    prefill_memory_ns: Column[np.int64] = Column(f"Until its first token, {_ONE_OF_CAUSES['memory']}.")
    prefill_floor_ns: Column[np.int64] = Column(f"Until its first token, {_ONE_OF_CAUSES['floor']}.")
    prefill_communication_ns: Column[np.int64] = Column(f"Until its first token, {_ONE_OF_CAUSES['communication']}.")
    prefill_dispatch_ns: Column[np.int64] = Column(f"Until its first token, {_ONE_OF_CAUSES['dispatch']}.")
    prefill_launch_ns: Column[np.int64] = Column(f"Until its first token, {_ONE_OF_CAUSES['launch']}.")
    prefill_host_ns: Column[np.int64] = Column(f"Until its first token, {_ONE_OF_CAUSES['host']}.")
    decode_compute_ns: Column[np.int64] = Column(f"After its first token, {_ONE_OF_CAUSES['compute']}.")
    decode_memory_ns: Column[np.int64] = Column(f"After its first token, {_ONE_OF_CAUSES['memory']}.")
    decode_floor_ns: Column[np.int64] = Column(f"After its first token, {_ONE_OF_CAUSES['floor']}.")
    decode_communication_ns: Column[np.int64] = Column(f"After its first token, {_ONE_OF_CAUSES['communication']}.")
    decode_dispatch_ns: Column[np.int64] = Column(f"After its first token, {_ONE_OF_CAUSES['dispatch']}.")
    decode_launch_ns: Column[np.int64] = Column(f"After its first token, {_ONE_OF_CAUSES['launch']}.")
    decode_host_ns: Column[np.int64] = Column(f"After its first token, {_ONE_OF_CAUSES['host']}.")
    cached_tokens: Column[np.int64] = Column("Tokens of its prompt that were in the prefix cache when it was admitted.")
    ttft_ns: Derived[np.int64] = Derived(lambda r: r.first_token_ns - r.arrival_ns, "Time to first token.")
    e2e_ns: Derived[np.int64] = Derived(lambda r: r.last_token_ns - r.arrival_ns, "From its arrival to its last token.")
    queue_ns: Derived[np.int64] = Derived(lambda r: r.scheduled_ns - r.arrival_ns, "From its arrival to the first step that worked on it.")
    tpot_ns: Derived[np.float64] = Derived(
        lambda r: (r.last_token_ns - r.first_token_ns) / (r.output_tokens - 1).clip(1), "Mean time between its tokens; 0 for one token."
    )


class Steps(Columns):
    """One row a step of the engine, in time order. The seven causes add up to a step's length exactly."""

    start_ns: Column[np.int64] = Column("When it began.")
    decode_sequences: Column[np.uint32] = Column("Sequences that decode.")
    decode_context: Column[np.uint32] = Column("Sum of their context lengths, tokens.")
    decode_longest: Column[np.uint32] = Column("The longest of these contexts, tokens.")
    prefill_sequences: Column[np.uint32] = Column("Sequences whose prompt is worked on.")
    prefill_tokens: Column[np.uint32] = Column("Sum of their new tokens q.")
    prefill_context: Column[np.uint32] = Column("Sum of their contexts k after this step, tokens.")
    prefill_qk: Column[np.int64] = Column("Sum of q k.")
    prefill_qq: Column[np.int64] = Column("Sum of q q.")
    sampled: Column[np.uint32] = Column("Tokens that come out.")
    compute_ns: Column[np.int64] = Column(f"Time {_ONE_OF_CAUSES['compute']}.")
    memory_ns: Column[np.int64] = Column(f"Time {_ONE_OF_CAUSES['memory']}.")
    floor_ns: Column[np.int64] = Column(f"Time {_ONE_OF_CAUSES['floor']}.")
    communication_ns: Column[np.int64] = Column(f"Time {_ONE_OF_CAUSES['communication']}.")
    dispatch_ns: Column[np.int64] = Column(f"Time {_ONE_OF_CAUSES['dispatch']}.")
    launch_ns: Column[np.int64] = Column(f"Time {_ONE_OF_CAUSES['launch']}.")
    host_ns: Column[np.int64] = Column(f"Time {_ONE_OF_CAUSES['host']}.")
    duration_ns: Derived[np.int64] = Derived(lambda s: sum(s.view(f"{cause}_ns") for cause in _core.CAUSES), "Its length.")
    end_ns: Derived[np.int64] = Derived(lambda s: s.start_ns + s.duration_ns, "When it ended.")


class Counters(Columns):
    """The server's state when a step began: one row a step, as in `Steps`."""

    running: Column[np.uint32] = Column("Sequences in the running batch.")
    waiting: Column[np.uint32] = Column("Requests that wait.")
    kv_blocks_used: Column[np.uint32] = Column("Blocks of the KV cache in use.")
    preemptions: Column[np.uint32] = Column("Preemptions so far.")


class TokenGaps(Columns):
    """Times between two tokens of a request (ITL), pooled over requests: each row stands for `count` gaps of one length in one step."""

    gap_ns: Column[np.int64] = Column("The length.")
    count: Column[np.uint64] = Column("How many requests had it in that step.")


class Kernels(Columns):
    """One row a kernel of a window, by step and start. What the source does not know is 0 or empty."""

    start_ns: Column[np.int64] = Column("When it began.")
    duration_ns: Column[np.int64] = Column("Its length.")
    name: Labels = Labels("As the profiler prints it.")
    kernel_class: Labels = Labels('"gemm", "attention", "norm" ...')
    role: Labels = Labels('What it does in the model, such as "q_proj", where that is known.')
    step: Column[np.int64] = Column("The step it belongs to; -1 unknown.")
    stream: Column[np.int32] = Column("Stream or queue.")
    correlation: Column[np.int64] = Column("Of the call that launched it; the kernels of a graph share one. 0 unknown.")
    from_graph: Column[np.bool_] = Column("Whether a graph launched it.")
    workgroups: Column[np.int64] = Column("Workgroups in its grid.")
    threads: Column[np.int32] = Column("Threads of a workgroup.")
    m: Column[np.int64] = Column("Of a matrix product: rows, that is tokens.")
    n: Column[np.int64] = Column("Of a matrix product: columns of its result.")
    k: Column[np.int64] = Column("Of a matrix product: its depth.")
    issued_flop: Column[np.float64] = Column("FLOP that were done, padding included.")
    useful_flop: Column[np.float64] = Column("FLOP that had to be done.")
    hbm_read_bytes: Column[np.float64] = Column("Bytes read from HBM.")
    hbm_written_bytes: Column[np.float64] = Column("Bytes written to HBM.")
    end_ns: Derived[np.int64] = Derived(lambda s: s.start_ns + s.duration_ns, "When it ended.")


class Calls(Columns):
    """One row a call of the runtime on the host, by step and start."""

    start_ns: Column[np.int64] = Column("When it began.")
    duration_ns: Column[np.int64] = Column("Its length.")
    name: Labels = Labels('"hipLaunchKernel", "hipGraphLaunch" ...')
    step: Column[np.int64] = Column("The step it belongs to; -1 unknown.")
    correlation: Column[np.int64] = Column("What kernels that it launched have too. 0 unknown.")
    end_ns: Derived[np.int64] = Derived(lambda s: s.start_ns + s.duration_ns, "When it ended.")


class TimelineSteps(Columns):
    """One row a step of a window, with what it held, as far as the source knows."""

    index: Column[np.int64] = Column("Its number: what `Kernels.step` and `Calls.step` say.")
    start_ns: Column[np.int64] = Column("When it began.")
    duration_ns: Column[np.int64] = Column("Its length.")
    decode_sequences: Column[np.int64] = Column("Sequences that decode.")
    decode_context: Column[np.int64] = Column("Sum of their context lengths, tokens.")
    prefill_sequences: Column[np.int64] = Column("Sequences whose prompt is worked on.")
    prefill_tokens: Column[np.int64] = Column("Sum of their new tokens.")
    prefill_context: Column[np.int64] = Column("Sum of their contexts after this step, tokens.")
    end_ns: Derived[np.int64] = Derived(lambda s: s.start_ns + s.duration_ns, "When it ended.")


class Timeline:
    """Steps, kernels and calls of a window: what a profiler shows.

    Attributes
    ----------
    steps : TimelineSteps
        Steps that begin in the window.
    kernels : Kernels
        Their kernels.
    calls : Calls
        The calls that launched them, and others.
    """

    def __init__(self, spans: _core.Spans) -> None:
        texts = spans.names()
        self.steps = TimelineSteps(spans.steps())
        self.kernels = Kernels(spans.kernels(), name=texts, role=texts, kernel_class=_core.KERNEL_CLASSES)
        self.calls = Calls(spans.calls(), name=texts)

    def __repr__(self) -> str:
        return f"Timeline: {len(self.steps):,} steps, {len(self.kernels):,} kernels, {len(self.calls):,} calls"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>" + self.kernels._repr_html_()
