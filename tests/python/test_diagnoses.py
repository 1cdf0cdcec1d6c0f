"""Diagnoses and evidence from Python. PYTHONPATH holds the package as built."""

import json
import pickle

import pytest
import ridgeline

FEW = {"workload.requests": 20}


def without_nan(answer):
    json.dumps(answer, allow_nan=False)
    return answer


def test_a_diagnosis_is_a_dictionary_and_tells_itself_in_other_forms(tmp_path):
    evidence = tmp_path / "e.yaml"
    evidence.write_text(
        "machine: mi300x\nmodel: {parameters: 8e9, weight_dtype: bf16}\nserving: {concurrency: 32}\nmeasured: {throughput: 1150 /s}\n"
    )
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


def test_evidence_is_diagnosed(tmp_path):
    path = tmp_path / "e.yaml"
    path.write_text("machine: mi300x\nmodel: {parameters: 13e9, weight_dtype: fp16}\nmeasured: {throughput: 160 tokens/s}\n")
    answer = without_nan(ridgeline.diagnose(path))
    keys = "regime phase confidence settling_evidence time_budget fixes rejects inconsistencies question"
    assert set(answer) == set(keys.split())


def test_the_directory_of_a_run_is_diagnosed_as_the_program_does(tmp_path):
    run = ridgeline.run("chat_8b", FEW, out=tmp_path / "out")
    assert ridgeline.diagnose(tmp_path / "out") == run.diagnosis == ridgeline.diagnose(run)


def test_pasted_text_gives_facts_with_their_lines_and_leaves_the_rest():
    answer = ridgeline.read_pasted("it is slow\nOutput token throughput (tok/s):   862.09\nMean TTFT: 12\n")
    (fact,) = answer["facts"]
    assert (fact["key"], fact["value"], fact["line_number"]) == ("measured.throughput", "862.09 /s", 2)
    assert answer["unread"] == ["it is slow"] and "without a unit" in answer["notes"][0] and answer["kernels"] == []
    assert ridgeline.read_pasted(b"\xff\xfe")["unread"] == ["\ufffd\ufffd"]


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
