"""The Python package: what it gives, what it refuses, what it says of itself. PYTHONPATH holds the package as built."""

import inspect
import json
import os
import pickle
import signal
import subprocess
import sys

import pytest
import ridgeline

FEW = {"workload.requests": 20}


def without_nan(answer):
    json.dumps(answer, allow_nan=False)
    return answer


def test_a_run_gives_metrics_and_a_diagnosis():
    answer = without_nan(ridgeline.run("chat_8b", FEW))
    assert answer["result"]["completed"] == 20
    assert answer["result"]["output_throughput"] > 0.0
    assert answer["diagnosis"]["regime"] == "bandwidth_bound"


def test_overrides_are_python_values_or_text_as_in_yaml():
    answer = ridgeline.run("chat_8b", FEW | {"engine.enforce_eager": True, "stack.launch.issue": "20 us", "hw": "mi325x"})
    assert answer["result"]["ridgeline"]["gpu"] == "AMD Instinct MI325X"
    assert answer["result"]["ridgeline"]["ledger"]["launch_ns"] > ridgeline.run("chat_8b", FEW)["result"]["ridgeline"]["ledger"]["launch_ns"]


def test_an_override_can_be_a_whole_map():
    answer = ridgeline.run("chat_8b", FEW | {"workload.arrivals": {"closed_loop": {"concurrency": 2}}})
    assert answer["result"]["ridgeline"]["peak_running"] == 2


def test_a_scenario_can_be_a_path(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("base: chat_8b\nname: mine\nworkload: {requests: 3}\n")
    answer = ridgeline.run(path, out=tmp_path / "out")
    assert answer["result"]["label"] == "mine"
    assert sorted(os.listdir(tmp_path / "out")) == ["requests.csv", "result.json", "scenario.yaml", "steps.bin"]
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == answer["result"]


def test_two_runs_in_one_process_are_the_same():
    assert ridgeline.run("chat_8b", FEW) == ridgeline.run("chat_8b", FEW)


def test_a_run_is_the_same_after_another_and_after_an_error():
    first = ridgeline.run("chat_8b", FEW)
    ridgeline.run("e_gaps", {"workload.output_tokens": 50})
    with pytest.raises(ridgeline.ConfigError):
        ridgeline.run("chat_8b", {"engine.max_num_seqs": "many"})
    with pytest.raises(ridgeline.SimulationError):
        ridgeline.run("chat_8b", {"model": "llama3_70b", "hw": "a100"})
    assert ridgeline.run("chat_8b", FEW) == first


def test_a_diagnosis_is_a_dictionary_and_tells_itself_in_other_forms(tmp_path):
    evidence = tmp_path / "e.yaml"
    evidence.write_text("machine: mi300x\nmodel: {parameters: 8e9, weight_dtype: bf16}\nserving: {concurrency: 32}\nmeasured: {throughput: 1150 /s}\n")
    answer = ridgeline.diagnose(evidence)
    assert isinstance(answer, dict) and answer["regime"] == "kernel_inefficiency"
    assert str(answer).startswith("Binds:")
    assert answer.to_markdown().startswith("- **Binds:** ") and answer._repr_markdown_() == answer.to_markdown()
    assert answer.to_memo().startswith("# What to change: a recommendation\n")
    assert "given" in answer.explain("sequences") and f"{evidence}:3" in answer.explain("sequences")
    with pytest.raises(ridgeline.ConfigError, match="did you mean 'confidence'"):
        answer.explain("confidnce")
    steps = answer.derivations()
    assert [step["id"] for step in steps] == list(range(len(steps)))
    again = pickle.loads(pickle.dumps(answer))
    assert again == answer and json.loads(json.dumps(answer)) == answer


def test_ctrl_c_is_still_pythons_after_a_run():
    program = (
        "import os, signal, ridgeline\n"
        "ridgeline.run('chat_8b', {'workload.requests': 3})\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    print('nothing')\n"
        "except KeyboardInterrupt:\n"
        "    print('KeyboardInterrupt')\n"
    )
    # The first line gives back what a shell takes from a job in the background.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + program
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20)
    assert (answer.returncode, answer.stdout) == (0, "KeyboardInterrupt\n")


def test_a_signal_handler_of_pythons_ends_a_run():
    def too_long(*_):
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGALRM, too_long)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError, match="too long"):
            ridgeline.run("chat_8b", {"workload.requests": 100_000})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert ridgeline.run("chat_8b", FEW)["result"]["completed"] == 20


def test_wrong_input_is_a_value_error_that_says_where():
    with pytest.raises(ridgeline.ConfigError) as error:
        ridgeline.run("chat_8b", {"engine.max_num_seq": 5})
    assert isinstance(error.value, ValueError)
    assert str(error.value) == "--set engine.max_num_seq=5: engine.max_num_seq: unknown key; did you mean 'max_num_seqs'?"


def test_what_cannot_run_is_a_runtime_error():
    with pytest.raises(ridgeline.SimulationError, match="does not fit on NVIDIA A100") as error:
        ridgeline.run("chat_8b", {"model": "llama3_70b", "hw": "a100"})
    assert isinstance(error.value, RuntimeError)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_a_value_that_is_no_number_is_refused(value):
    with pytest.raises(ridgeline.ConfigError):
        ridgeline.run("chat_8b", {"engine.gpu_memory_utilization": value})


def test_a_missing_scenario_is_refused(tmp_path):
    with pytest.raises(ridgeline.ConfigError, match="nothing.yaml: no such file"):
        ridgeline.run(tmp_path / "nothing.yaml")


def test_evidence_is_diagnosed(tmp_path):
    path = tmp_path / "e.yaml"
    path.write_text("machine: mi300x\nmodel: {parameters: 13e9, weight_dtype: fp16}\nmeasured: {throughput: 160 tokens/s}\n")
    answer = without_nan(ridgeline.diagnose(path))
    assert {"regime", "phase", "confidence", "settling_evidence", "time_budget", "fixes", "rejects", "inconsistencies", "question"} == set(answer)


def test_the_directory_of_a_run_is_diagnosed_as_the_program_does(tmp_path):
    answer = ridgeline.run("chat_8b", FEW, out=tmp_path / "out")
    assert ridgeline.diagnose(tmp_path / "out") == answer["diagnosis"]


def test_pasted_text_gives_facts_with_their_lines_and_leaves_the_rest():
    answer = ridgeline.read_pasted("it is slow\nOutput token throughput (tok/s):   862.09\nMean TTFT: 12\n")
    (fact,) = answer["facts"]
    assert (fact["key"], fact["value"], fact["line_number"]) == ("measured.throughput", "862.09 /s", 2)
    assert answer["unread"] == ["it is slow"] and "without a unit" in answer["notes"][0] and answer["kernels"] == []
    assert ridgeline.read_pasted(b"\xff\xfe")["unread"] == ["\ufffd\ufffd"]


@pytest.mark.parametrize("name", ridgeline.__all__)
def test_everything_public_says_what_it_is(name):
    thing = getattr(ridgeline, name)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        sections = ["Parameters", "Returns", "Raises"]
        assert all(f"{section}\n---" in inspect.getdoc(thing) for section in sections)
        assert all(parameter.annotation is not inspect.Parameter.empty for parameter in inspect.signature(thing).parameters.values())


def test_the_errors_have_docstrings_of_their_own():
    assert ridgeline.ConfigError.__doc__ and ridgeline.SimulationError.__doc__


def test_exercises_are_sheets_with_every_choice_marked():
    first, second = ridgeline.exercise(2, seed=3, source="cases")
    assert first["title"] != second["title"]
    for question in first["questions"]:
        verdicts = {choice["letter"]: choice["verdict"] for choice in question["choices"]}
        assert verdicts[question["right"]] == "right" and "wrong" in verdicts.values()
    with pytest.raises(ridgeline.ConfigError, match="did you mean 'cases'"):
        ridgeline.exercise(1, source="case")


def test_a_template_is_filled_in_and_checked(tmp_path):
    text = ridgeline.evidence_template()
    assert "#hbm_fraction: 14 %" in text and "#microbatch:" in ridgeline.evidence_template(training=True)
    (tmp_path / "e.yaml").write_text(text.replace("#base: ", "base: ").replace("#itl: ", "itl: "))
    check = without_nan(ridgeline.check_evidence(tmp_path / "e.yaml"))
    assert any(fact["path"] == "measured.itl" and fact["origin"] == "given" for fact in check["understood"])
    assert check["missing"][0]["separates"] >= check["missing"][-1]["separates"]


def test_pasted_text_in_a_file_is_diagnosed_with_what_was_not_read(tmp_path):
    (tmp_path / "server.log").write_text("it is slow\nMean TPOT (ms): 12.30\n")
    answer = ridgeline.diagnose(tmp_path / "server.log")
    assert answer["phase"] == "decode" and any("not read" in note for note in answer["notes"])
