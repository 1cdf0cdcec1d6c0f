"""Holds an installed package: it is whole, finds its configurations beside itself and knows of no source tree.

    check_installed.py SOURCE
"""

import importlib.metadata
import subprocess
import sys
import sysconfig
from pathlib import Path

import ridgeline
from ridgeline import _core


def check(holds, what):
    if not holds:
        sys.exit(f"wheel: {what}")


def main(source):
    package = Path(ridgeline.__file__).parent
    site = Path(sysconfig.get_path("platlib"))
    check(package == site / "ridgeline", f"imported from {package}, not from {site}")
    check(Path(_core.configs()) == package / "configs", f"configurations are read from {_core.configs()}")
    check(importlib.metadata.version("ridgeline") == ridgeline.__version__, "two versions")

    shipped = {str(file.relative_to(package)) for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    for tree, place in (("bindings/python/ridgeline", Path(".")), ("configs", Path("configs"))):
        root = Path(source, tree)
        for file in root.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                name = str(place / file.relative_to(root))
                check(name in shipped, f"{name} is missing")
    check({"py.typed", "_core.pyi", "configs/hw/mi300x.yaml"} <= shipped, "no types or no configurations")
    module = Path(_core.__file__).read_bytes()
    check(f"{source}/configs".encode() not in module, "the module knows where the source tree is")

    answer = ridgeline.evidence_template()
    check("#hbm_fraction" in answer, "no evidence template")
    program = Path(sysconfig.get_path("scripts"), "ridgeline")
    for command in ([str(program)], [sys.executable, "-I", "-m", "ridgeline"]):
        run = subprocess.run([*command, "run", "chat_8b", "--set", "workload.requests=20"], capture_output=True, text=True, timeout=60)
        check(run.returncode == 0 and "20 requests: 20 answered" in run.stdout, f"{command}: {run.stderr}{run.stdout}")
        wrong = subprocess.run([*command, "run", "chat_8c"], capture_output=True, text=True, timeout=60)
        check(wrong.returncode == 2 and "did you mean 'chat_8b'" in wrong.stderr, f"{command}: exit code {wrong.returncode}")
        short = subprocess.run(f"{' '.join(command)} list | head -n 1", shell=True, capture_output=True, text=True, timeout=60)
        check(short.stderr == "", f"{command}: into a closed pipe: {short.stderr}")
    print(f"ok: {len(shipped)} files in {package}")


main(sys.argv[1])
