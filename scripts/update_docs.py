#!/usr/bin/env python3
"""Writes the parts of the documentation that the program itself says: docs/cases.md, docs/evidence.md, docs/evidence_text.md, docs/drill.md, docs/score.md, docs/whatif.md, and
the marked blocks of README.md.

    scripts/update_docs.py                   rewrites what changed
    scripts/update_docs.py --check           changes nothing; exit code 1 and a sentence if something is out of date
    scripts/update_docs.py --bench [TRACE]   also the timings, which differ from computer to computer

The program is build/ridgeline, or $RIDGELINE.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("RIDGELINE", str(ROOT / "build" / "ridgeline"))


def run(*argv, typed=None):
    return subprocess.run([PROGRAM, *argv], check=True, capture_output=True, text=True, cwd=ROOT, input=typed).stdout


def number(value):
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}"


def cases_page():
    lines = [
        "# The five cases",
        "",
        "Written by `scripts/update_docs.py` from `ridgeline cases --json`. Each case runs on the datasheet machine"
        " (`configs/hw/mi300x_datasheet.yaml`).",
        "Given is what the case states, free is what it leaves open (at most four, each with its reason), and what came"
        " out of the simulation stands",
        "beside what the case states. No number that must come out is an input. Diagnoses: `ridgeline cases`.",
    ]
    for case in json.loads(run("cases", "--json")):
        lines += ["", f"## {case['case']}: {case['title']}", "", "**Given**", ""]
        lines += [f"* {given}" for given in case["given"]]
        lines += ["", "**Free**", "", "| set | to | because |", "|---|---|---|"]
        lines += [f"| {', '.join('`%s`' % k for k in f['keys'])} | {f['value']} | {f['reason']} |" for f in case["free"]]
        lines += ["", "**Came out**", "", "| quantity | simulated | stated | accepted |", "|---|---|---|---|"]
        for name, value in case["simulated"].items():
            low, high = case["accepted"][name]
            stated = number(case["expected"][name])
            lines.append(f"| {name} | {number(value)} | {stated} | {number(low)} to {number(high)} |")
        answer = case["diagnosis"]["simulated"]
        names = lambda recommendations: ", ".join(r["name"] for r in recommendations)
        lines += ["", f"**Diagnosis**, from the timeline and from typed numbers alike: {answer['regime']} / {answer['phase']};"
                  f" fix: {names(answer['fixes'])}; rejected first: {answer['rejects'][0]['name']}."]
    return "\n".join(lines) + "\n"


def evidence_text_page():
    lines = [
        "# Evidence from pasted text",
        "",
        "Written by `scripts/update_docs.py` from `ridgeline evidence formats --json`.",
        "",
        "`ridgeline evidence read FILE` (or `-`, or `ridgeline.read_pasted(text)`) takes text as people paste it into a report of a slow"
        " server, all in",
        "one piece and in any order, and prints what it says as a fragment of evidence YAML, each value with its line. Terminal colours,"
        " log prefixes,",
        "quotation marks, HTML entities and Windows line ends do not matter. What was not read is listed, and so are numbers that were"
        " there and not",
        "taken: without a unit, or contradicted by another line. Keys: `diagnosis/pasted/pasted.hpp`.",
        "",
        "| format | what is read |",
        "|---|---|",
    ]
    lines += [f"| {f['name']} | {f['reads']} |" for f in json.loads(run("evidence", "formats", "--json"))]
    return "\n".join(lines) + "\n"


DRILL = ["drill", "--from", "generated", "--n", "1", "--seed", "1"]


def drill_page():
    lines = [
        "# The drill",
        "",
        "Written by `scripts/update_docs.py`, the transcript by the program.",
        "",
        "`ridgeline drill` gives you what is known of a slow server and asks: which regime binds, which observation settles it, what to do"
        " first,",
        "what to reject. Then it marks each answer against what is true, says why with numbers, and shows its own ledger and what its own"
        " answers",
        "from the same sheet would have got. The clock is shown and cuts nothing off, unless `--limit SECONDS` says so.",
        "",
        "| from | the sheet is | what is true |",
        "|---|---|---|",
        "| `cases` | the evidence of one of the five cases | what the case was made to say ([cases.md](cases.md)), and every fix by running it"
        " again |",
        "| `generated` | of a server drawn now, at the depth of `--level` | what its speed responds to, and every fix by running it again"
        " ([corpus.md](corpus.md)) |",
        "| `reports` | what a public report says; what its author then tried is held back | what its author found"
        " (`configs/truth/reports.yaml`) |",
        "",
        "A regime is right, a near tie (as good) or wrong. A first fix is right when it makes the speed at least 5 % higher and at least half,"
        " on a",
        "logarithmic scale, of what the best one does, or when the truth lists it. A reject is right when it brings less than 5 %, or is"
        " listed. What",
        "rests on what no sheet says (accepted drafts, shared prefixes) is asked only where the truth lists it. Of the four observations the"
        " right one is",
        "the first finding of the diagnosis of the sheet; the others are later findings, and findings about other servers. Sheets that do not"
        " lead to",
        "their truth, where the diagnosis of the sheet names another regime, are not dealt: no observation on them would settle it.",
        "",
        "## For a class",
        "",
        "```sh",
        "ridgeline drill --n 10 --seed 3 --show-only > sheets.txt             # to print; with --key also the answers",
        "ridgeline drill --n 10 --seed 3 --answers ada.txt --json > ada.json  # marks of each exercise and in all",
        "```",
        "",
        "The same seed deals the same sheets. Answers are a line each (a letter or a name, `?` passes), a YAML list of the same, or a YAML"
        " list with a",
        "map for each exercise: `- {regime: b, observation: c, fix: graph_capture}`. With `--json` the sheets go to stderr, so a student can"
        " also work at",
        "the terminal: `ridgeline drill --seed 3 --json > ada.json`. In Python `ridgeline.exercise(n, seed)` gives sheets and questions with"
        " the verdict",
        "on every choice.",
        "",
        "## A transcript",
        "",
        f"`ridgeline {' '.join(DRILL)}`, with two slips:",
        "",
        "```text",
        run(*DRILL, "--answers", "-", typed="e\nb\nc\nf\n").strip(),
        "```",
    ]
    return "\n".join(lines) + "\n"


def verified_rows(case):
    """What the diagnosis of a case promises of each fix and reject, beside what came of it."""
    for p in json.loads(run("whatif", case, "--verify-diagnosis", "--json"))["predictions"]:
        low, high = p["speedup"]
        measured = f"{p['measured']:.2f}x" if p["measured"] is not None else "not run"
        yield f"| {case} | {p['fix']} | {p['place']} | {low:.2f}x to {high:.2f}x | {measured} | {p.get('note', '')} |"


def whatif_page():
    table = run("whatif", "--list")
    lines = [
        "# What if",
        "",
        "Written by `scripts/update_docs.py`; tables and listings by the program.",
        "",
        "`ridgeline whatif SCENARIO CHANGE...` runs a scenario as it is and after changes, and puts them side by side: throughput, latencies,",
        "memory, cost, energy, the lines of the ledger that moved, what binds now, and what the diagnosis of the scenario as it is had said of",
        "the change. Changes are made one after the other; `--each` runs every one alone too. A change that cannot run (a model that does not",
        "fit) is a line with the reason. In Python: `rl.whatif(\"chat_8b\", \"quantize:int4\", \"gpu:h200\", each=True)`.",
        "",
        "Gains are in what the scenario is about: output tokens a second where clients wait for their answers or the server cannot keep up,",
        "time to the last token where requests come at a rate that it can serve, time to first token where answers are one token, tokens",
        "trained on a second of a training step. Rates are those of all data-parallel copies. Costs are `usd_per_gpu_hour` (from",
        "`configs/prices.yaml`, or what the scenario says) over the rate; energy is rough.",
        "",
        "```text",
        run("whatif", "chat_8b", "quantize:int4", "gpu:h200", "--each").rstrip(),
        "```",
        "",
        "## Changes",
        "",
        "```text",
        table.rstrip(),
        "```",
        "",
        "## Is the diagnosis right?",
        "",
        "`ridgeline whatif SCENARIO --verify-diagnosis` runs a scenario again with every fix that its diagnosis recommends and every one that it",
        "rejects, as far as the simulator has a mechanism for it. Of the five cases:",
        "",
        "| case | fix | | predicted | measured | |",
        "|---|---|---|--:|--:|---|",
    ]
    for path in sorted((ROOT / "configs" / "cases").glob("*.evidence.yaml")):
        lines += verified_rows(path.name.removesuffix(".evidence.yaml"))
    return "\n".join(lines) + "\n"


EVIDENCE_EXAMPLES = ["r06_api_server_and_scheduler", "r18_slope_over_context", "r41_int8_five_times_slower", "r46_kv_oversubscribed",
                     "r25_serial_all_reduce"]


def evidence_page():
    keys = json.loads(run("evidence", "new", "--json"))
    cell = lambda text: text.replace("|", "\\|")
    lines = [
        "# Evidence",
        "",
        "Written by `scripts/update_docs.py` from `ridgeline evidence new --json`, the tables that the reader reads by.",
        "",
        "Evidence is any subset of what is known about a slow server, in YAML. `ridgeline evidence new --out e.yaml` writes a file with every",
        "key commented out (`--training`: of a training step), `ridgeline evidence check e.yaml` says what was understood of it and which",
        "number to look for next, `ridgeline diagnose e.yaml` the rest. The least that helps:",
        "",
        "```yaml",
        "machine: mi300x",
        "model: {parameters: 8e9, weight_dtype: bf16}",
        "serving: {concurrency: 32}",
        "measured: {throughput: 1150 tokens/s}",
        "```",
        "",
        "Numbers carry their doubt as written: `78 %` is 77.5 to 78.5, `6-30 us` a range, `~40 GB` 35 to 45, `=26 GB` exact; what is counted",
        "(`32`) is exact. A dimension needs its unit: `15 us`, `2.04 TB/s`, `60 TFLOP/s` (or `TFLOPS`), `13,393 tok/s` (any noun), `12 ms/token`;",
        "a fraction may be a part of a whole: `4 of 108`, `1580 MHz of 1965 MHz`. An unknown key is an error that names the nearest one, or the",
        "section where it belongs.",
        "",
        "## Keys",
    ]
    for section, entries in keys["sections"].items():
        lines += ["", f"### {section}" if section != "document" else "### by themselves", "", "| key | means | as in |", "|---|---|---|"]
        examples = {"machine": "mi300x", "model": "llama3_8b"}
        for entry in entries:
            example = examples[section] if entry["key"] == "base" else entry["example"]
            lines.append(f"| `{entry['key']}` | {cell(entry['meaning'])} | `{cell(example)}` |")
    lines += [
        "",
        "`machine: NAME` is short for `machine: {base: NAME}`, and `model:` likewise; a model may be a repository's name or the path of a",
        "`config.json`. Also understood: `tpot` for `itl`, `output_throughput` for `throughput`, `batch` and `max_concurrency` for",
        "`concurrency`, `e2e_latency` for `latency`, `tensor_parallel_size` for `devices`.",
        "",
        "## Kernels",
        "",
        "`kernels:` is a list of rows: `name` or `group` (gemm, attention, norm, elementwise, cast, collective, copy, other), and `time` (of all",
        "calls), `share` or `rate`; with `bytes` or `flop` a row is held to its roof; `calls`, `occupied`.",
        "",
        "## Symptoms",
        "",
        "What a log or a configuration says in words. A symptom raises a suspicion; it never decides against a measurement.",
        "",
        "| symptom | means |",
        "|---|---|",
    ]
    lines += [f"| `{s['name']}` | {cell(s['meaning'])} |" for s in keys["symptoms"]]
    lines += [
        "",
        "## Changes and proposals",
        "",
        "`trials:` is a list of changes that somebody made: `change`, then `before` and `after` (keys of `measured`), `speedup` or `slowdown`;",
        "`when` is for people, `in_place: true` says that the other numbers are those after the change. `proposals:` is a list of fixes that",
        "somebody proposes; the answer judges them. Those marked * are changes only.",
        "",
        "| change | is |",
        "|---|---|",
    ]
    lines += [f"| `{c['name']}`{'' if c['fix'] else ' *'} | {cell(c['meaning'])} |" for c in keys["changes"]]
    lines += [
        "",
        "## Sweeps",
        "",
        "`sweep:` is the same server at two points or more: each holds quantities only, without their sections, that replace those of the",
        "evidence. The last is the one in question. A slope over contexts, sequences, devices or the offered rate tells what no point can.",
        "",
        "## Pasted text",
        "",
        "`text: |` holds what a tool printed, as it was ([formats](evidence_text.md)), `texts:` a list of such. What it says is laid under what is",
        "typed: typed wins, and a difference is a note that names both lines. GPUs and checkpoints are found by their names, `--quantization`,",
        "`--kv-cache-dtype` and the ending of a checkpoint's name become dtypes, TPOT the ITL, a table of kernels shares by class, and a log's",
        "line about a fallback or an untuned shape a symptom. `ridgeline diagnose server.log` takes such text alone, `-` from standard input.",
        "What was not read is counted in a note; `ridgeline evidence read` shows it.",
        "",
        "## Which number next",
        "",
        "`ridgeline evidence check` tries every number that is missing at values it could have and diagnoses anew with each; what moves the",
        "diagnosis most comes first. A value that contradicts what is known is left out. Of the first example below:",
        "",
        "```text",
        *[line for line in run("evidence", "check", f"configs/reports/{EVIDENCE_EXAMPLES[0]}.evidence.yaml").split("So far:")[1].splitlines()[2:]],
        "```",
        "",
        "## Examples",
        "",
        "From `configs/reports`; each names where its numbers were published.",
    ]
    for name in EVIDENCE_EXAMPLES:
        path = ROOT / "configs" / "reports" / f"{name}.evidence.yaml"
        answer = json.loads(run("diagnose", str(path.relative_to(ROOT)), "--json"))
        first = f", first {answer['fixes'][0]['name']}" if answer["fixes"] else ""
        lines += ["", "```yaml", path.read_text().strip(), "```", "", f"{answer['regime']} / {answer['phase']}{first}."]
    return "\n".join(lines) + "\n"


def score_page():
    """How the diagnosis fares; 60 items of the corpus, so that the check takes seconds. The figures for more stand in the text."""
    table = run("score", "cases", "reports", "--markdown")
    each = json.loads(run("score", "reports", "--json", "--each"))["reports"]["each"]
    tried = sum("\ntrials:" in path.read_text() for path in (ROOT / "configs" / "reports").glob("*.yaml"))
    lines = [
        "# How right the diagnosis is",
        "",
        "`ridgeline score` holds it against four kinds of truth: the five cases by both roads (the simulated timeline and the typed evidence), 45",
        "public reports (`configs/reports`, each an evidence file without its answer; `configs/truth/reports.yaml` has what their authors found), a",
        "generated corpus whose limiters are elasticities of the simulator and whose gains are re-runs (docs/corpus.md), and public traces",
        "(`--traces DIR`). The first two, written by `scripts/update_docs.py`:",
        "",
        table.strip(),
        "",
        "A regime is right if the truth accepts it; a fix if the first or the second is one that helped; a reject if one of those rejected is one",
        "that did not. \"Wrong at 80 %\" counts wrong regimes given with that confidence or more. Some reports name several causes at once: the",
        f"truth then accepts each of them. {tried} of the reports are told with what somebody tried and what came of it, as their threads tell it; what",
        "was tried is evidence, and its gain replaces the computed one. How the diagnosis fares without that is the row \"trials left out\".",
        "",
        "Reports answered otherwise than their authors do:",
        "",
        "| report | wanted | answered | confidence | fixes proposed |",
        "|---|---|---|--:|---|",
    ]
    for mark in each:
        if not mark["regime_right"] or mark["fix_right"] is False:
            lines.append(f"| {mark['name']} | {mark['wanted']} | {mark['regime']} | {100 * mark['confidence']:.0f} % | {', '.join(mark['fixes'])} |")
    corpus = (ROOT / "docs" / "score_corpus.txt").read_text()
    lines += ["", "## The corpus and the traces", "", "Written by `ridgeline score corpus traces --n 2000 --seed 7 --traces DIR > docs/score_corpus.txt`, which takes minutes and so is not run by the",
              "tests:", "", "```", corpus.rstrip(), "```", ""]
    return "\n".join(lines)


def bring_up_to_date(texts, check, command):
    """Writes each path's text where it differs; with `check` says so instead. True if anything is to be written still."""
    stale = False
    for path, text in texts.items():
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        if check:
            stale = True
            print(f"{path.relative_to(ROOT)} is out of date; run {command}")
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), "there", "now", n=0))
        else:
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")
    return stale


def replace_block(text, name, body):
    pattern = re.compile(rf"(<!-- begin: {name}[^\n]*-->\n).*?(<!-- end: {name} -->)", re.DOTALL)
    assert pattern.search(text), f"README.md has no block named {name}"
    return pattern.sub(lambda m: m.group(1) + body + m.group(2), text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bench", nargs="?", const="", metavar="TRACE")
    args = parser.parse_args()

    readme = (ROOT / "README.md").read_text()
    answer = run("diagnose", "configs/cases/e_gaps.evidence.yaml")
    readme = replace_block(readme, "diagnosis", f"```text\n{answer.strip()}\n```\n")
    readme = replace_block(readme, "score", "\n" + run("score", "cases", "reports", "--markdown").strip() + "\n\n")
    if args.bench is not None:
        bench = pathlib.Path(PROGRAM).parent / "tests" / "ridgeline_bench"
        figures = subprocess.run([bench, *([args.bench] if args.bench else [])], check=True, capture_output=True, text=True).stdout
        readme = replace_block(readme, "bench", figures)

    docs = ROOT / "docs"
    stale = bring_up_to_date({ROOT / "README.md": readme, docs / "cases.md": cases_page(), docs / "evidence.md": evidence_page(),
                              docs / "evidence_text.md": evidence_text_page(), docs / "drill.md": drill_page(),
                              docs / "score.md": score_page(), docs / "whatif.md": whatif_page()}, args.check, "scripts/update_docs.py")
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
