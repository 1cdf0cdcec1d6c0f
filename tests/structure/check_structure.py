#!/usr/bin/env python3
"""Holds the rules of the source tree that no compiler checks.

    check_structure.py ROOT

An #include may only follow the arrows below; SimGrid is known to sim/ alone; headers begin with #pragma once and open no namespace
for others; the code names no GPU product (configs/hw does); every file of numbers says where they come from, or whose they are.
Prints "ok: N files", or one line a violation and exits with 1.
"""

import re
import sys
from pathlib import Path

BELOW = {
    "core": [],
    "hw": ["core"],
    "timeline": ["core"],
    "workloads": ["hw", "core"],
    "sim": ["workloads", "hw", "timeline", "core"],
    "diagnosis": ["timeline", "hw", "workloads", "core"],
    "whatif": ["sim", "diagnosis", "workloads", "hw", "timeline", "core"],
    "fidelity": ["whatif", "sim", "diagnosis", "workloads", "hw", "timeline", "core"],
    "cli": ["fidelity", "whatif", "sim", "diagnosis", "workloads", "hw", "timeline", "core"],
    "bindings": ["cli", "fidelity", "whatif", "sim", "diagnosis", "workloads", "hw", "timeline", "core"],
}
SOURCES = {".hpp", ".cpp", ".h", ".cc"}
MAY_NAME_PRODUCTS = ("cli/", "timeline/kernel_names")  # examples in the program's help; the names kernels have on each part
PRODUCT = re.compile(r"(?<![a-z0-9])(mi[23]\d\d[a-z]?|h[12]00|gh200|b[12]00|a100|v100|l40s?|gfx9\w+|sm_?[89]\d)(?![a-z0-9])", re.I)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# A comment, or a string that might hold something that looks like one; raw strings first.
TOKEN = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)


def without_comments(text):
    """The text with each comment replaced by as many line ends as it held, so that line numbers stay."""
    return TOKEN.sub(lambda m: "\n" * m[0].count("\n") if m[0].startswith(("//", "/*")) else m[0], text)


def check_source(folder, name, text):
    """Yields (line, complaint) for one C++ file, `name` its path from the root."""
    code = without_comments(text)
    for number, line in enumerate(code.splitlines(), 1):
        if include := INCLUDE.match(line):
            bracket, target = include.groups()
            other = target.split("/")[0]
            if target.startswith("simgrid/"):
                if folder != "sim":
                    yield number, f"includes <{target}>; only sim/ knows SimGrid"
            elif bracket == '"' and "/" not in target:
                yield number, f'includes "{target}"; includes start at the root, as in "{folder}/{target}"'
            elif bracket == '"' and other not in BELOW:
                yield number, f'includes "{target}", which is in no source folder'
            elif other in BELOW and other != folder and other not in BELOW[folder]:
                known = ", ".join(BELOW[folder]) or "nothing"
                yield number, f'includes "{target}"; {folder}/ may know {known}'
        if name.endswith((".hpp", ".h")) and re.match(r"\s*using\s+namespace\b", line):
            yield number, "using namespace in a header"
        if not name.startswith(MAY_NAME_PRODUCTS) and (product := PRODUCT.search(line)):
            yield number, f"names {product[0]}; GPUs are data, in configs/hw"
    if name.endswith((".hpp", ".h")) and not text.startswith("#pragma once\n"):
        yield 1, "a header starts with #pragma once"


def check_config(text):
    """Yields (line, complaint) for one file of configs/hw or configs/stacks."""
    keys = set(re.findall(r"^([A-Za-z_]\w*):", text, re.M))
    numbers = re.search(r"^[^#\n]*:[^#\n]*\d", text, re.M)
    if numbers and not keys & {"sources", "base"}:
        yield 1, "has numbers but neither sources nor a base"


def violations(root):
    """Returns the number of files read and a list of "path:line: complaint"."""
    files = 0
    found = []
    for folder in BELOW:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            files += 1
            name = path.relative_to(root).as_posix()
            found += [f"{name}:{line}: {what}" for line, what in check_source(folder, name, path.read_text(encoding="utf-8"))]
    for folder in ("configs/hw", "configs/stacks"):
        for path in sorted((root / folder).glob("*.yaml")):
            files += 1
            name = path.relative_to(root).as_posix()
            found += [f"{name}:{line}: {what}" for line, what in check_config(path.read_text(encoding="utf-8"))]
    return files, found


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = Path(arguments[1])
    if missing := [folder for folder in BELOW if not (root / folder).is_dir()]:
        print(f"{root}: not the source tree: no {', '.join(missing)}")
        return 1
    files, found = violations(root)
    print("\n".join(found) if found else f"ok: {files} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
