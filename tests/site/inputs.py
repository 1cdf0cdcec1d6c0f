"""Files that the README's commands speak of, small: made once, copied to each page's folder."""

import json
import subprocess

EVIDENCE = """\
machine: mi300x
model: {parameters: 8e9, weight_dtype: bf16}
serving: {concurrency: 32}
measured: {throughput: 1150 tokens/s}
"""
LOG = """\
INFO 08-01 12:00:00 [loggers.py:111] Engine 000: Avg prompt throughput: 1500.0 tokens/s, Avg generation throughput: 1150.0 tokens/s, \
Running: 32 reqs, Waiting: 0 reqs, GPU KV cache usage: 12.3%, Prefix cache hit rate: 0.0%
"""
CONVERSATIONS = """\
TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2222670,879,55
"""
CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 131072,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
ATTENTION = "hw,phase,dtype,batch,q_heads,seqlen_q,causal\nMI300X,fwd,bf16,2,32,4096,1\n"
PRODUCTS = "hw,M,N,K,dtype,time_us\nMI300X,16,8192,8192,bf16,40\nMI300X,4096,8192,8192,bf16,900\n"


ANSWERS = "?\n" * 20  # of ten exercises, none known


def make(folder, program):
    """Writes them into a folder."""
    (folder / "my_server.yaml").write_text(EVIDENCE)
    (folder / "server.log").write_text(LOG)
    (folder / "conv.csv").write_text(CONVERSATIONS)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "shapes.csv").write_text(ATTENTION)
    (folder / "ada.txt").write_text(ANSWERS)
    (folder / "measured.csv").write_text(PRODUCTS)
    busy = ["workload.requests=4", "workload.arrivals={closed_loop: {concurrency: 4}}", "model=qwen3_8b", "workload.output_tokens=8"]
    overrides = [word for one in busy for word in ("--set", one)]
    quiet = {"check": True, "capture_output": True, "cwd": folder}
    subprocess.run([program, "run", "chat_8b", *overrides, "--out", "traced"], **quiet)
    subprocess.run([program, "trace", "traced", "--out", "trace.json.gz"], **quiet)
