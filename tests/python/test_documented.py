"""What the package says of itself: docstrings, their examples, its types."""

import ast
import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
import ridgeline
from ridgeline import _core
from ridgeline.columns import Column, Columns

PACKAGE = Path(ridgeline.__file__).parent
MODULES = sorted(
    m.name for m in pkgutil.walk_packages([str(PACKAGE)], "ridgeline.") if not m.ispkg and m.name not in ("ridgeline._core", "ridgeline.__main__")
)
PUBLIC = [name for name in ridgeline.__all__ if not name.startswith("__")]


def sections(thing):
    """Titles of a NumPy docstring's sections."""
    return set(re.findall(r"^([A-Z][A-Za-z ]+)\n-+$", inspect.getdoc(thing) or "", re.M))


def functions():
    """Every public function and method, with its name."""
    for name in PUBLIC:
        thing = getattr(ridgeline, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and thing.__module__.startswith("ridgeline."):
            for method, member in vars(thing).items():
                member = getattr(member, "__func__", member)  # of a class method
                if inspect.isfunction(member) and not method.startswith("_"):
                    yield f"{name}.{method}", member
    for name in ridgeline.plot.__all__:
        yield f"plot.{name}", getattr(ridgeline.plot, name)


FUNCTIONS = dict(functions())


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_public_says_what_it_is(name):
    thing = getattr(ridgeline, name)
    doc = inspect.getdoc(thing)
    assert doc and not doc.startswith(f"{name}("), "the signature is no docstring"
    assert re.match(r"[A-Z`].*[.:]", doc.split("\n\n")[0].replace("\n", " "))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_take_and_give(name):
    function = FUNCTIONS[name]
    signature, found = inspect.signature(function), sections(function)
    taken = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    assert all(p.annotation is not inspect.Parameter.empty for p in taken), "types"
    assert ("Parameters" in found) == bool(taken)
    doc = inspect.getdoc(function)
    for parameter in taken:
        star = "\\*\\*" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""
        assert re.search(rf"^(\w+, )*{star}{parameter.name}(, \w+)*( :.*)?$", doc, re.M), f"{parameter.name} is not described"
    if "\n" in doc:
        assert ("Returns" in found) == (signature.return_annotation not in ("None", None))
    if "." not in name:
        assert "Raises" in found


@pytest.mark.parametrize("name", [n for n in PUBLIC if inspect.isclass(getattr(ridgeline, n))])
def test_classes_say_what_they_hold(name):
    cls = getattr(ridgeline, name)
    for member, thing in vars(cls).items():
        if not member.startswith("_") and isinstance(thing, (property, Column)):
            assert thing.__doc__, f"{name}.{member}"
    if dataclasses.is_dataclass(cls):
        assert sections(cls) & {"Parameters", "Attributes"}
        for field in dataclasses.fields(cls):
            assert re.search(rf"^ *(\w+, )*{field.name}(, \w+)*( :.*)?$", inspect.getdoc(cls), re.M), f"{name}.{field.name}"


@pytest.mark.parametrize("cls", [c for c in vars(ridgeline).values() if inspect.isclass(c) and issubclass(c, Columns) and c is not Columns])
def test_columns_are_those_that_c_plus_plus_has(cls, tmp_path):
    run = ridgeline.run("chat_8b", {"workload.requests": 3})
    timeline = run.timeline((None, 1.0))
    tables = [run.requests, run.steps, run.counters, run.token_gaps, timeline.kernels, timeline.calls, timeline.steps]
    (table,) = [table for table in tables if type(table) is cls]
    assert set(table.names) == {name for name, thing in vars(cls).items() if isinstance(thing, Column)}
    for name in table.names:
        described = cls.__annotations__[name]
        dtype = table[name].dtype.name.replace("bool", "bool_")
        assert "Labels" in described or f"np.{dtype}]" in described, f"{name} is {dtype}"


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    assert sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name))) > 15


def stub_names(body):
    """Names that a part of the stub defines, classes with their own."""
    names = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = stub_names(node.body)
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = [argument.arg for argument in node.args.args if argument.arg != "self"]
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
    return names


def arguments_in(doc):
    """Names of arguments in the first line of a docstring that pybind11 wrote."""
    return [name for name in re.findall(r"[(,] *(\w+)(?=:)", doc.splitlines()[0]) if name not in ("self", "arg0")]


def test_the_stub_names_exactly_what_the_module_has():
    stub = stub_names(ast.parse((PACKAGE / "_core.pyi").read_text()).body)
    hidden = {"__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__"}
    assert set(stub) == set(vars(_core)) - hidden
    for name, described in stub.items():
        thing = getattr(_core, name)
        if isinstance(described, dict) and described:
            methods = {method for method in vars(thing) if not method.startswith("_")}
            assert set(described) - {"__buffer__"} == methods, name
            for method in methods:
                assert described[method] == arguments_in(getattr(thing, method).__doc__), f"{name}.{method}"
        elif isinstance(described, list):
            assert described == arguments_in(thing.__doc__), name


def mypy(*paths, cwd):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(PACKAGE.parent.parent / "mypy"), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=cwd, env={"MYPYPATH": str(PACKAGE.parent), "PATH": ""})


def test_types_are_whole_and_so_are_those_of_whoever_uses_them(tmp_path):
    pytest.importorskip("mypy")
    examples = Path(__file__).parent / "typed_examples.py"
    answer = mypy(PACKAGE, examples, cwd=tmp_path)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_mypy_refuses_what_is_wrong(tmp_path):
    pytest.importorskip("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import ridgeline as rl\n"
        "rl.Engine(max_num_seqs='many')\n"
        "rl.Engine(max_num_seq=1)\n"
        "rl.run(5)\n"
        "rl.run('chat_8b').metrics.output_throughputs\n"
        "rl.run('chat_8b').write_trace('t', format='perfeto')\n"
    )
    answer = mypy(wrong, cwd=tmp_path)
    assert [int(line) for line in re.findall(r"wrong.py:(\d+): error", answer.stdout)] == [2, 3, 4, 5, 6]
