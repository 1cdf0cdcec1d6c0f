"""The documentation's site: it builds without a warning, and everything public is on it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import ridgeline

pytest.importorskip("mkdocs")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return folder


def text_of(site, page):
    return (site / page / "index.html").read_text()


def test_outputs_are_shown_only_of_the_notebook_as_it_is(tmp_path):
    sys.path.insert(0, str(ROOT / "scripts" / "site"))
    from notebook_pages import with_outputs

    source, executed = tmp_path / "n.ipynb", tmp_path / "executed" / "n.ipynb"
    executed.parent.mkdir()
    source.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["a = 1\n", "a"]}]}))
    assert with_outputs(source, executed.parent) == source
    executed.write_text(json.dumps({"cells": [{"cell_type": "code", "source": "a = 1\na", "outputs": [1]}]}))
    assert with_outputs(source, executed.parent) == executed
    source.write_text(json.dumps({"cells": [{"cell_type": "code", "source": "a = 2\na"}]}))
    assert with_outputs(source, executed.parent) == source


def test_every_page_of_docs_is_in_the_site(site):
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        assert (site / "index.html" if name == "index" else site / name / "index.html").exists()


def test_every_public_name_is_in_the_python_reference(site):
    every = "".join(page.read_text() for page in (site / "reference" / "python").rglob("*.html"))
    for name in ridgeline.__all__:
        thing = getattr(ridgeline, name)
        if not name.startswith("__") and type(thing).__name__ != "module":
            assert re.search(rf'<h2 id="[^"]*">rl\.{name}<', every), name
    for name in ridgeline.plot.__all__:
        assert f">rl.plot.{name}<" in every


def test_every_command_is_in_the_reference_of_the_command_line(site):
    listed = subprocess.run([os.environ["RIDGELINE"], "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  (\w+) +\w", listed.partition("Subcommands:")[2].partition("\n\n\n")[0], re.M)
    assert {"run", "whatif", "sweep", "plot"} <= set(commands)
    page = text_of(site, "reference/command_line")
    for name in commands:
        assert f'<h2 id="{name}">' in page
    assert '<h3 id="plot-roofline">' in page and '<h3 id="evidence-check">' in page


def test_every_setting_of_the_engine_is_on_the_page_of_scenarios(site):
    import dataclasses

    page = text_of(site, "scenarios")
    for field in dataclasses.fields(ridgeline.Engine):
        assert f"engine.{field.name}<" in page
    for key in ("hw.hbm.bandwidth", "stack.launch.issue", "model.layers"):
        assert f"{key}<" in page


def test_pictures_are_in_the_site(site):
    for picture in (ROOT / "docs" / "pictures").glob("*.png"):
        assert (site / "pictures" / picture.name).exists()


def test_notebooks_are_pages(site):
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        assert "import ridgeline" in re.sub(r"<[^>]+>", "", text_of(site, f"notebooks/{notebook.stem}"))


def test_nothing_is_fetched_from_elsewhere(site):
    for page in (site / "index.html", site / "tutorial" / "index.html"):
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', page.read_text())
