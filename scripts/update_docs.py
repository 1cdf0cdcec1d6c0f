#!/usr/bin/env python3
"""Writes the parts of the documentation that the program itself says: docs/cases.md, docs/evidence_text.md, and the marked blocks of
README.md.

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


def run(*argv):
    return subprocess.run([PROGRAM, *argv], check=True, capture_output=True, text=True, cwd=ROOT).stdout


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
                              ROOT / "docs" / "evidence_text.md": evidence_text_page()}, args.check, "scripts/update_docs.py")
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
