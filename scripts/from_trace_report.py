#!/usr/bin/env python3
"""Writes docs/from_trace.md: how well `ridgeline whatif from-trace` explains public traces, and a simulated server's own trace.

    scripts/from_trace_report.py DATA_DIR            rewrites the page if it changed
    scripts/from_trace_report.py --check [DATA_DIR]  changes nothing; exit code 1 if it is out of date; skipped without the data

DATA_DIR is a folder with traces/, or $RIDGELINE_CORPUS. The program is build/ridgeline, or $RIDGELINE.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from update_docs import ROOT, bring_up_to_date
from validation_report import PROGRAM, program

PLACE = pathlib.Path("traces") / "tracelens"
DECODE = "mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz"
PREFILL = "mi300x_sglang_qwen3-8b_prefill_15360tok_eager.json.gz"
HF = ["--model", "qwen1_5_0_5b", "--prefill", "8944", "--prefill-sequences", "16"]  # 16 x 559 tokens, by its operators' shapes
TRACES = {
    "SGLang, Qwen3 8B, MI300X: a decode step of 32 sequences in a graph": (DECODE, ["--model", "qwen3_8b"]),
    "SGLang, Qwen3 8B, MI300X: a prefill of 15,360 tokens, eager": (PREFILL, ["--model", "qwen3_8b"]),
    "Transformers, Qwen1.5 0.5B, MI300X: 16 prompts of 559 tokens": ("mi300_hf_qwen1.5-0.5b_prefill_bs16.json.gz", HF),
    "Transformers, Qwen1.5 0.5B, H100: 16 prompts of 559 tokens": ("h100_hf_qwen1.5-0.5b_prefill_bs16.json.gz", HF),
    "vLLM, gpt-oss 120B over eight B200: a prefill of 888 tokens, eager": (
        "b200_tp8_eager_decode.json.gz",
        ["--model", "gpt_oss_120b", "--set", "engine.kv_cache_dtype=fp8"],
    ),
}
# What a reader of the traces finds, that no number in them tells the program.
WHY = {
    "mi300_hf_qwen1.5-0.5b_prefill_bs16.json.gz": "The batch was given by hand, read off its operators' shapes. Norms and rotary embeddings run as"
    " many elementwise kernels, copies and casts, which no shipped stack has: one factor stands for all of them. The recorded pass computes no"
    " logits (no product has the vocabulary's width), the simulated one does.",
    "h100_hf_qwen1.5-0.5b_prefill_bs16.json.gz": "As on the MI300X: batch by hand, norms and rotary embeddings in pieces, no logits.",
    "b200_tp8_eager_decode.json.gz": "The trace names no model: it is told by the operators' shapes (36 layers, 2,880 wide, 25,136 words on each of"
    " eight devices), and is a prefill whatever its file is called. The device is busy for an eighth of the step; what the step waits for,"
    " one step tells in one number. The constants of this GPU's kernels are borrowed from another one (`borrowed` in its file).",
}
REFUSED = [
    ("mi300x_sglang_qwen3-8b_graphcapture_bs32.json.gz", ["--model", "qwen3_8b"]),
    ("mi300_hf_bert-small_hostbound.json.gz", []),
    ("mi300x_resnet_ddp8_actckpt_train.json.gz", []),
    ("mi210_gpu_only.json.gz", []),
]
SIMULATED = ["--set", "workload.requests=96", "--set", "workload.prompt_tokens={uniform: {low: 300, high: 1500}}",
             "--set", "workload.output_tokens={uniform: {low: 60, high: 200}}", "--set", "workload.arrivals={closed_loop: {concurrency: 16}}",
             "--set", "stack.efficiency.time={gemm: 1.3, norm: 2}", "--set", "stack.launch.issue=11 us", "--set", "stack.host.exposed=0.7 ms"]  # fmt: skip


def percent(x):
    return f"{100.0 * x:.1f} %"


def time(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def from_trace(trace, *argv):
    return json.loads(program("whatif", "from-trace", str(trace), "--json", "--quiet", *argv))


def row(rows, name):
    return next((r for r in rows if r["name"] == name), None)


def errors(answer, half):
    """Lines of a table: each quantity before and after, of one half of the steps."""
    lines = ["| | recorded | shipped stack | error | fitted | error |", "|---|--:|--:|--:|--:|--:|"]
    fit = answer["fit"]
    for after in fit["after"][half]:
        before = row(fit["before"][half], after["name"])
        lines.append(
            f"| {after['name'].replace('_', ' ')} | {time(after['real_seconds'])} | {time(before['simulated_seconds'])} |"
            f" {percent(before['median_error'])} | {time(after['simulated_seconds'])} | {percent(after['median_error'])} |"
        )
    return lines


def values(answer):
    fit = answer["fit"]
    out = [f"`{s['key']}` {s['before']} to {s['after']}" for s in fit["fusions"]]
    for v in fit["values"]:
        bound = f" ({v['bound']})" if v["bound"] else ""
        out.append(f"`{v['key']}` {v['before']} to {v['after']} from {v['count']:,} {v['of'][:-1] if v['count'] == 1 else v['of']}{bound}")
    return "; ".join(out)


def one_trace(title, file, answer):
    best = answer["fit"]["stacks"][0]
    lines = [f"### {title}", "", f"`{file}`. Stack: `{answer['stack']}`, kernels amiss {percent(best['kernels_off'])}. Step by step:", ""]
    lines += [*errors(answer, "fitted"), "", f"Fitted: {values(answer)}.", ""]
    notes = [*answer["notes"], *answer["fit"]["notes"]]
    if file in WHY:
        notes.append(WHY[file])
    return lines + ["Where it does not fit, and what is not known:", ""] + [f"* {note}" for note in notes] + [""]


def crossed(folder, data):
    """Each of the two steps of one server, held against what was fitted to the other."""
    lines = ["| fitted to | held against | recorded | as shipped | error | fitted to the other | error |", "|---|---|--:|--:|--:|--:|--:|"]
    for fitted, other in ((DECODE, PREFILL), (PREFILL, DECODE)):
        scenario = folder / "fitted.yaml"
        from_trace(data / fitted, "--model", "qwen3_8b", "--stack", "sglang", "--out", str(scenario))
        step = json.loads(program("compare", str(data / other), str(scenario), "--json"))["step"]
        real, simulated = step["real_seconds"], step["simulated_seconds"]
        shipped = row(from_trace(data / other, "--model", "qwen3_8b", "--stack", "sglang")["fit"]["before"]["fitted"], "step")
        lines.append(
            f"| {'decode' if fitted == DECODE else 'prefill'} | {'prefill' if other == PREFILL else 'decode'} | {time(real)} |"
            f" {time(shipped['simulated_seconds'])} | {percent(shipped['median_error'])} | {time(simulated)} | {percent(abs(simulated / real - 1.0))} |"
        )
    return lines


def replayed(answer):
    lines = ["| | a step | speed | predicted by the trace's own diagnosis |", "|---|--:|--:|---|"]
    said = {p["variant"]: p for p in answer["replay"]["predictions"]}
    for v in answer["replay"]["variants"]:
        if "cannot_run" in v:
            lines.append(f"| {v['name']} | cannot run: {v['cannot_run']} | | |")
            continue
        p = said.get(v["name"])
        predicted = f"{p['speedup'][0]:.2f}x to {p['speedup'][1]:.2f}x ({p['place']})" if p else ""
        lines.append(f"| {v['name']} | {time(v['step_seconds'])} | {v['gain']:.2f}x | {predicted} |")
    return lines


def beside_truth(trace):
    """Lines of a table: gains of changes told from the trace, beside those of the server itself, run with them."""
    lines = ["| change | told from the trace | how | the server itself |", "|---|--:|---|--:|"]
    for change in ("quantize:int4", "kv_cache:fp8", "gpu:h200", "graphs:off", "batch:32"):
        answer = from_trace(trace, "--model", "llama3_8b", change)
        how = "replay" if "replay" in answer else "served"
        truth = json.loads(program("whatif", "chat_8b", change, *SIMULATED, "--json", "--quiet"))
        told, true = (a["variants"][-1]["gain"] for a in (answer[how], truth))
        lines.append(f"| {change} | {told:.2f}x | {how} | {true:.2f}x |")
    return lines


def refusal(trace, argv):
    done = subprocess.run([PROGRAM, "whatif", "from-trace", str(trace), *argv], capture_output=True, text=True, cwd=ROOT)
    return done.stderr.strip().replace("ridgeline: ", "", 1).replace(str(trace), trace.name)


def page(data):
    lines = [
        "# A scenario from a trace",
        "",
        "Written by `scripts/from_trace_report.py DATA_DIR`, which runs every command it shows. Traces: AMD-AGI/TraceLens tests, 171dd747.",
        "",
        "`ridgeline whatif from-trace TRACE --model NAME [CHANGE...]` reads a profiler's trace, takes the shipped stack whose kernels are"
        " nearest, fits a few numbers to every other step, says how well the steps that were held back are explained, and replays the recorded"
        " steps with the changes. `--out FILE` writes the scenario for `ridgeline run`. What is fitted, and in which order, stands in"
        " `whatif/from_trace/calibrate.hpp`.",
        "",
        "* A factor of time never takes a kernel below its bytes and its FLOP at the machine's peak; where that binds, the table of fitted"
        " values says so.",
        "* A replay keeps the recorded batches. It says how long they would take, not which batches would form: queues and latencies need the"
        " requests, which no trace holds. Changes of the batch are served by clients that stand in for them, and said to be.",
        "* Host work that hides behind the device is not in a trace; the stack's own is kept.",
        "* Speculation is not recognised: of a server that speculates, say so with `--set engine.speculative_config=...`. Neither are quantized"
        " weights or a KV cache of 8 bit: the model and `--set` say them.",
        "",
        "## A simulated server, of which the truth is known",
        "",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program("run", "chat_8b", *SIMULATED, "--out", str(folder / "run"), "--quiet")
        program("trace", str(folder / "run"), "--out", str(folder / "trace.json.gz"))
        answer = from_trace(folder / "trace.json.gz", "--model", "llama3_8b")
        fit = answer["fit"]
        lines += [
            "`chat_8b` with kernels, launches and a host unlike those of any shipped stack, its trace written by `ridgeline trace` and read back;"
            f" {fit['fitted_steps']} steps fitted, {fit['held_back_steps']} held back, errors of the latter (median):",
            "",
            *errors(answer, "held_back"),
            "",
            f"Fitted: {values(answer)}.",
            "",
            "The truth was made by the model that is fitted to it, so this shows that the fit finds what is there, not that the model is right."
            " Gains of changes, beside those of the server itself when it is run with them (in output tokens a second, its scheduler forming"
            " other batches):",
            "",
            *beside_truth(folder / "trace.json.gz"),
            "",
            "## Public traces",
            "",
            "Every public trace of a language model holds one step, so nothing could be held back: these are errors of the fit itself, which its"
            " numbers can make small, and no measure of how well another step would be predicted. The nearest to one is the table after them.",
            "",
        ]
        for title, (file, argv) in TRACES.items():
            lines += one_trace(title, file, from_trace(data / file, *argv))
        lines += ["### One step of a server, fitted to another", "", "Both traces of SGLang are of one server. A trace that predicts the other one better than the shipped stack does has taught something;"
              " the stack and the machine's small kernels were themselves fitted to both (docs/validation.md), so neither column is a blind test.", "", *crossed(folder, data), ""]
    answer = from_trace(data / DECODE, "--model", "qwen3_8b", "quantize:int4", "kv_cache:fp8", "gpu:h200", "--each")
    lines += ["## What if", "", f"`ridgeline whatif from-trace {DECODE} --model qwen3_8b quantize:int4 kv_cache:fp8 gpu:h200 --each`", "",
              *replayed(answer), "", "## Traces that no scenario is built from", ""]  # fmt: skip
    lines += [f"* `{file}`: {refusal(data / file, argv)}" for file, argv in REFUSED]
    lines += ["", "The last three are an encoder, an image classifier in training and an unmarked training step: no shipped model is one of them.", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", metavar="DATA_DIR")
    parser.add_argument("--check", action="store_true", help="change nothing, say what is out of date")
    args = parser.parse_args()
    places = [place for place in (args.data, os.environ.get("RIDGELINE_CORPUS")) if place]
    if not places:
        parser.error("expected DATA_DIR, or $RIDGELINE_CORPUS")
    data = pathlib.Path(places[-1 if args.check else 0]).resolve() / PLACE
    if not (data / DECODE).is_file():
        if args.check:
            print("skipped: no corpus")
            return
        sys.exit(f"{data}: has no {DECODE}")
    stale = bring_up_to_date({ROOT / "docs" / "from_trace.md": page(data)}, args.check, "scripts/from_trace_report.py DATA_DIR")
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
