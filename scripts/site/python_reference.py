"""The Python reference: every public name of the package, from its docstring."""

import inspect

from docstrings import class_page, function_page, prose

#: Pages, and which names are on them. A test asks that every public name is on one.
PAGES = {
    "scenarios": ("Scenarios and workloads", ["Scenario", "Engine", "SpeculativeConfig", "names", "Roofs", "*workloads"]),
    "runs": ("Runs", ["run", "load_run", "Run", "Metrics", "Ledger"]),
    "tables": ("Columns", ["Columns", "*tables"]),
    "diagnoses": ("Diagnoses and evidence", ["diagnose", "Diagnosis", "check_evidence", "evidence_template", "read_pasted", "exercise"]),
    "traces": ("Traces", ["read_trace", "Trace", "inspect", "compare"]),
    "whatif": ("What-if", ["whatif", "verify_diagnosis", "changes", "Experiment", "Variant", "Prediction"]),
    "sweeps": ("Sweeps and capacity", ["sweep", "Sweep", "capacity", "Capacity", "elasticities", "tornado", "*sweeps"]),
    "cases": ("The five cases", ["cases", "Case"]),
    "measurements": ("One kernel, and measurements", ["predict", "validate", "calibrate"]),
    "plots": ("Pictures", ["*plot"]),
    "errors": ("Errors", ["ConfigError", "SimulationError"]),
}


def placed(package):
    """Names by page. `*x` stands for those that are left and whose module has x in its name; what fits nowhere is on the page of errors."""
    left = [name for name in package.__all__ if not name.startswith("__") and not inspect.ismodule(getattr(package, name))]
    pages = {page: [] for page in PAGES}
    for page, (_, names) in PAGES.items():
        for name in names:
            if not name.startswith("*") and name in left:
                pages[page].append(name)
                left.remove(name)
    for page, (_, names) in PAGES.items():
        for name in names:
            if name.startswith("*"):
                mine = [one for one in left if name[1:] in getattr(package, one).__module__]
                pages[page] += mine
                left = [one for one in left if one not in mine]
    pages["errors"] += left
    return {page: names for page, names in pages.items() if names or page == "plots"}


def pages(package):
    """Markdown by page."""
    written = {}
    for page, names in placed(package).items():
        title = PAGES[page][0]
        lines = [f"# {title}", ""]
        module = "rl"
        if page == "plots":
            lines += [prose(inspect.cleandoc(package.plot.__doc__)), ""]
            module = "rl.plot"
        for name in names if page != "plots" else package.plot.__all__:
            thing = getattr(package.plot if page == "plots" else package, name)
            write = class_page if inspect.isclass(thing) else function_page
            lines += write(f"{module}.{name}", thing)
        written[page] = "\n".join(lines) + "\n"
    return written
