"""Runs from Python: what they give and what they refuse."""

import csv
import dataclasses
import json
import os

import pytest
import ridgeline as rl

FEW = {"workload.requests": 20}


@pytest.fixture(scope="module")
def run():
    return rl.run("chat_8b", FEW)


def test_a_run_gives_metrics_and_a_diagnosis(run):
    assert run.metrics.completed == run.metrics.num_prompts == 20
    assert run.metrics.output_throughput == run.metrics.total_output_tokens / run.metrics.duration
    assert run.diagnosis.regime == "bandwidth_bound" and run.diagnosis.phase == "decode"


def test_metrics_have_every_number_of_the_result(run):
    nested = {"ridgeline", "ledger", "hbm_bytes", "notes"}
    texts = {"backend", "label", "model_id", "gpu", "stack", "seed", "interrupted", "steps_ns", "idle_ns"}
    config = rl.SpeculativeConfig(model="ngram", num_speculative_tokens=2, acceptance=0.5)
    drafts = rl.run(rl.Scenario("chat_8b", engine=rl.Engine(speculative_config=config)), FEW)
    known = set(drafts.result) | set(drafts.result["ridgeline"])
    assert drafts.metrics.spec_decode_num_drafts > 0 and run.metrics.spec_decode_num_drafts is None
    assert {field.name for field in dataclasses.fields(rl.Metrics)} == known - nested - texts


def test_the_ledger_adds_up_to_the_time_of_the_steps_and_between_them(run):
    first, last = run.steps.start_ns[0], run.steps.end_ns[-1]
    assert run.ledger.total_ns == last - first
    assert run.ledger.memory_ns == run.steps.memory_ns.sum()
    assert sum(run.ledger.shares().values()) == pytest.approx(1.0)


def test_overrides_are_python_values_or_text_as_in_yaml(run):
    slow = rl.run("chat_8b", FEW | {"engine.enforce_eager": True, "stack.launch.issue": "20 us", "hw": "mi325x"})
    assert slow.result["ridgeline"]["gpu"] == "AMD Instinct MI325X"
    assert slow.ledger.launch_ns > run.ledger.launch_ns


def test_an_override_can_be_a_whole_map():
    assert rl.run("chat_8b", FEW | {"workload.arrivals": {"closed_loop": {"concurrency": 2}}}).metrics.peak_running == 2


def test_a_scenario_can_be_a_path_and_a_run_is_kept_and_read_back(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("base: chat_8b\nname: mine\nworkload: {requests: 3}\n")
    run = rl.run(path, out=tmp_path / "out")
    assert run.result["label"] == "mine"
    assert sorted(os.listdir(tmp_path / "out")) == ["requests.csv", "result.json", "scenario.yaml", "steps.bin"]
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == run.result
    again = rl.load_run(tmp_path / "out")
    assert (again.result, again.diagnosis, again.scenario_yaml) == (run.result, run.diagnosis, run.scenario_yaml)
    assert (again.requests.last_token_ns == run.requests.last_token_ns).all()
    again.save(tmp_path / "copy")
    assert (tmp_path / "copy" / "steps.bin").read_bytes() == (tmp_path / "out" / "steps.bin").read_bytes()


def test_the_columns_of_requests_are_those_of_the_file(run, tmp_path):
    run.save(tmp_path / "out")
    with open(tmp_path / "out" / "requests.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert set(header) == set(run.requests.names) - {"tpot_ns"}
    for name, cells in zip(header, zip(*rows)):
        assert list(map(str, run.requests[name])) == list(cells), name


def test_a_training_step_is_a_run_without_requests():
    run = rl.run("b_training")
    assert len(run.requests) == 0 and len(run.steps) == 1 and run.requests.ttft_ns.shape == (0,)
    assert run.ledger.total_ns == run.steps.duration_ns[0] and run.diagnosis.phase == "training"


def test_kernels_of_a_window_fill_the_steps_that_begin_in_it(run):
    second = run.steps.start_ns[1] * 1e-9
    timeline = run.timeline((None, second))
    assert list(timeline.steps.start_ns) == [run.steps.start_ns[0]]
    kernels = timeline.kernels
    busy = sum(run.steps[f"{cause}_ns"][0] for cause in ("compute", "memory", "floor", "communication"))
    assert kernels.duration_ns.sum() == busy
    assert set(kernels.kernel_class) >= {"gemm", "attention"} and set(kernels.step) == {0}
    products = kernels.m > 0
    assert set(kernels.kernel_class[products]) == {"gemm"}
    assert len(run.kernels((0.0, second))) == len(kernels)


@pytest.mark.parametrize("window", [(2.0, 1.0), (1.0, 1.0), (-1.0, None), (float("nan"), None)])
def test_a_window_that_is_no_stretch_of_time_is_refused(run, window):
    with pytest.raises(rl.ConfigError, match="window: expected two times in seconds"):
        run.kernels(window)


def test_a_trace_is_written_and_read_with_the_same_kernels(run, tmp_path):
    end = run.steps.start_ns[5] * 1e-9
    run.write_trace(tmp_path / "t.json.gz", window=(None, end))
    trace = rl.read_trace(tmp_path / "t.json.gz")
    mine = run.kernels((None, end))
    assert sorted(trace.kernels.name) == sorted(mine.name)
    assert trace.kernels.duration_ns.sum() == mine.duration_ns.sum()
    assert trace.summary()["kernel_count"] == len(mine)
    assert trace.diagnose().regime == rl.diagnose(trace).regime == rl.diagnose(tmp_path / "t.json.gz").regime
    with pytest.raises(rl.ConfigError, match="did you mean 'perfetto'"):
        run.write_trace(tmp_path / "t", "perfeto")
    with pytest.raises(rl.ConfigError, match="no step begins in it"):
        run.write_trace(tmp_path / "t", window=(1e6, None))


def test_wrong_input_is_a_value_error_that_says_where():
    with pytest.raises(rl.ConfigError) as error:
        rl.run("chat_8b", {"engine.max_num_seq": 5})
    assert isinstance(error.value, ValueError)
    assert str(error.value) == "--set engine.max_num_seq=5: engine.max_num_seq: unknown key; did you mean 'max_num_seqs'?"


def test_what_cannot_run_is_a_runtime_error():
    with pytest.raises(rl.SimulationError, match="does not fit on NVIDIA A100") as error:
        rl.run("chat_8b", {"model": "llama3_70b", "hw": "a100"})
    assert isinstance(error.value, RuntimeError)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_refused(value):
    with pytest.raises(rl.ConfigError):
        rl.run("chat_8b", {"engine.gpu_memory_utilization": value})


def test_none_takes_a_setting_away():
    whole = rl.Scenario("chat_8b").with_({"engine.max_model_len": None}).resolved()
    assert rl.Scenario("chat_8b").resolved().engine.max_model_len == 16384
    assert whole.engine.max_model_len is None


def test_a_missing_scenario_is_refused(tmp_path):
    with pytest.raises(rl.ConfigError, match="nothing.yaml: no such file"):
        rl.run(tmp_path / "nothing.yaml")
    with pytest.raises(rl.ConfigError, match="unknown name ''"):
        rl.run("")


def test_what_is_no_scenario_is_refused_with_what_is_expected(run):
    for thing, kind in ((None, "NoneType"), (run, "Run"), ({"base": "chat_8b"}, "dict")):
        with pytest.raises(TypeError, match=f"expected a Scenario, a path, or the name of a shipped scenario, got {kind}"):
            rl.run(thing)


def test_cases_hold_and_say_so():
    (case,) = rl.cases("e")
    assert (case.letter, case.numbers_hold, case.diagnoses_agree) == ("E", True, True)
    assert case.from_timeline["regime"] == "overhead_bound"
    assert all(case.accepted[name][0] <= value <= case.accepted[name][1] for name, value in case.simulated.items())
    with pytest.raises(rl.ConfigError, match="unknown case 'X'"):
        rl.cases("X")
