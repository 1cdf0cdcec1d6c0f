"""Every key of a scenario: settings and workloads from the typed classes, machines, models and stacks as one resolved scenario has them."""

import dataclasses
import inspect

from docstrings import cell, entries, split

LAWS = {
    "arrivals": ["PoissonArrivals", "GammaArrivals", "ConstantArrivals", "ClosedLoop"],
    "prompt_tokens, output_tokens": ["UniformLength", "LognormalLength", "QuantileLength", "EmpiricalLength"],
    "shared_prefix": ["SharedPrefix"],
    "gather": ["Gather"],
}


def parameters(cls):
    """Name and meaning of each field."""
    _, sections = split(inspect.cleandoc(cls.__doc__))
    listed = entries(dict(sections).get("Parameters", ""))
    return {name.strip(): text for names, _, text in listed for name in names.split(",")}


def table(cls, prefix):
    meaning = parameters(cls)
    names = [field.name for field in dataclasses.fields(cls) if not field.name.startswith("_")]
    rows = [f"| `{prefix}{name}` | {cell(meaning[name])} |" for name in names]
    return ["| key | |", "|---|---|", *rows, ""]


def page(package, core):
    lines = ["## engine", "", *table(package.Engine, "engine."), *table(package.SpeculativeConfig, "engine.speculative_config.")]
    lines += ["## workload", "", "Requests that are made up:", ""]
    lines += table(package.GeneratedWorkload, "workload.")
    for key, laws in LAWS.items():
        lines += [f"### {key}", ""]
        for name in laws:
            cls = getattr(package, name)
            law = getattr(cls, "_law", {"EmpiricalLength": "empirical", "QuantileLength": "quantiles"}.get(name, key))
            lines += [f"`{law}`: {split(inspect.cleandoc(cls.__doc__))[0]}", ""]
            meaning = parameters(cls)
            lines += [f"* `{field.name}`: {cell(meaning[field.name])}" for field in dataclasses.fields(cls)] + [""]
    lines += ["### A request trace", "", *table(package.TraceWorkload, "workload."), "### A training step", ""]
    lines += table(package.TrainingWorkload, "workload.training.")
    leaves = core.ScenarioRuns.open("chat_8b", []).leaves([])
    lines += [
        "## hw, model and stack",
        "",
        "A name, a path, or a map with a `base` that it is laid over. Every number within can be changed by its dotted key; these are the"
        " keys of `chat_8b`, an 8 B model on an MI300X under vLLM V1, with their values. Units, sources and what each means stand beside them in"
        " `configs/hw`, `configs/models` and `configs/stacks`.",
        "",
    ]
    for section in ("hw", "model", "stack"):
        rows = [f"| `{key}` | {cell(value)} |" for key, value in leaves if key.split(".")[0] == section and len(value) < 60]
        lines += [f"### {section}", "", "| key | value |", "|---|---|", *rows, ""]
    return "\n".join(lines)
