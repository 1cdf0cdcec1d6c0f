"""A diagnosis as a notebook shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _html


def diagnosis_html(diagnosis: Mapping[str, Any]) -> str:
    """What binds, what proves it, where the time goes, what to do and what not."""
    if not diagnosis.get("regime"):
        return _html.paragraph(f"This trace cannot tell: {diagnosis.get('cannot_tell')}.")
    binds = f"{diagnosis['regime']} / {diagnosis['phase']}"
    parts = [f"<p><b>Binds: {_html.text(binds)}</b> (confidence {diagnosis['confidence']:.0%})</p>"]
    parts.append(_html.listing("Evidence", (finding["statement"] for finding in diagnosis["settling_evidence"])))
    if diagnosis["time_budget"]:
        parts.append(_html.table(["where the time goes", "share", "from", "to", ""], map(_line, diagnosis["time_budget"])))
    for title, key in (("Fixes", "fixes"), ("Not these", "rejects")):
        if diagnosis[key]:
            rows = [[fix["name"], _gain(fix), _to_the_left(fix["why"])] for fix in diagnosis[key]]
            parts.append(_html.table([title, "faster by", ""], rows))
    parts.append(_html.listing("Explained differences and contradictions", (_contradiction(i) for i in diagnosis["inconsistencies"])))
    if diagnosis["question"]:
        parts.append(_html.paragraph(f"Before you do it, ask: {diagnosis['question']}"))
    return "".join(parts)


def _line(line: Mapping[str, Any]) -> list[str]:
    shares = [line["share"], line["share_low"], line["share_high"]]
    return [line["part"], *(f"{share:.1%}" for share in shares), _html.bar(*shares)]


def _to_the_left(words: str) -> str:
    return _html.Markup(f'<div style="text-align: left">{_html.text(words)}</div>')


def _gain(fix: Mapping[str, Any]) -> str:
    low, high = (f"{fix[key]:.2f}x" if fix[key] is not None else "?" for key in ("speedup_low", "speedup_high"))
    return low if low == high else f"{low} to {high}"


def _contradiction(i: Mapping[str, Any]) -> str:
    kind = "" if i["explained"] else "contradiction: "
    return f"{kind}{i['quantity']}: {i['reading']}"
