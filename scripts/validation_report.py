#!/usr/bin/python3
"""Holds the program against published measurements and writes docs/validation.md, its picture and the table in README.md.

    scripts/validation_report.py DATA_DIR            writes docs/validation.md, docs/validation.png, the block in README.md
    scripts/validation_report.py DATA_DIR --check    changes nothing; exit code 1 and a sentence if they are not what the data give

The program is build/ridgeline, or $RIDGELINE. DATA_DIR may be left out where $RIDGELINE_CORPUS says it. With --check,
for the tests, that comes first, and without the data it is skipped; it does not look at the picture, which needs matplotlib (Debian: python3-matplotlib).
"""

import argparse
import collections
import csv
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

from update_docs import PROGRAM, ROOT, bring_up_to_date, replace_block

# What is judged, in this order. The two MI300X tables of matrix products overlap, see `twins`.
TABLES = {
    "gemm": "mi300x/gemm.csv",
    "gemm_all": "mi300x/gemm_aiter_all.csv",
    "gemm_other": "other_gpus/ops_vidur.csv",
    "attention": "mi300x/attention.csv",
    "allreduce": "mi300x/allreduce.csv",
    "allreduce_other": "other_gpus/allreduce_vidur.csv",
    "moe": "mi300x/moe.csv",
    "layers": "other_gpus/vllm_kernels",
    "serving": "mi300x/serving.csv",
    "batches": "other_gpus/serving_splitwise.csv",
}
WHOLE_SERVERS = ("serving", "batches")
TITLES = {
    "gemm": "Matrix products, MI300X and kin",
    "gemm_all": "Matrix products, every tuned table of ROCm/aiter",
    "gemm_other": "Matrix products, A100 and H100",
    "attention": "Attention",
    "allreduce": "All-reduce",
    "allreduce_other": "All-reduce, A100 and H100",
    "moe": "Mixture of experts",
    "layers": "Layers of vLLM 0.19 on two GPUs of a desktop",
    "serving": "Servers",
    "batches": "Batches of a server of 2023",
}
NOTES = {
    "allreduce_other": "`h100_dgx` gave H100's NCCL its constants; nothing was fitted to the others. All are priced as GPUs behind NVSwitches; of pairs joined by NVLink only the two of a pair.",
    "layers": "Profiles of five models, alone or shared by two GPUs. Products, attention, experts, norms, activations and rotary embeddings of some"
    " of them gave `rtx4090` and `rtx_pro_6000` their constants, as those files say; embedding, sampler and the norm of queries and keys gave none.",
}
RECORDINGS = {
    "vllm_0_19_rtx4090": "other_gpus/vllm_0.19/RTX4090_Llama-3.1-8B/requests.jsonl",
    "vllm_0_19_rtx_pro_6000": "other_gpus/vllm_0.19/RTXPRO6000_Llama-3.1-8B/requests.jsonl",
}
TRACES = {
    "decode, batch 32, in a graph": "traces/tracelens/mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz",
    "prefill, 15,360 tokens, eager": "traces/tracelens/mi300x_sglang_qwen3-8b_prefill_15360tok_eager.json.gz",
}
TRACE_SCENARIO = ["chat_8b", "--set", "model=qwen3_8b", "--set", "stack=sglang"]
# Measurements in the data that no command judges, and why.
NOT_JUDGED = {
    "mi300x/mlperf.csv": "its MI300X rows stand in serving.csv too",
    "mi300x/bandwidth.csv": "inputs of the machine, not outputs",
    "mi300x/launch.csv": "likewise",
    "mi300x/training.csv": "training runs; no command replays them",
    "mi300x/power.csv": "too few rows",
}


def percent(x):
    return f"{100 * x:.1f} %"


def signed(x):
    return f"{100 * x:+.1f} %"


def quantile(values, q):
    """As the program has it: of an even number of values the upper middle one."""
    return sorted(values)[int(q * (len(values) - 1) + 0.5)] if values else None


class Row:
    """One measurement with its prediction, and the line of the table that it comes from."""

    def __init__(self, line, cells):
        self.group = line["group"]
        self.measured, self.predicted = float(line["measured"]), float(line["predicted"])
        self.held_back, self.inside = line["held_back"] == "1", line["inside"] == "1"
        self.cells = cells

    @property
    def ratio(self):
        return self.predicted / self.measured

    @property
    def error(self):
        return abs(self.ratio - 1)


def summary(rows):
    errors = [r.error for r in rows]
    return (quantile(errors, 0.5), quantile(errors, 0.9)) if rows else (None, None)


def program(*argv):
    """Output of the program; a failed check (1) is for the report to say."""
    try:
        done = subprocess.run([PROGRAM, *argv], capture_output=True, text=True, cwd=ROOT)
    except OSError as error:
        sys.exit(f"{PROGRAM}: {error.strerror}; build it first, or set RIDGELINE")
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(argv[:2])}: {done.stderr.strip()}")
    return done.stdout


def validate(path, *more):
    """Rows, and groups as --json has them, of one file."""
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.csv"
        groups = json.loads(program("validate", str(path), "--json", "--csv", str(rows), *more))
        with open(rows, newline="") as file:
            lines = list(csv.DictReader(file))
    files = {}

    def cells(line):
        """Those of the row that a line is about."""
        file, number = line["place"].rsplit(": row ", 1) if ": row " in line["place"] else (None, None)
        if file is None or not file.endswith(".csv"):
            return {}
        if file not in files:
            with open(file, newline="") as table:
                files[file] = list(csv.DictReader(table))
        return files[file][int(number) - 1]

    return [Row(line, cells(line)) for line in lines], groups


def held_back(cells):
    """The rule of `fidelity::held_back`, a second time."""
    digest = 14695981039346656037
    for byte in b"1" + "\x1f".join(cells.values()).encode():
        digest = ((digest ^ byte) * 1099511628211) % 2**64
    return digest % 4 == 0


class Results:
    def __init__(self, data):
        self.data = data
        self.rows, self.groups = {}, {}
        for name, path in TABLES.items():
            self.rows[name], self.groups[name] = validate(data / path)
        self.replays = {s: validate(data / p, "--scenario", s) for s, p in RECORDINGS.items()}
        self.traces = {t: json.loads(program("compare", str(data / p), *TRACE_SCENARIO, "--json")) for t, p in TRACES.items()}
        for row in self.rows["layers"]:
            row.group = re.sub(r"^(\S+) .* tp\d+ (.*)$", r"\1 \2", row.group)  # all models together
        for rows in self.rows.values():
            for row in rows:
                assert row.held_back == held_back(row.cells), f"{row.cells}: the two rules of holding back differ"

    def below_floor(self):
        return sum(g["below_floor"] for name, groups in self.groups.items() if name not in WHOLE_SERVERS for g in groups)


# --- kinds of rows ---------------------------------------------------------------------------------------------------------------------

QUANTITIES = {  # of a server, by the metric's name in the tables, and what turns it into seconds
    "throughput": ("throughput", "output_throughput", "total_throughput", "tokens_per_second", "tokens_per_s", "samples_per_s"),
    "time of a batch": ("e2e_latency", "elapsed_time", "duration_s"),
    "TPOT": ("tpot", "tpot_mean", "tpot_median", "tpot_p99", "itl"),
    "TTFT": ("ttft", "ttft_mean", "ttft_median", "ttft_p99", "ttft_mean_ms"),
    "end-to-end": ("e2e_mean",),
}
MILLISECONDS = ("TPOT", "TTFT", "end-to-end")


def quantity(row):
    return next(q for q, metrics in QUANTITIES.items() if row.cells["metric"] in metrics)


def server(row):
    c = row.cells
    weights = re.sub(r" \(amd/[^)]*\)|…", "", c["weights"]).replace(" (meta-llama/FP8;", " (meta-llama;")
    model = re.sub(r"-99(\.9)?$", "", c["model"])
    gpus = c["n_gpu"] or re.search(r"x(\d+)$", c["mode_notes"])[1]
    return f"{gpus}x {c['hw']}, {model} {weights}, {c['framework']} ({publisher(c)})"


def publisher(cells):
    """ "ROCm/vllm" of a repository's path, "amd.com" of a page's address."""
    if "MLPerf" in cells["load_kind"]:
        return "MLPerf, " + cells["mode_notes"].split(" ")[0]
    parts = re.sub(r"^https?://", "", cells["source"].split(" ")[0]).split("/")
    return parts[0].removeprefix("www.") if "." in parts[0] else "/".join(parts[:2])


def shape(row, *columns):
    return tuple(row.cells[c] for c in ("batch", "M", "N", "K", *columns))


def twins(results):
    """Measurements that stand in both MI300X tables of matrix products: (how many, of them held back in one only)."""
    here = {shape(r, "time_us", "tflops"): r for r in results.rows["gemm"]}
    both = [(here[shape(r, "time_us", "tflops")], r) for r in results.rows["gemm_all"] if shape(r, "time_us", "tflops") in here]
    return len(both), sum(a.held_back != b.held_back for a, b in both)


def strictly_held_back(results):
    """Rows of gemm.csv held back whose shape no row that is not held back has, in either table."""
    seen = {shape(r) for name in ("gemm", "gemm_all") for r in results.rows[name] if not r.held_back}
    return [r for r in results.rows["gemm"] if r.held_back and shape(r) not in seen]


def kinds_of_kernels(comparison):
    """[(name, real, simulated, ratio)] of a step: products and attention by their role, everything else by its class."""
    others = [c for c in comparison["classes"] if c["name"] not in ("gemm", "attention")]
    return [(r["name"], r["real_seconds"], r["simulated_seconds"], r["ratio"]) for r in comparison["roles"] + others if r["real_seconds"] > 0]


def trace_errors(comparison):
    """A kind that was not simulated at all is wrong by all of it."""
    return [1.0 if ratio is None else abs(ratio - 1) for _, _, _, ratio in kinds_of_kernels(comparison)]


def replayed(rows, scenario, word):
    return [r for r in rows if r.group == f"{scenario} {word}"]


# --- aims ------------------------------------------------------------------------------------------------------------------------------


def aims(results):
    """[(what, aim, reached, whether, label)]; README.md joins what has the same label."""
    out = []

    def add(label, what, limit, value, more="", also=()):
        yes = all(v is not None and v <= limit for v in (value, *also))
        out.append((f"{label}: {what}", f"{100 * limit:.0f} %", ("-" if value is None else percent(value)) + more, yes, label))

    held = {name: [r for r in rows if r.held_back] for name, rows in results.rows.items()}
    for name, words in (("gemm", "gemm.csv"), ("gemm_all", "gemm_aiter_all.csv")):
        median, p90 = summary(held[name])
        label = f"Matrix products on MI300X, {words}, {len(held[name]):,} rows held back"
        add(label, "median", 0.06, median)
        add(label, "90th percentile", 0.20, p90)
    mine = [r for r in held["attention"] if r.cells["hw"].startswith("MI300")]
    other = [r for r in held["attention"] if not r.cells["hw"].startswith("MI300")]
    add(f"Attention on MI300X, {len(mine)} rows held back", "median", 0.12, summary(mine)[0])
    add(f"Attention on MI355X, {len(other)} rows held back", "median", 0.12, summary(other)[0])
    add(f"All-reduce, {len(held['allreduce'])} rows held back", "median", 0.15, summary(held["allreduce"])[0])
    add(f"Matrix products on A100 and H100, {len(held['gemm_other'])} rows held back", "median", 0.10, summary(held["gemm_other"])[0])
    for title, comparison in results.traces.items():
        errors = trace_errors(comparison)
        add("Two traces of an MI300X, kinds of kernels", f"median, {title}", 0.15, quantile(errors, 0.5))
    for title, comparison in results.traces.items():
        error = comparison["step"]["ratio"] - 1
        add("Two traces of an MI300X, the whole step", title, 0.08, abs(error), f" ({signed(error)})")
    for q, limit in (("throughput", 0.10), ("TPOT", 0.10), ("TTFT", 0.20)):
        rows = [r for r in results.rows["serving"] if quantity(r) == q]
        part = [r for r in rows if r.held_back]
        (median, p90), (held_median, _) = summary(rows), summary(part)
        more = f" ({len(part)} rows held back: {percent(held_median)}); 90th percentile {percent(p90)}"
        add(f"Servers, {q}, all {len(rows)} rows", "median", limit, median, more, also=[held_median])
    for word, part, limit in (("mean TPOT", "mean TPOT", 0.02), ("mean TTFT", "mean TTFT", 0.08), ("end-to-end", "end-to-end of a request, median", 0.05)):
        for scenario, (rows, _) in results.replays.items():
            mine = replayed(rows, scenario, word)
            more = f" ({signed(mine[0].ratio - 1)})" if len(mine) == 1 else ""
            add(f"Two recorded runs of vLLM 0.19, {part}", scenario, limit, summary(mine)[0], more)
    below = results.below_floor()
    kernels = sum(len(rows) for name, rows in results.rows.items() if name not in WHOLE_SERVERS)
    out.append((f"Kernels predicted below bytes and FLOP at peak, of {kernels:,}", "0", str(below), below == 0,
                f"Kernels predicted below bytes and FLOP at peak, of {kernels:,}"))
    return out


# --- misses ----------------------------------------------------------------------------------------------------------------------------

# Causes, each with the rule by which a row of a table is counted to it; the first that holds. None is used to predict.
CAUSES = [
    ("Published as launch-bound: hipBLASLt's fp8 products at M = 1024 (note of the table)", "gemm", lambda c: "launch-bound" in c["note"]),
    ("Squares of 1024 through Python: the product is shorter than a launch, which the published time probably includes", "gemm",
     lambda c: c["M"] == c["N"] == c["K"] == "1024"),
    ("fp8 block-scale products of up to 16 rows, N = 512, K = 6144: measured times halve below 80 rows, as if K were split for less than the"
     " fitted cost; not confirmed", "gemm_all", lambda c: (c["N"], c["K"]) == ("512", "6144")),
    ("Unfused fp32 attention, priced as a fused kernel", "attention", lambda c: "PyTorch native" in c["kernel"]),
    ("A kernel that its authors call unoptimised, with register spills: a lower bound", "attention", lambda c: "unoptimised" in c["note"]),
    ("Wall-clock with a synchronisation each iteration, Triton's default configuration: launch and wait are in the time", "attention",
     lambda c: "sync" in c["note"] + c["source"]),
    ("Meta's fp8 checkpoint on ROCm in 2024, which the table itself calls a slow path; no stack models it", "serving",
     lambda c: "slow path" in c["weights"]),
    ("H100 server of 2024, priced with the ROCm stack of that time: prompts of 32,784 tokens, and batches of 64, took twice as long; not"
     " explained, the table says nothing of the engine's settings", "serving", lambda c: c["hw"].startswith("H100")),
    ("A100s that this table calls a DGX: 63 MB over eight of them take 5.2 ms, 21 GB/s of bus bandwidth, so they did not go over NVLink", "allreduce_other",
     lambda c: c["system"] == "a100_dgx"),
    ("Messages of up to 5 MB, timed at the host's pace: 7 to 47 us for the same call", "allreduce_other", lambda c: float(c["bytes"]) < 5e6),
    ("Embedding: rows of the table are read from HBM, in a profile of few different tokens they stay in the cache", "layers",
     lambda c: c.get("layer") == "embedding"),
    ("Sampler: priced as small kernels over the logits, whose constants were fitted to others", "layers", lambda c: c.get("layer") == "sampler"),
    ("Norm of queries and keys: two strided kernels that run at HBM's pace, priced as contiguous ones in the cache", "layers",
     lambda c: c.get("layer") == "qk_norm"),
    ("Small kernels of few rows: one share of the cache for all widths", "layers", lambda c: c.get("layer") in ("rotary_emb", "act_fn", "layernorm", "final_layernorm")),
    ("vLLM of 2023, prompts of a batch in one step: half as fast from eight of 512 tokens on; not explained", "batches", lambda c: True),
]
UNEXPLAINED = "Not explained"

# Groups of kernels that stay far off without single rows beyond a factor of two: words in the group's name, and why.
FAR = 0.2
FAR_CAUSES = [
    ("MI355X vLLM custom AR (before)", "the kernel before a fix; the constants are of the one after it"),
    ("MI355X", "matrix kernels with the constants of the MI300X, another architecture"),
    ("triton", "constants set by hand: 10 us are added to every product, while many of few rows take little more altogether"),
    ("HipKittens", "another library, priced with hipBLASLt's constants or as the assembly kernel; small sizes"),
    ("hipBLASLt", "small squares, see above"),
    ("PyTorch native", "unfused"),
    ("aiter Triton", "head dimension 256, wall-clock with a synchronisation each iteration"),
    ("aiter CK", "head dimension 256, wall-clock with a synchronisation each iteration"),
    ("a100_dgx", "not over NVLink, see above"),
    ("pairwise_nvlink", "a bridge between two GPUs, priced as a switch"),
    ("h100_dgx", "small messages at the host's pace, see above"),
    ("embedding", "see above"),
    ("sampler", "see above"),
    ("qk_norm", "see above"),
    ("layernorm", "a norm whose tensors partly left the cache"),
]


def misses(results):
    """{cause: [(table, row)]} of what is off by more than a factor of two."""
    out = collections.OrderedDict((cause, []) for cause, _, _ in CAUSES)
    out[UNEXPLAINED] = []
    for name, rows in results.rows.items():
        for row in rows:
            if 0.5 <= row.ratio <= 2:
                continue
            cause = next((w for w, table, rule in CAUSES if table == name and rule(row.cells)), UNEXPLAINED)
            out[cause].append((name, row))
    return {cause: found for cause, found in out.items() if found}


# --- the page --------------------------------------------------------------------------------------------------------------------------


def table(header, rows, right):
    """Markdown; columns from `right` on are aligned to the right."""
    line = lambda cells: "| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |"
    rule = "|" + "|".join("--:" if i >= right else "---" for i in range(len(header))) + "|"
    return [line(header), rule, *map(line, rows)]


def bullets(*texts):
    return ["\n".join(textwrap.wrap(t, 140, initial_indent="* ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)) for t in texts]


def paragraph(text):
    return "\n".join(textwrap.wrap(text, 140, break_long_words=False, break_on_hyphens=False))


def group_table(rows, key, inside="inside"):
    """Rows of the data by `key`, those used to fit apart from those held back."""
    groups = collections.OrderedDict()
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    lines = []
    for name, members in [*groups.items(), *([("**all**", rows)] if len(groups) > 1 else [])]:
        cells = [name]
        for held in (False, True):
            part = [r for r in members if r.held_back == held]
            median, p90 = summary(part)
            cells += [f"{len(part):,}", *(percent(x) if part else "-" for x in (median, p90))]
        beyond = sum(not 0.5 <= r.ratio <= 2 for r in members)
        lines.append([*cells, f"{100 * sum(r.inside for r in members) / len(members):.0f} %", beyond])
    return table(["measured by", "not held back", "median", "p90", "held back", "median", "p90", inside, "beyond 2x"], lines, 1)


def aims_table(results):
    return table(["", "aim", "reached", "met"], [[w, a, r, "yes" if yes else "**no**"] for w, a, r, yes, _ in aims(results)], 1)


def fingerprint(path):
    """Of a file, or of the tables of a folder one after another."""
    files = sorted(path.rglob("*.csv")) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def trace_section(results):
    lines = [
        "## Traces of a real server",
        "",
        "`ridgeline compare TRACE " + " ".join(TRACE_SCENARIO) + "`: SGLang serving Qwen3 8B on one MI300X, PyTorch's profiler"
        " (AMD-AGI/TraceLens tests, 171dd747). In-sample: these traces gave the machine its small kernels' constants (`passes`), its decode"
        " attention and five of the bf16 products, and the stack its two efficiencies. Every kind of kernel counts once in the median of the"
        " aims, however small; one that is not simulated is wrong by 100 %.",
        "",
    ]
    for title, comparison in results.traces.items():
        us = lambda s: f"{s * 1e6:,.0f}"
        ratio = lambda r: "-" if r is None else f"{r:.2f}"
        rows = [[n.replace("_", " "), us(real), us(sim), ratio(r)] for n, real, sim, r in kinds_of_kernels(comparison)]
        for whole in ("busy", "step"):
            w = comparison[whole]
            rows.append([f"**{whole}**", us(w["real_seconds"]), us(w["simulated_seconds"]), ratio(w["ratio"])])
        lines += [f"**{title[0].upper() + title[1:]}**, us a step:", "", *table(["kernels", "real", "simulated", "ratio"], rows, 1), ""]
    return lines


def peer_summary(path):
    """{"TPOT Mean": "+0.2%"} of what a peer's own report says of a recorded run."""
    return dict(re.findall(r"^(\w+ \w+)\s+[\d.]+\s+[\d.]+\s+([+-][\d.]+%)$", path.read_text(), re.M))


def replay_section(results):
    lines = [
        "## Recorded runs",
        "",
        "300 requests of ShareGPT at 10 /s, served by vLLM 0.19 (Llama 3.1 8B, bf16) and replayed with their own lengths and arrivals:"
        " `ridgeline validate requests.jsonl --scenario NAME`. Recordings and the peer's figures: casys-kaist/LLMServingSim 5daddb21. The peer"
        " prices steps by tables profiled on the very GPUs; here kernels come from mechanisms whose constants were fitted to"
        " parts of those tables. In-sample: `host.exposed` of the stack was fitted to the mean TPOT of these two runs, and on the RTX 4090 the number of KV"
        " blocks is what the engine's log says.",
        "",
    ]
    rows = []
    for scenario, (measured, _) in results.replays.items():
        peer = peer_summary(results.data / RECORDINGS[scenario].replace("requests.jsonl", "peer_simulator_summary.txt"))
        for word, theirs in (("mean TPOT", "TPOT Mean"), ("mean TTFT", "TTFT Mean")):
            row = replayed(measured, scenario, word)[0]
            digits = 2 if "TPOT" in word else 0
            rows.append([scenario, word, f"{row.measured * 1e3:,.{digits}f} ms", f"{row.predicted * 1e3:,.{digits}f} ms", signed(row.ratio - 1),
                         peer[theirs].replace("%", " %")])
        requests = replayed(measured, scenario, "end-to-end")
        real, simulated = (sum(x) / len(requests) for x in zip(*((r.measured, r.predicted) for r in requests)))
        rows.append([scenario, "mean end-to-end", f"{real:,.2f} s", f"{simulated:,.2f} s", signed(simulated / real - 1),
                     peer["Latency Mean"].replace("%", " %")])
        median, p90 = summary(requests)
        rows.append([scenario, "end-to-end of each request", "", "", f"median {percent(median)}, p90 {percent(p90)}", "not published"])
    return lines + table(["run", "", "measured", "simulated", "ours", "LLMServingSim 2"], rows, 2) + [""]


def misses_section(results):
    lines = ["## Misses beyond a factor of two", "",
             "Every row that is off by more than 2x, by cause. A cause is a rule on the row's own cells, read after the fact; none is used to"
             " predict.", ""]
    rows = []
    for cause, found in misses(results).items():
        ratios = [r.ratio for _, r in found]
        rows.append([cause, ", ".join(sorted({TABLES[t].split("/")[1] for t, _ in found})), len(found), sum(r.held_back for _, r in found),
                     f"{min(ratios):.2f} to {max(ratios):.2f}" if len(found) > 1 else f"{ratios[0]:.2f}"])
    lines += table(["cause", "table", "rows", "held back", "predicted / measured"], rows, 2)
    lines += ["", f"Groups of kernels whose median error is above {100 * FAR:.0f} %, not held back or held back:", ""]
    far = []
    for name, members in results.rows.items():
        for group in dict.fromkeys(r.group for r in members if name not in WHOLE_SERVERS):
            parts = [[r for r in members if r.group == group and r.held_back == held] for held in (False, True)]
            medians = [summary(part)[0] for part in parts]
            if any(m is not None and m > FAR for m in medians):
                why = next((w for words, w in FAR_CAUSES if words in group), "not explained")
                ratio = quantile([r.ratio for part in parts for r in part], 0.5)
                far.append([group, why, sum(map(len, parts)), *("-" if m is None else percent(m) for m in medians), f"{ratio:.2f}"])
    return lines + table(["measured by", "why", "rows", "not held back", "held back", "predicted / measured"], far, 2) + [""]


def not_predicted(results):
    """[(rows, reason)] of what the data hold and the program refuses to predict."""
    reasons = collections.OrderedDict()
    for groups in results.groups.values():
        for g in groups:
            if g["not_predicted"] > 0:
                why = re.sub(r"^.*?row \d+: ", "", g["why_not"])
                why = re.sub(r"; known:.*|, one of .*", "", why, flags=re.S)
                reasons[why] = reasons.get(why, 0) + g["not_predicted"]
    return list(reasons.items())


PEERS = [
    ("Vidur", "latency of requests", "below 9 %", "MLSys 2024"),
    ("LLMServingSim 2", "four runs of 300 requests: TPOT, latency, TTFT", "1.7 %; 2.2 %; -13.6 to +1.3 %", "casys-kaist/LLMServingSim 5daddb21"),
    ("BLIS (inference-sim)", "36 held-out runs, medians: end-to-end, TTFT, ITL", "6.7 %, 17.6 %, 7.1 %", "its blog, 2026-08-06"),
    ("AIConfigurator", "products left out one by one; TTFT of vLLM", "7 to 15 %; 18 % mean, with a fitted queue", "its repository, ai-dynamo/aiconfigurator"),
    ("Frontier", "throughput; end-to-end, 16 H800", "below 4 %; 6.4 % and 2.6 %", "its authors"),
    ("LLMCompass", "operators; inference", "10.9 %; 4.1 %", "ISCA 2024"),
]


def page(results):
    together, split = twins(results)
    strict = strictly_held_back(results)
    median, p90 = summary(strict)
    runs = collections.defaultdict(list)
    for r in results.rows["serving"]:
        runs[tuple(v for k, v in r.cells.items() if k not in ("metric", "value", "unit", "flag"))].append(r)
    shared = sum(1 for rows in runs.values() for r in rows if r.held_back and any(not o.held_back for o in rows))
    all_held = sum(r.held_back for r in results.rows["serving"])
    lines = [
        "# How right it is",
        "",
        "Written by `scripts/validation_report.py DATA_DIR`, which runs `ridgeline validate` and `ridgeline compare` on published measurements"
        " and adds up; causes and other simulators' figures are written in it. An error is |predicted / measured - 1|, p90 its 90th percentile.",
        "",
        "## Aims and what is reached",
        "",
        *aims_table(results),
        "",
        "![Measured against predicted, one panel a set, logarithmic](validation.png)",
        "",
        "## What these numbers are",
        "",
        *bullets(
            "**Held back** is a quarter of each table's rows: those whose 64-bit FNV-1a hash of \"1\" and the row's cells, joined by 0x1f, is"
            " divisible by 4. The rule stands in `fidelity/table.hpp`; the report computes it a second time. Constants of kernels were fitted to"
            " other rows, as `configs/hw` says place by place. Not all of those were used: tables of thousands were thinned, and some rows are of"
            " machines and libraries that nothing was fitted to (HipKittens, the MI355X but for its attention, Triton's bf16 products, whose constants were set by hand).",
            "Held back is not unseen. While mechanisms were chosen, summaries of the held-back rows were looked at, so the choice of a mechanism,"
            " if not its constants, may lean towards them. Rows held back are neighbours of rows fitted: the same library, the same sweep.",
            f"{together} products stand in both MI300X tables with other words beside them, {split} of them held back in one only. {len(strict)}"
            " rows of gemm.csv held back have a shape that no row free to fit has in either table: median"
            f" {percent(median)}, p90 {percent(p90)}.",
            "**Inside** is the share of measurements between `low_us` and `high_us` of the prediction, 90 % if the error bars are right.",
            "**In-sample**, with nothing held back from it: the hosts of the dated stacks, fitted to throughput in the table of servers"
            " (`vllm_v0_2024`: host.step; `vllm_v0`: host.per_sequence_ahead; `vllm_v0_mlperf`, `vllm_v1_2025`: host.per_sequence; `vllm_2023`:"
            " launch.issue), to the two recorded runs (`vllm_v1_0_19`: host.exposed), to a trace (`sglang`: efficiency.compute); and the MI300X's small kernels (`passes`),"
            f" decode attention and bf16 products of a few rows, from the same traces. Of the {all_held} rows of servers held back, {shared} are"
            " another metric of a run whose other rows are not: for servers the split shows little, and the aims take all rows.",
        ),
        "",
        "## Kernels, table by table",
        "",
    ]
    for name, path in TABLES.items():
        if name in WHOLE_SERVERS:
            continue
        lines += [f"### {TITLES[name]}", "", f"`ridgeline validate {path}`", "", *([NOTES[name], ""] if name in NOTES else [])]
        lines += [*group_table(results.rows[name], lambda r: r.group), ""]
    lines += trace_section(results)
    lines += [
        "## Servers",
        "",
        f"`ridgeline validate {TABLES['serving']}`: each row is simulated as a scenario that the row describes, with the stack of its engine's"
        " date. There are no error bars for whole servers; the column says how many are within 10 %. Rows of llama2-70b-99 and -99.9 are the"
        " same MLPerf runs: prompts as long as the data set's, requests gathered as the harness gathers them, every one of eight copies"
        " simulated. Dell's machine serves 4 to 6 % less than AMD's with the same software, and near saturation that is 20 to 30 % of its TPOT.",
        "",
        *group_table(results.rows["serving"], lambda r: f"{server(r)}: {quantity(r)}", "within 10 %"),
        "",
        f"### {TITLES['batches']}",
        "",
        f"`ridgeline validate {TABLES['batches']}`: Llama 2 70B in 16 bits under vLLM of 2023, a batch at a time (Mutinifni/splitwise-sim"
        " 8f99e7dc). One number of the stack was fitted to it, the time of a launch, between those of its two machines: 44 us on the A100s', 29 us on"
        " the H100s'. No aim was set for it.",
        "",
        *group_table(results.rows["batches"], lambda r: r.group, "within 10 %"),
        "",
    ]
    lines += replay_section(results)
    lines += misses_section(results)
    lines += ["## Not judged", "", *table(["rows", "not predicted because"], [[n, why] for why, n in not_predicted(results)], 9), ""]
    lines += [*table(["measurements", "not judged because"], [[f"`{p}`", why] for p, why in NOT_JUDGED.items()], 9), ""]
    lines += [
        "## Beside others",
        "",
        "What other simulators publish of themselves. The figures are theirs, of other servers and other data; only the recorded runs above are"
        " the same measurement for two simulators. None of these publishes accuracy on an MI300X.",
        "",
        *table(["system", "of what", "error", "source"], PEERS, 9),
        "",
        "## The data",
        "",
        "Published measurements, each row with its source; not part of this repository.",
        "",
    ]
    files = [*TABLES.values(), *RECORDINGS.values(), *TRACES.values()]
    lines += table(["file", "sha256"], [[f"`{f}`", fingerprint(results.data / f)] for f in files], 9)
    wrap = lambda line: line if line[:1] in ("|", "*", "!", "#") else paragraph(line)
    return "\n".join(map(wrap, lines)) + "\n"


def brief(results):
    """The table of README.md: aims of one label in one line."""
    every = aims(results)
    labels = collections.OrderedDict((a[4], [b for b in every if b[4] == a[4]]) for a in every)
    rows = []
    for label, those in labels.items():
        met = [yes for _, _, _, yes, _ in those]
        verdict = "yes" if all(met) else "in part" if any(met) else "**no**"
        join = lambda column: ", ".join(collections.OrderedDict.fromkeys(re.sub(r"^(\d.*?) \(([+-].*)\)$", r"\2", a[column]) for a in those))
        whats = f": {those[0][0].split(': ')[1]}, {those[1][0].split(': ')[1]}" if len({a[1] for a in those}) > 1 else ""
        rows.append([label + whats, join(1), join(2), verdict])
    met = sum(yes for _, _, _, yes, _ in every)
    return "\n".join(table(["median errors unless said otherwise", "aim", "reached", "met"], rows, 1)) + f"\n\n{met} of {len(every)} aims are met.\n"


# --- the picture -----------------------------------------------------------------------------------------------------------------------


def draw(results, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    def seconds(row):
        return 1e-3 if quantity(row) in MILLISECONDS else 1.0

    of = lambda name: [(r.measured * 1e6, r.predicted * 1e6, r.held_back) for r in results.rows[name]]
    serving = results.rows["serving"]
    rates = [r for r in serving if quantity(r) == "throughput"]
    times = [r for r in serving if quantity(r) != "throughput"]
    panels = [
        ("Matrix products, MI300X", "us", of("gemm")),
        ("Matrix products, all of ROCm/aiter", "us", of("gemm_all")),
        ("Matrix products, A100 and H100", "us", of("gemm_other")),
        ("Attention", "us", of("attention")),
        ("All-reduce", "us", of("allreduce")),
        ("All-reduce, A100 and H100", "us", of("allreduce_other")),
        ("Mixture of experts", "us", of("moe")),
        ("Layers of vLLM 0.19, RTX 4090 and PRO 6000", "us", of("layers")),
        ("Servers, throughput", "tokens or samples / s", [(r.measured, r.predicted, r.held_back) for r in rates]),
        ("Servers, TTFT, TPOT, time of a batch", "s", [(r.measured * seconds(r), r.predicted * seconds(r), r.held_back) for r in times]),
        ("Batches of a server of 2023", "ms", [(r.measured, r.predicted, r.held_back) for r in results.rows["batches"]]),
        ("Recorded runs, each request end to end", "s",
         [(r.measured, r.predicted, False) for s, (rows, _) in results.replays.items() for r in replayed(rows, s, "end-to-end")]),
    ]
    figure, axes = plt.subplots(4, 3, figsize=(12, 16.4), constrained_layout=True)
    for axis, (title, unit, points) in zip(axes.flat, panels):
        values = [v for x, y, _ in points for v in (x, y)]
        low, high = min(values) / 1.6, max(values) * 1.6
        axis.fill_between([low, high], [low / 2, high / 2], [low * 2, high * 2], color="#BBBBBB", alpha=0.35, linewidth=0)
        axis.plot([low, high], [low, high], color="#666666", linewidth=0.8)
        many = len(points) > 2000
        for held, colour, label in ((False, "#0072B2", "not held back"), (True, "#D55E00", "held back")):
            part = [(x, y) for x, y, h in points if h == held]
            if part:
                axis.scatter(*zip(*part), s=3 if many else 11, color=colour, alpha=0.25 if many else 0.6, linewidths=0, rasterized=True,
                             label=f"{label} ({len(part):,})")
        axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(LogLocator(numticks=6))
            side.set_minor_formatter(NullFormatter())
        axis.set_title(title, loc="left", fontsize=11)
        axis.set_xlabel(f"measured, {unit}")
        axis.set_ylabel("predicted")
        legend = axis.legend(loc="upper left", frameon=False, fontsize=8, handletextpad=0.2)
        for handle in legend.legend_handles if hasattr(legend, "legend_handles") else legend.legendHandles:
            handle.set_alpha(1.0)
            handle.set_sizes([18])
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    figure.suptitle("Predicted against measured; grey is within a factor of two", x=0.01, ha="left", fontsize=12)
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", metavar="DATA_DIR", help="folder with mi300x, other_gpus and traces")
    parser.add_argument("--check", action="store_true", help="change nothing, say what is out of date")
    args = parser.parse_args()
    places = [place for place in (args.data, os.environ.get("RIDGELINE_CORPUS")) if place]
    if not places:
        parser.error("expected DATA_DIR, or $RIDGELINE_CORPUS")
    data = pathlib.Path(places[-1 if args.check else 0]).resolve()
    missing = [f for f in (*TABLES.values(), *RECORDINGS.values(), *TRACES.values()) if not (data / f).exists()]
    if missing:
        if args.check:
            print("skipped: no corpus")
            return
        sys.exit(f"{data}: has no {missing[0]}")

    results = Results(data)
    readme = ROOT / "README.md"
    texts = {ROOT / "docs" / "validation.md": page(results), readme: replace_block(readme.read_text(), "validation", brief(results))}
    stale = bring_up_to_date(texts, args.check, "scripts/validation_report.py DATA_DIR")
    if not args.check:
        draw(results, ROOT / "docs" / "validation.png")
        print("wrote docs/validation.png")
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
