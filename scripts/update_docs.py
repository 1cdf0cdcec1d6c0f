#!/usr/bin/env python3
"""Writes the parts of the documentation that the program itself says: docs/cases.md, docs/evidence_text.md, docs/drill.md, and the
marked blocks of README.md.

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
        "the simulator has no mechanism for (a draft model, prefixes) is asked only where the truth lists it. Of the four observations the"
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
    if args.bench is not None:
        bench = pathlib.Path(PROGRAM).parent / "tests" / "ridgeline_bench"
        figures = subprocess.run([bench, *([args.bench] if args.bench else [])], check=True, capture_output=True, text=True).stdout
        readme = replace_block(readme, "bench", figures)

    stale = bring_up_to_date({ROOT / "README.md": readme, ROOT / "docs" / "cases.md": cases_page(),
                              ROOT / "docs" / "evidence_text.md": evidence_text_page(), ROOT / "docs" / "drill.md": drill_page()}, args.check, "scripts/update_docs.py")
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
