"""Code blocks of markdown pages, and what tests do with each kind.

sh        run by bash in a folder that the page has for itself, `ridgeline` and the shipped scripts at hand
python    run in the order of the page by one interpreter
yaml      with a title: a file that later blocks find; without: must be understood as evidence or as a scenario
csv, text files with a title; without, what something prints: not run

Not run is what says so where readers see it: a block of which the paragraph before says "(not run by the tests: REASON)", a line that ends
in a comment with "(not run by the tests: REASON)".
"""

import re
from dataclasses import dataclass

BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.M | re.S)
EXCUSE = re.compile(r"\(not run by the\s+tests: [^)]{8,}\)")
RUN = ("sh", "python", "yaml")
SHOWN = ("text", "csv", "")


@dataclass(frozen=True)
class Block:
    kind: str
    title: str
    body: str
    line: int
    excused: bool


def blocks_of(text):
    """The blocks of a page, in order."""
    found = []
    end = 0
    for match in BLOCK.finditer(text):
        kind, _, rest = match["info"].strip().partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        paragraph = text[end : match.start()].rstrip().rpartition("\n\n")[2]
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(kind, title[1] if title else "", match["body"], line, bool(EXCUSE.search(paragraph))))
        end = match.end()
    return found


def runnable(body):
    """The lines of a block that are run."""
    return "".join(line for line in body.splitlines(keepends=True) if not EXCUSE.search(line.partition("#")[2]))
