"""The serving engine's settings, by vLLM's argument names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._typed import Part, known_keys
from ._values import Reference

__all__ = ["Engine", "SpeculativeConfig"]


@known_keys("engine.speculative_config")
@dataclass(frozen=True, kw_only=True, repr=False)
class SpeculativeConfig(Part):
    """Speculative decoding: every decode step checks drafts of each sequence in one pass.

    Parameters
    ----------
    model
        The draft model, as of `Scenario`; ``"ngram"`` for n-grams that the host looks up.
    num_speculative_tokens
        Drafts of a sequence in a step.
    acceptance
        Probability from 0 to 1 that a draft is right, whatever stands before it. An input: no text is simulated.

    Raises
    ------
    ConfigError
        A keyword is no setting; says which is near.

    Examples
    --------
    >>> import ridgeline as rl
    >>> rl.Engine(speculative_config=rl.SpeculativeConfig(model="ngram", num_speculative_tokens=4, acceptance=0.5))
    Engine(speculative_config=SpeculativeConfig(model='ngram', num_speculative_tokens=4, acceptance=0.5))
    """

    model: Reference
    num_speculative_tokens: int
    acceptance: float | str


@known_keys("engine")
@dataclass(frozen=True, kw_only=True, repr=False)
class Engine(Part):
    """Settings of the serving engine, by vLLM's argument names. What is left out is what the scenario below says, else vLLM's default.

    Parameters
    ----------
    scheduler
        Policy of the scheduler, by default the stack's: ``"vllm_v1"``, or ``"vllm_v0"`` with steps of one kind. Defaults below are V1's.
    max_num_seqs
        Sequences in a running batch, at most. Default 1024 (V0: 256).
    max_num_batched_tokens
        Tokens that one step may process. Default 8192 (V0: max_model_len, at least 2048).
    max_model_len
        Tokens of a prompt and its answer together; the model's positions by default.
    block_size
        Tokens in a block of the KV cache. Default 16.
    gpu_memory_utilization
        Fraction of the GPU's memory that the engine takes, or text such as ``"90 %"``. Default 0.9.
    tensor_parallel_size, pipeline_parallel_size, data_parallel_size
        GPUs that split every matrix, stages that share the layers, equal copies of all this. Default 1.
    enable_expert_parallel
        Whether the GPUs share out whole experts. Default False.
    kv_cache_dtype
        ``"auto"`` (as the activations), or a number format such as ``"fp8"``.
    enable_chunked_prefill
        Whether a prompt may be processed in pieces beside decoding. Default True (V0: False).
    enforce_eager
        Launch kernel by kernel, without graphs. Default False.
    num_scheduler_steps
        Of vLLM V0: decode steps that the host starts at once. Default 1.
    async_scheduling
        Whether the host plans the next step while the device works; by default as the stack does.
    enable_prefix_caching
        Keep blocks whose tokens may come again. Default True (V0: False).
    speculative_config
        Drafts that are checked ahead; none by default.
    long_prefill_token_threshold
        Prompts longer than this many tokens take turns; 0 is off.
    scheduler_reserve_full_isl
        Admit a request only when its whole prompt fits. Default True.
    watermark
        Fraction of the KV blocks kept free when a request is admitted beside running ones. Default 0 (V0: 1 %).
    prefill_free_kv
        Of vLLM V0: prompts wait while less than this fraction of the KV blocks is free. Default 0.
    num_gpu_blocks_override
        Number of KV blocks, whatever the memory would hold.
    cudagraph_capture_sizes
        Batch sizes that graphs are captured for; vLLM's by default.

    Raises
    ------
    ConfigError
        A keyword is no setting; says which is near. Values are checked when the scenario is opened.

    Examples
    --------
    >>> import ridgeline as rl
    >>> rl.Engine(max_num_seqs=64, kv_cache_dtype="fp8")
    Engine(max_num_seqs=64, kv_cache_dtype='fp8')
    >>> rl.Engine(max_num_seq=64)
    Traceback (most recent call last):
    ...
    ridgeline._core.ConfigError: Engine: engine.max_num_seq: unknown key; did you mean 'max_num_seqs'?
    """

    scheduler: Literal["vllm_v0", "vllm_v1"] | str | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    max_model_len: int | None = None
    block_size: int | None = None
    gpu_memory_utilization: float | str | None = None
    tensor_parallel_size: int | None = None
    pipeline_parallel_size: int | None = None
    data_parallel_size: int | None = None
    enable_expert_parallel: bool | None = None
    kv_cache_dtype: Literal["auto", "bf16", "fp16", "fp8"] | str | None = None
    enable_chunked_prefill: bool | None = None
    enforce_eager: bool | None = None
    num_scheduler_steps: int | None = None
    async_scheduling: bool | None = None
    enable_prefix_caching: bool | None = None
    speculative_config: SpeculativeConfig | Mapping[str, Any] | None = None
    long_prefill_token_threshold: int | None = None
    scheduler_reserve_full_isl: bool | None = None
    watermark: float | str | None = None
    prefill_free_kv: float | str | None = None
    num_gpu_blocks_override: int | None = None
    cudagraph_capture_sizes: Sequence[int] | None = None


def engine_from(value: dict[str, Any]) -> Engine:
    """Settings as they stand in YAML, typed. They have been read by C++ before: no key is wrong."""
    config = value.get("speculative_config")
    return Engine(**value | ({} if config is None else {"speculative_config": SpeculativeConfig(**config)}))
