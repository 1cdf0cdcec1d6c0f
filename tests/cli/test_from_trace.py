"""`ridgeline whatif from-trace`, as its users type it."""

import json
import os
import subprocess

import pytest

RIDGELINE = os.environ.get("RIDGELINE", "ridgeline")
SERVER = [
    "--set", "workload.requests=12", "--set", "workload.arrivals={closed_loop: {concurrency: 4}}",
    "--set", "workload.prompt_tokens=300", "--set", "workload.output_tokens=30", "--set", "stack.efficiency.time.gemm=1.5",
]  # fmt: skip


def ridgeline(*argv, code=0):
    answer = subprocess.run([RIDGELINE, *map(str, argv)], capture_output=True, text=True, timeout=60)
    assert answer.returncode == code, answer.stderr
    return answer.stdout if code == 0 else answer.stderr


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("from_trace")
    ridgeline("run", "chat_8b", *SERVER, "--out", folder / "run")
    ridgeline("trace", folder / "run", "--out", folder / "trace.json.gz")
    return folder / "trace.json.gz"


def from_trace(trace, *argv, code=0):
    return ridgeline("whatif", "from-trace", trace, "--model", "llama3_8b", *argv, code=code)


def test_the_fit_is_told_with_its_errors_and_where_each_number_is_from(trace):
    answer = json.loads(from_trace(trace, "--json"))
    fit = answer["fit"]
    assert fit["fitted_steps"] - fit["held_back_steps"] in (0, 1, 2)  # an odd one of the decode steps, of those with prefills
    held_back = {row["name"]: row for row in fit["after"]["held_back"]}
    assert held_back["step"]["median_error"] < 0.02
    gemm = next(v for v in fit["values"] if v["key"] == "stack.efficiency.time.gemm")
    assert float(gemm["after"]) == pytest.approx(1.5, rel=0.02)
    assert gemm["count"] > 100 and gemm["of"] == "kernels"
    assert "replay" not in answer and "served" not in answer


def test_people_are_told_the_same(trace):
    text = from_trace(trace, "quantize:int4")
    for words in ("held back", "nearest shipped stack", "stack.efficiency.time.gemm", "quantize:int4", "stay as they were recorded"):
        assert words in text


def test_the_fitted_scenario_is_written_and_runs(trace, tmp_path):
    out = tmp_path / "mine.yaml"
    from_trace(trace, "--out", out)
    assert "concurrency: 4" in out.read_text()
    assert "output_throughput" in ridgeline("run", out, "--json")


def test_the_recorded_steps_are_replayed_before_and_after(trace):
    replay = json.loads(from_trace(trace, "quantize:int4", "gpu:h200", "--each", "--json"))["replay"]
    names = [v["name"] for v in replay["variants"]]
    assert names == ["before", "quantize:int4", "gpu:h200", "quantize:int4 gpu:h200"]
    assert replay["variants"][0]["gain"] == 1.0
    assert replay["variants"][1]["gain"] > 1.2  # weights bind at a batch of four


def test_a_change_of_the_batch_is_served(trace):
    answer = json.loads(from_trace(trace, "batch:8", "--json"))
    assert answer["why_served"] == "workload.arrivals.closed_loop.concurrency" and "replay" not in answer
    assert answer["served"]["variants"][1]["gain"] > 1.0


def test_whatif_of_a_scenario_is_as_it_was():
    text = ridgeline("whatif", "chat_8b", "none", "--set", "workload.requests=5")
    assert "before" in text
    assert "expected a scenario" in ridgeline("whatif", code=2)
    assert "unknown option '--sett'" in ridgeline("whatif", "chat_8b", "--sett", code=2)


def test_mistakes_are_named(trace):
    assert "--model" in ridgeline("whatif", "from-trace", trace, code=2)
    assert "quantize" in from_trace(trace, "quantise:int4", code=2)
    assert "no such file" in from_trace(trace.parent / "none.json", code=2).lower()
    assert "multiple of --prefill-sequences" in from_trace(trace, "--prefill", "10", "--prefill-sequences", "3", code=2)
