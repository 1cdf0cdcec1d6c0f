"""Every command, as its users type it. The binary is taken from the environment variable RIDGELINE."""

import csv
import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

RIDGELINE = os.environ.get("RIDGELINE", "ridgeline")
CHECK_KINETO = Path(__file__).parent.parent / "clients" / "check_kineto.py"
COMMANDS = ["cases", "run", "diagnose", "inspect", "compare", "trace", "predict", "calibrate", "validate", "evidence", "corpus", "score", "drill", "list"]
FEW = ["--set", "workload.requests=20"]
RUN_FILES = ["requests.csv", "result.json", "scenario.yaml", "steps.bin"]

EVIDENCE = """\
machine: mi300x
model: {parameters: 8e9, weight_dtype: bf16}
serving: {concurrency: 32}
measured: {throughput: 1150 tokens/s}
"""


def ridgeline(*argv, cwd=None, code=0):
    """The program's answer as text. Nothing on stderr: there is no terminal, so there is no progress."""
    answer = subprocess.run([RIDGELINE, *map(str, argv)], cwd=cwd, capture_output=True, text=True, timeout=60)
    assert (answer.returncode, answer.stderr) == (code, "")
    return answer.stdout


def strict(text):
    """JSON without NaN and Infinity, which Python would take and other readers do not."""

    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def words(line):
    return line.split()


def check_diagnosis(diagnosis):
    keys = {
        "regime", "phase", "confidence", "settling_evidence", "time_budget", "fixes", "rejects", "inconsistencies", "question",
    }  # fmt: skip
    assert set(diagnosis) == keys
    assert isinstance(diagnosis["regime"], str) and diagnosis["phase"] in ("prefill", "decode", "training", "mixed")
    assert 0.0 <= diagnosis["confidence"] <= 1.0
    for item in diagnosis["settling_evidence"]:
        assert set(item) == {"statement", "value", "unit", "origin"}
        assert item["origin"] in ("given", "read", "derived", "assumed")
    for part in diagnosis["time_budget"]:
        assert {"part", "seconds", "seconds_low", "seconds_high", "share"} <= set(part)
        if part["seconds_low"] is not None:
            assert 0.0 <= part["seconds_low"] <= part["seconds"] <= part["seconds_high"]
    for item in diagnosis["fixes"] + diagnosis["rejects"]:
        assert set(item) == {"name", "speedup_low", "speedup_high", "why"}
        assert 0.0 < item["speedup_low"] <= item["speedup_high"]
    assert isinstance(diagnosis["inconsistencies"], list)
    assert diagnosis["question"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A directory of a run, not to be changed."""
    directory = tmp_path_factory.mktemp("run") / "chat"
    ridgeline("run", "chat_8b", *FEW, "--out", directory)
    return directory


# cases


def test_cases_shows_every_case_and_ends_in_a_table_where_all_holds():
    text = ridgeline("cases")
    for letter in "ABCDE":
        assert f"Case {letter}: " in text
    assert text.count("Diagnosis from the simulated timeline") == text.count("Diagnosis from the numbers a person typed") == 5
    assert "OUTSIDE" not in text and "nan" not in text.lower().split()
    header, *rows = text.rstrip("\n").split("\n")[-6:]
    assert words(header)[:3] == ["case", "regime", "phase"]
    regimes = [tuple(words(row)[:3]) for row in rows]
    assert regimes == [
        ("A", "bandwidth_bound", "decode"),
        ("B", "compute_bound", "training"),
        ("C", "kernel_inefficiency", "prefill"),
        ("D", "compute_bound", "mixed"),
        ("E", "overhead_bound", "decode"),
    ]
    assert all(words(row)[-1] == "yes" for row in rows)


def test_cases_as_json_holds_numbers_and_both_diagnoses():
    cases = strict(ridgeline("cases", "--json"))
    assert [case["case"] for case in cases] == ["A", "B", "C", "D", "E"]
    for case in cases:
        assert {"case", "simulated", "expected", "free", "diagnosis"} <= set(case)
        assert case["simulated"].keys() == case["expected"].keys() == case["accepted"].keys()
        for name, (low, high) in case["accepted"].items():
            assert low <= case["simulated"][name] <= high
        assert len(case["free"]) <= 4
        for free in case["free"]:
            assert set(free) == {"keys", "value", "reason"}
        assert set(case["diagnosis"]) == {"simulated", "typed"}
        for diagnosis in case["diagnosis"].values():
            check_diagnosis(diagnosis)
        assert case["diagnosis"]["simulated"]["regime"] == case["diagnosis"]["typed"]["regime"]


def test_cases_are_chosen_by_letter_in_any_case():
    text = ridgeline("cases", "A", "c")
    assert "Case A: " in text and "Case C: " in text and "Case B: " not in text
    assert [case["case"] for case in strict(ridgeline("cases", "A", "c", "--json"))] == ["A", "C"]


def test_a_case_named_twice_is_run_once():
    assert [case["case"] for case in strict(ridgeline("cases", "A", "a", "--json"))] == ["A"]


def test_synthesis_names_two_measurements_to_ask_for_first():
    text = ridgeline("cases", "--synthesis")
    assert "Ask for these two first" in text
    assert all(line == line.rstrip() for line in text.split("\n"))
    synthesis = strict(ridgeline("cases", "--synthesis", "--json"))
    assert synthesis["ask_first"] == ["hbm_fraction", "flop_fraction"]


# run


def test_a_run_says_what_came_out_where_the_time_went_and_what_binds():
    text = ridgeline("run", "chat_8b", *FEW)
    assert "  20 requests: 20 answered, 0 refused, 0 unfinished; 0 preemptions\n" in text
    for word in ("TTFT", "TPOT", "where the server's time went", "Binds:", "Proof:", "Do:"):
        assert word in text


def test_counts_are_whole_numbers():
    assert "  200 requests: 200 answered" in ridgeline("run", "chat_8b", "--set", "workload.requests=200", "--quiet")


def test_a_run_as_json_is_result_and_diagnosis():
    answer = strict(ridgeline("run", "chat_8b", *FEW, "--json"))
    assert set(answer) == {"result", "diagnosis"}
    assert answer["result"]["completed"] == 20
    check_diagnosis(answer["diagnosis"])


def test_an_override_changes_the_run():
    few = strict(ridgeline("run", "chat_8b", *FEW, "--set", "hw=mi325x", "--set", "engine.max_num_seqs=1", "--json"))["result"]
    assert few["ridgeline"]["gpu"] == "AMD Instinct MI325X"
    assert few["ridgeline"]["peak_running"] == 1


def test_the_last_override_of_a_key_holds():
    answer = strict(ridgeline("run", "chat_8b", *FEW, "--set", "workload.requests=3", "--json"))
    assert answer["result"]["completed"] == 3


def test_a_trace_replaces_the_workload_of_the_scenario(tmp_path):
    (tmp_path / "t.csv").write_text("arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,100,10\n1.5,200,20\n")
    answer = strict(ridgeline("run", "chat_8b", "--set", "workload.trace=t.csv", "--json", cwd=tmp_path))
    assert (answer["result"]["total_input_tokens"], answer["result"]["total_output_tokens"]) == (300, 30)


def test_a_shipped_case_runs_by_its_name():
    assert strict(ridgeline("run", "a_chatbot", "--json"))["diagnosis"]["regime"] == "bandwidth_bound"
    assert strict(ridgeline("run", "b_training", "--json"))["diagnosis"]["phase"] == "training"


def test_a_run_keeps_four_files_and_nothing_else(run):
    assert sorted(path.name for path in run.iterdir()) == RUN_FILES
    assert [path.name for path in run.parent.iterdir()] == ["chat"]  # nothing half-written beside it
    assert strict((run / "result.json").read_text())["completed"] == 20


def test_two_runs_leave_the_same_bytes(run, tmp_path):
    ridgeline("run", "chat_8b", *FEW, "--out", "again", "--json", "--quiet", cwd=tmp_path)
    for name in RUN_FILES:
        assert (tmp_path / "again" / name).read_bytes() == (run / name).read_bytes(), name


def test_a_run_replaces_an_earlier_one_at_its_place(tmp_path):
    ridgeline("run", "chat_8b", *FEW, "--out", tmp_path / "out/")
    ridgeline("run", "chat_8b", "--set", "workload.requests=3", "--out", tmp_path / "out/")
    assert strict((tmp_path / "out" / "result.json").read_text())["completed"] == 3


def test_the_resolved_scenario_of_a_run_runs_again_to_the_same_bytes(run, tmp_path):
    ridgeline("run", run / "scenario.yaml", "--out", tmp_path / "again")
    for name in RUN_FILES:
        assert (tmp_path / "again" / name).read_bytes() == (run / name).read_bytes(), name


@pytest.mark.parametrize("argv", [["list"], ["run", "chat_8b", *FEW, "--json"]], ids=["little", "much"])
def test_a_full_disk_is_an_error(argv):
    with open("/dev/full", "w") as full:
        answer = subprocess.run([RIDGELINE, *argv], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20)
    assert answer.stderr == "ridgeline: standard output: cannot be written: No space left on device\n"
    assert answer.returncode == 3


# Ctrl-C


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = int(re.search(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE)[1], 16)
    return mask >> (number - 1) & 1 == 1


def interrupt(*argv, presses=1):
    """What a long run says and leaves when Ctrl-C is pressed after a second, once or by a trembling finger."""
    # As many as are simulated for well over a second, and not so many that a second is spent on drawing their arrivals.
    long_run = ["run", "chat_8b", "--set", "workload.requests=100000", "--quiet", *map(str, argv)]
    with subprocess.Popen([RIDGELINE, *long_run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(1.0)
        deadline = time.monotonic() + 20.0
        while not catches(process.pid, signal.SIGINT) and time.monotonic() < deadline:
            assert process.poll() is None, "the run is over before it can be interrupted"
            time.sleep(0.05)  # on a busy machine the first steps take longer
        assert process.poll() is None, "the run is over before it can be interrupted"
        for press in range(presses):
            time.sleep(0.05 * press)
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "")
    return out


def test_ctrl_c_ends_a_run_with_what_is_there_so_far(tmp_path):
    answer = strict(interrupt("--json", "--out", tmp_path / "out"))
    assert answer["result"]["ridgeline"]["interrupted"] is True
    assert answer["result"]["completed"] > 0
    check_diagnosis(answer["diagnosis"])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == RUN_FILES
    assert strict((tmp_path / "out" / "result.json").read_text()) == answer["result"]
    check_diagnosis(strict(ridgeline("diagnose", tmp_path / "out", "--json")))


def test_ctrl_c_is_said_in_words():
    assert "Stopped by Ctrl-C" in interrupt()


def test_a_trembling_finger_is_one_press():
    assert "Stopped by Ctrl-C" in interrupt(presses=2)


# diagnose


def test_typed_evidence_is_diagnosed(tmp_path):
    (tmp_path / "e.yaml").write_text(EVIDENCE)
    text = ridgeline("diagnose", tmp_path / "e.yaml")
    for word in ("Binds:", "Proof:", "Do:", "ask:"):
        assert word in text
    check_diagnosis(strict(ridgeline("diagnose", tmp_path / "e.yaml", "--json")))


def test_the_least_evidence_that_the_help_shows_is_diagnosed(tmp_path):
    help_text = ridgeline("diagnose", "--help")
    example = [line[2:] for line in help_text.split("\n") if line.startswith("  ") and line[2:].split(":")[0] in EVIDENCE]
    (tmp_path / "e.yaml").write_text("\n".join(example) + "\n")
    assert len(example) == 4
    check_diagnosis(strict(ridgeline("diagnose", tmp_path / "e.yaml", "--json")))


@pytest.mark.parametrize("measured", ["throughput: 3000 /s", "itl: 9 ms", "ttft: 400 ms", "step_time: 20 ms"])
def test_little_evidence_gives_intervals_that_are_not_upside_down(tmp_path, measured):
    (tmp_path / "e.yaml").write_text(f"machine: mi300x\nmodel: llama3_8b\nmeasured: {{{measured}}}\n")
    check_diagnosis(strict(ridgeline("diagnose", tmp_path / "e.yaml", "--json")))


def test_a_run_and_its_directory_have_the_same_diagnosis(run):
    of_run = strict(ridgeline("run", "chat_8b", *FEW, "--json"))["diagnosis"]
    assert strict(ridgeline("diagnose", run, "--json")) == of_run


def test_a_training_run_is_diagnosed_from_its_directory(tmp_path):
    ridgeline("run", "b_training", "--out", tmp_path / "b")
    assert strict(ridgeline("diagnose", tmp_path / "b", "--json"))["phase"] == "training"


def test_a_run_that_was_moved_is_still_a_run(run, tmp_path):
    before = ridgeline("diagnose", run)
    shutil.copytree(run, tmp_path / "elsewhere")
    assert ridgeline("diagnose", "elsewhere", cwd=tmp_path) == before
    ridgeline("trace", "elsewhere", cwd=tmp_path)
    assert (tmp_path / "elsewhere" / "timeline.json.gz").exists()


def test_a_run_of_a_trace_that_is_gone_is_still_a_run(tmp_path):
    (tmp_path / "t.csv").write_text("arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,100,10\n1.5,200,20\n")
    ridgeline("run", "chat_8b", "--set", "workload.trace=t.csv", "--out", "out", cwd=tmp_path)
    (tmp_path / "t.csv").unlink()
    check_diagnosis(strict(ridgeline("diagnose", "out", "--json", cwd=tmp_path)))
    ridgeline("trace", "out", cwd=tmp_path)


# the forms in which a diagnosis is told

CASES = sorted(Path(__file__).parent.parent.parent.glob("configs/cases/*.evidence.yaml"))
SCALES = {
    "%": 1e-2, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "PFLOP": 1e15,
}  # fmt: skip
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
AMOUNT = re.compile(rf"({NUMBER})(?: ({'|'.join(SCALES)})\b| (%))?(?: to ({NUMBER})(?: ({'|'.join(SCALES)})\b| (%))?)?")


def leaves(item):
    """Every text and every number of a JSON document."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, list):
        return [leaf for part in item for leaf in leaves(part)]
    return [item]


def amounts(text):
    """Each number of a text as it is written, and what one of its unit is in SI: "4.81 to 5.00 ms" is two times."""
    for low, unit, percent, high, high_unit, high_percent in AMOUNT.findall(text):
        last = high_unit or high_percent
        yield low, SCALES.get(unit or percent or last, 1.0)
        if high:
            yield high, SCALES.get(last, 1.0)


def unmarked(markdown):
    """What a reader sees, without the title, which is in no JSON."""
    body = "\n".join(line for line in markdown.split("\n") if not line.startswith("# ") and not line.startswith("## Case"))
    return re.sub(r"\\([^\w\s])", r"\1", body).replace("\u2060", "")


@pytest.mark.parametrize("form", ["--markdown", "--memo"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name[0])
def test_markdown_holds_no_number_that_is_not_in_the_json(path, form):
    known = leaves(strict(ridgeline("diagnose", path, "--json", "--explain")))
    said = {token for text in known if isinstance(text, str) for token in re.findall(NUMBER, text)}
    numbers = [number for number in known if isinstance(number, (int, float)) and not isinstance(number, bool)]
    found = list(amounts(unmarked(ridgeline("diagnose", path, form))))
    assert len(found) > 10
    for token, scale in found:
        digits = token.replace(",", "")
        half = 0.5000001 * 10.0 ** -len(digits.partition(".")[2].partition("e")[0])
        assert token in said or any(abs(number / scale - float(digits)) <= half for number in numbers), f"{token} (x {scale})"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name[0])
def test_derivations_are_trees_of_arithmetic_down_to_facts_with_places(path):
    answer = strict(ridgeline("diagnose", path, "--json", "--explain"))
    derivations = answer.pop("derivations")
    check_diagnosis(answer)
    steps = {step["id"]: step for step in derivations}
    for step in derivations:
        operands = [steps[operand]["value"] for operand in step["from"]]
        assert all(operand < step["id"] for operand in step["from"])
        again = {
            "sum": lambda: sum(operands),
            "difference": lambda: operands[0] - operands[1],
            "product": lambda: operands[0] * operands[1],
            "quotient": lambda: operands[0] / operands[1],
        }.get(step["operation"], lambda: step["value"])()
        assert again == pytest.approx(step["value"], rel=1e-9), step
        if step["operation"] == "fact" and step["origin"] != "assumed":
            assert step["place"] or step["origin"] == "derived", step
    ledger = {item["name"]: step for step in derivations for item in step.get("answers", []) if item["in"] == "ledger"}
    assert set(ledger) == {line["part"] for line in answer["time_budget"]}
    for line in answer["time_budget"]:
        wanted = line["share"] if line["seconds"] is None else line["seconds"]
        assert ledger[line["part"]]["value"] == pytest.approx(wanted, rel=1e-9)


def test_one_number_is_asked_for_by_its_name_in_either_order(tmp_path):
    (tmp_path / "e.yaml").write_text(EVIDENCE)
    line = "  weights at peak bandwidth = 3.02 ms (2.83 to 3.21 ms), derived: weight bytes / machine.hbm_bandwidth\n"
    assert ridgeline("diagnose", "e.yaml", "--explain", "weights_at_peak bandwidth", cwd=tmp_path).startswith(line)
    assert "  measured.throughput = 1,150 /s" in ridgeline("diagnose", "e.yaml", "--explain", cwd=tmp_path)
    assert "given, e.yaml:4\n" in ridgeline("diagnose", "--explain", "e.yaml", cwd=tmp_path)
    one = strict(ridgeline("diagnose", "e.yaml", "--json", "--explain", "sequences", cwd=tmp_path))["derivations"]
    assert [(step["name"], step["place"]) for step in one] == [("serving.concurrency", "e.yaml:3")]


def test_a_run_is_explained_down_to_its_timeline(run):
    assert "read, timeline\n" in ridgeline("diagnose", run, "--explain")
    assert ridgeline("diagnose", run, "--memo").startswith("# ")


def test_colour_is_for_terminals_and_for_whoever_insists(tmp_path):
    (tmp_path / "e.yaml").write_text(EVIDENCE)
    plain = ridgeline("diagnose", tmp_path / "e.yaml")
    assert "\x1b" not in plain
    assert ridgeline("diagnose", tmp_path / "e.yaml", "--color", "never") == plain
    painted = ridgeline("diagnose", tmp_path / "e.yaml", "--color", "always")
    assert painted.startswith("\x1b[1mBinds:") and re.sub(r"\x1b\[\d*m", "", painted) == plain


@pytest.mark.parametrize("variables, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)])
def test_on_a_terminal_the_environment_may_refuse_colour(tmp_path, variables, coloured):
    import pty

    (tmp_path / "e.yaml").write_text(EVIDENCE)
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"} | variables
    ours, theirs = pty.openpty()
    with subprocess.Popen([RIDGELINE, "diagnose", tmp_path / "e.yaml"], stdout=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux says that the other side has closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    assert process.returncode == 0 and b"Binds:" in shown
    assert (b"\x1b[1m" in shown) == coloured


# trace


def check_kineto(path):
    checked = subprocess.run([sys.executable, CHECK_KINETO, path], capture_output=True, text=True, timeout=60)
    assert (checked.returncode, checked.stderr) == (0, "")
    return dict(line.split() for line in checked.stdout.splitlines())


@pytest.mark.parametrize("name", ["timeline.json", "timeline.json.gz"])
def test_a_timeline_is_what_its_summary_says(run, tmp_path, name):
    summary = strict(ridgeline("trace", run, "--window", "0s..500ms", "--out", tmp_path / name, "--json"))
    checked = check_kineto(tmp_path / name)
    assert summary["file"] == str(tmp_path / name)
    assert int(checked["kernels"]) == summary["kernels"] == sum(item["count"] for item in summary["kernels_by_class"])
    assert int(checked["busy_ns"]) == summary["busy_ns"]
    assert summary["steps_ns"] == summary["busy_ns"] + summary["gaps_ns"] + summary["host_ns"]


def test_a_timeline_on_stdout_is_the_one_in_a_file(run, tmp_path):
    ridgeline("trace", run, "--window", "..1s", "--out", tmp_path / "t.json.gz")
    on_stdout = ridgeline("trace", run, "--window", "..1s", "--out", "-")
    strict(on_stdout)
    assert gzip.decompress((tmp_path / "t.json.gz").read_bytes()).decode() == on_stdout


def test_a_timeline_goes_into_the_run_when_no_place_is_named(tmp_path):
    ridgeline("run", "chat_8b", "--set", "workload.requests=2", "--out", tmp_path / "run")
    text = ridgeline("trace", "run", cwd=tmp_path)
    assert "written to run/timeline.json.gz" in text and "perfetto" in text
    check_kineto(tmp_path / "run" / "timeline.json.gz")


def test_two_timelines_are_the_same_bytes(run, tmp_path):
    for name in ("a.json.gz", "b.json.gz"):
        ridgeline("trace", run, "--window", "..1s", "--out", tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


# list, --help, --version


PASTED = """\
> $ vllm serve acme/Chat-8B --max-num-seqs 64 \\
>     --enforce-eager
> Output token throughput (tok/s):         862.09
> Mean TTFT: 12.30
> why is it so slow?
"""


def test_pasted_text_is_read_as_a_fragment_of_evidence_with_its_lines(tmp_path):
    path = tmp_path / "pasted.txt"
    path.write_text(PASTED)
    text = ridgeline("evidence", "read", path)
    assert "measured:\n  throughput: 862.09 /s  # line 3: Output token throughput (tok/s):         862.09\n" in text
    assert "  enforce_eager: true  # line 2: --enforce-eager\n" in text
    assert "# note: line 4: a time without a unit: Mean TTFT: 12.30\n" in text
    assert text.endswith("# lines not read: 1\n#   why is it so slow?\n")
    piped = subprocess.run([RIDGELINE, "evidence", "read", "-"], input=PASTED, capture_output=True, text=True, timeout=60)
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, text, "")

    answer = strict(ridgeline("evidence", "read", path, "--json"))
    assert {f["key"]: f["value"] for f in answer["facts"]} == {
        "model.name": "acme/Chat-8B",
        "engine.max_num_seqs": "64",
        "engine.enforce_eager": "true",
        "measured.throughput": "862.09 /s",
    }
    assert answer["unread"] == ["why is it so slow?"]


def test_a_fragment_read_from_pasted_text_is_yaml_whatever_the_text_holds(tmp_path):
    yaml = pytest.importorskip("yaml")
    path = tmp_path / "pasted.txt"
    path.write_bytes(b"vllm serve 'a: \"b\" # \\ \xff\xe2\x82\xac' --quantization '[x, - y' --dtype '{y: 1}'\nMean TTFT (ms): 12.30 \xff\n")
    fragment = yaml.safe_load(ridgeline("evidence", "read", path))
    assert fragment["model"]["name"] == 'a: "b" # \\ \ufffd\u20ac'
    assert fragment["engine"] == {"quantization": "[x, - y", "dtype": "{y: 1}"}


BENCHMARK = """\
vllm serve meta-llama/Llama-3.1-8B-Instruct --tensor-parallel-size 2 --quantization fp8
  0%|   NVIDIA H100 80GB HBM3          On  |
Maximum request concurrency:             16
Successful requests:                     128
Total input tokens:                      131072
Total generated tokens:                  128000
Output token throughput (tok/s):         800.00
Mean TPOT (ms):                          17.18
why is it so slow?
"""


def test_pasted_text_is_diagnosed_from_a_file_and_from_standard_input(tmp_path):
    (tmp_path / "server.log").write_text(BENCHMARK)
    text = ridgeline("diagnose", "server.log", cwd=tmp_path)
    assert "Binds:" in text and "note: 2 lines of the text were not read" in text
    piped = subprocess.run([RIDGELINE, "diagnose", "-"], input=BENCHMARK, capture_output=True, text=True, timeout=60)
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, text, "")
    answer = strict(ridgeline("diagnose", "server.log", "--json", cwd=tmp_path))
    assert any("not read" in note for note in answer.pop("notes"))
    check_diagnosis(answer)


def test_numbers_of_pasted_text_are_explained_by_its_lines(tmp_path):
    (tmp_path / "server.log").write_text(BENCHMARK)
    assert "server.log:7" in ridgeline("diagnose", "server.log", "--explain", cwd=tmp_path)


def test_text_within_evidence_counts_less_than_what_is_typed(tmp_path):
    indented = "".join(f"  {line}\n" for line in BENCHMARK.splitlines())
    (tmp_path / "e.yaml").write_text(f"machine: mi300x\nmeasured: {{throughput: 900 tok/s}}\ntext: |\n{indented}")
    facts = strict(ridgeline("evidence", "check", "e.yaml", "--json", cwd=tmp_path))
    values = {f["path"]: f["value"] for f in facts["understood"]}
    assert values["machine.name"] == "AMD Instinct MI300X" and values["machine.devices"] == 2
    assert values["measured.throughput"] == 900 and values["measured.itl"] == pytest.approx(17.18e-3)
    assert values["model.weight_dtype"] == "fp8"
    assert any("measured.throughput: e.yaml:2:24 says 900 tok/s" in note and "800.00 /s" in note for note in facts["notes"])


def test_text_that_says_nothing_is_no_evidence(tmp_path):
    (tmp_path / "letter.txt").write_text("Dear all,\nit is slow.\n")
    answer = subprocess.run([RIDGELINE, "diagnose", "letter.txt"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2 and "letter.txt: neither evidence as YAML nor text of a known format" in answer.stderr


def test_a_check_asks_for_the_number_that_tells_most(tmp_path):
    (tmp_path / "e.yaml").write_text(EVIDENCE)
    text = ridgeline("evidence", "check", tmp_path / "e.yaml")
    for word in ("Understood", "measured.throughput", "[given, ", "Assumed", "Not known", "kv_heads", "Missing, what tells most first"):
        assert word in text
    answer = strict(ridgeline("evidence", "check", tmp_path / "e.yaml", "--json"))
    missing = answer["missing"]
    assert 1 <= len(missing) <= 8 and [m["separates"] for m in missing] == sorted((m["separates"] for m in missing), reverse=True)
    for item in missing:
        assert f"  {item['path']}: {item['sentence']}\n" in text
    diagnosis = strict(ridgeline("diagnose", tmp_path / "e.yaml", "--json"))
    assert (answer["regime"], answer["confidence"]) == (diagnosis["regime"], diagnosis["confidence"])


@pytest.mark.parametrize("training", [[], ["--training"]])
def test_the_template_is_written_once_and_read_when_filled_in(tmp_path, training):
    assert "written to e.yaml" in ridgeline("evidence", "new", "--out", "e.yaml", *training, cwd=tmp_path)
    answer = subprocess.run([RIDGELINE, "evidence", "new", "--out", "e.yaml"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2 and "e.yaml: exists" in answer.stderr
    text = (tmp_path / "e.yaml").read_text()
    assert text == ridgeline("evidence", "new", *training)
    (tmp_path / "e.yaml").write_text(re.sub(r"#(base|step_time|parameters):", r"\1:", text))
    check_diagnosis(strict(ridgeline("diagnose", "e.yaml", "--json", cwd=tmp_path)))


def test_evidence_knows_its_commands_and_formats(tmp_path):
    answer = subprocess.run([RIDGELINE, "evidence", "raed"], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2 and "evidence: unknown command 'raed'; did you mean 'read'?" in answer.stderr
    answer = subprocess.run([RIDGELINE, "evidence", "read"], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2 and "evidence read: expected FILE|-, got nothing" in answer.stderr
    answer = subprocess.run([RIDGELINE, "evidence", "read", tmp_path / "none"], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2 and "none" in answer.stderr
    formats = strict(ridgeline("evidence", "formats", "--json"))
    assert {"vllm log", "serving benchmark", "command line", "nsys table"} <= {f["name"] for f in formats}


def test_list_shows_what_is_shipped():
    text = ridgeline("list")
    for name in ("mi300x", "llama3_8b", "vllm_v1", "chat_8b", "a_chatbot"):
        assert any(words(line)[0] == name for line in text.splitlines())
    assert "AMD Instinct MI300X" in text
    assert strict(ridgeline("list", "cases", "--json")) == {
        "cases": ["a_chatbot", "b_training", "c_summarizer", "d_api", "e_gaps"]
    }  # fmt: skip


def test_list_shows_one_configuration_with_what_it_builds_on():
    text = ridgeline("list", "hw", "mi325x")
    assert "compute_units: 304\n" in text and "base:" not in text


def test_list_takes_the_names_that_people_write():
    assert ridgeline("list", "hw", "NVIDIA A100-SXM4-40GB") == ridgeline("list", "hw", "a100_40gb")
    assert ridgeline("list", "hw", "RTX 3090") == ridgeline("list", "hw", "rtx3090")
    assert ridgeline("list", "models", "meta-llama/Llama-2-7b-hf") == ridgeline("list", "models", "llama2_7b")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_shows_how_to_type_it(command):
    text = ridgeline(command, "--help")
    assert any(line.startswith(f"  ridgeline {command}") for line in text.split("\n"))


def test_the_examples_of_the_help_are_commands_that_exist():
    for text in [ridgeline("--help")] + [ridgeline(command, "--help") for command in COMMANDS]:
        typed = [line.split() for line in text.split("\n") if line.startswith("  ridgeline ")]
        assert all(line[1] in COMMANDS for line in typed)


def test_the_program_says_its_version():
    name, version = ridgeline("--version").split()
    assert name == "ridgeline" and version.count(".") == 2


# several GPUs


def test_a_model_on_eight_gpus_says_what_the_talk_between_them_costs():
    run = ridgeline("run", "chat_8b", *FEW, "--set", "model={base: llama3_70b, quantization: fp8}", "--set", "engine.tensor_parallel_size=8")
    assert re.search(r"collectives between devices +[\d.]+ m?s +\d+\.\d %", run)
    answer = strict(ridgeline("run", "chat_8b", *FEW, "--set", "model=llama3_70b", "--set", "engine.tensor_parallel_size=8", "--json"))
    check_diagnosis(answer["diagnosis"])
    assert answer["result"]["completed"] == 20


# predict, validate, calibrate

PRODUCTS = "hw,M,N,K,dtype,mine\nMI300X,16,8192,8192,bf16,a\nMI300X,4096,8192,8192,bf16,b\n"


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def measured(factor=1.0, hw="MI300X", dtype="int8"):
    """Products that take what is predicted of them, times a factor, as a table."""
    sizes = [(m, n, k) for m in (1, 16, 100, 512, 3000, 8192) for n in (1280, 8192, 28672) for k in (1024, 5120, 8192)]
    shapes = "hw,M,N,K,dtype\n" + "".join(f"{hw},{m},{n},{k},{dtype}\n" for m, n, k in sizes)
    answer = subprocess.run([RIDGELINE, "predict", "gemm", "-"], input=shapes, capture_output=True, text=True, timeout=60)
    assert (answer.returncode, answer.stderr) == (0, "")
    rows = table(answer.stdout)
    assert len(rows) == len(sizes)
    return "hw,M,N,K,dtype,time_us\n" + "".join(
        ",".join(row[key] for key in ("hw", "M", "N", "K", "dtype")) + f",{float(row['predicted_us']) * factor}\n" for row in rows
    )


def test_a_table_of_products_comes_out_with_times(tmp_path):
    (tmp_path / "t.csv").write_text(PRODUCTS)
    rows = table(ridgeline("predict", "gemm", tmp_path / "t.csv"))
    assert [row["mine"] for row in rows] == ["a", "b"]  # other columns are kept
    for row in rows:
        flop = 2.0 * int(row["M"]) * 8192 * 8192
        floor_us = max(flop / 1307.4e12, 2.0 * 8192 * 8192 / 5.3e12) * 1e6  # peak FLOP rate, weights at peak bandwidth
        assert floor_us < float(row["predicted_us"]) < 10.0 * floor_us
        assert float(row["low_us"]) < float(row["predicted_us"]) < float(row["high_us"])
    assert [row["binds"] for row in rows] == ["memory", "compute"]


def test_the_example_of_the_help_is_predicted_from_standard_input(tmp_path):
    (tmp_path / "t.csv").write_text(PRODUCTS)
    answer = subprocess.run([RIDGELINE, "predict", "gemm", "-"], input=PRODUCTS, capture_output=True, text=True, timeout=60)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == ridgeline("predict", "gemm", tmp_path / "t.csv")


def test_the_machine_of_a_prediction_can_be_a_name_or_a_file(tmp_path):
    (tmp_path / "t.csv").write_text(PRODUCTS)
    (tmp_path / "mine.yaml").write_text("base: h100\n")
    named = ridgeline("predict", "gemm", "t.csv", "--hw", "h100", cwd=tmp_path)
    assert named == ridgeline("predict", "gemm", "t.csv", "--hw", "mine.yaml", cwd=tmp_path)
    assert named != ridgeline("predict", "gemm", "t.csv", cwd=tmp_path)


@pytest.mark.parametrize(
    "operation, row",
    [
        ("attention", "hw,phase,dtype,batch,q_heads,seqlen_q,causal\nMI300X,fwd,bf16,2,32,4096,1\n"),
        ("allreduce", "hw,impl,n_gpu,bytes\nMI300X,RCCL,8,1048576\n"),
        ("moe", "hw,tokens,model_dim,inter_dim_per_gpu,experts,topk,act_dtype\nMI300X,64,7168,2048,33,9,fp8\n"),
    ],
)
def test_every_kind_of_operation_is_predicted(tmp_path, operation, row):
    (tmp_path / "t.csv").write_text(row)
    (answer,) = table(ridgeline("predict", operation, tmp_path / "t.csv"))
    assert 0.0 < float(answer["low_us"]) <= float(answer["predicted_us"]) <= float(answer["high_us"])


def test_rows_that_cannot_be_predicted_say_why_beside_those_that_can(tmp_path):
    (tmp_path / "t.csv").write_text(PRODUCTS + "MI300X,16,,8192,bf16,c\nAbacus,16,8192,8192,bf16,d\n")
    rows = table(ridgeline("predict", "gemm", "t.csv", cwd=tmp_path))
    assert [bool(row["predicted_us"]) for row in rows] == [True, True, False, False]
    assert rows[2]["flags"] == "t.csv: row 3: N: expected a whole number of at least 1, got ''"
    assert rows[3]["flags"].startswith("t.csv: row 4: hw: expected a machine, one of a10, ")


def test_a_header_alone_comes_out_as_a_header(tmp_path):
    (tmp_path / "t.csv").write_text("hw,M,N,K,dtype\n")
    assert ridgeline("predict", "gemm", tmp_path / "t.csv") == "hw,M,N,K,dtype,predicted_us,low_us,high_us,binds,flags\n"


def test_predictions_held_against_themselves_have_no_error(tmp_path):
    (tmp_path / "t.csv").write_text(measured())
    (group,) = strict(ridgeline("validate", "t.csv", "--json", cwd=tmp_path))
    assert (group["set"], group["group"], group["not_predicted"], group["below_floor"]) == ("gemm", "MI300X int8", 0, 0)
    assert group["fitted"]["rows"] + group["held_back"]["rows"] == 54
    assert group["fitted"]["median_error"] < 1e-3 and group["held_back"]["p90_error"] < 1e-3
    assert group["inside_interval"] == 1.0 and group["misses_beyond_twice"] == []


def test_an_error_of_a_half_is_shown_as_one(tmp_path):
    (tmp_path / "t.csv").write_text(measured(1.0 / 1.5))
    header, row = ridgeline("validate", "t.csv", cwd=tmp_path).rstrip("\n").split("\n")
    assert header.split()[:3] == ["set", "measured", "by"]
    assert row.split()[0] == "gemm" and row.count("50.0 %") == 4  # median and p90, rows held back and not
    markdown = ridgeline("validate", "t.csv", "--markdown", cwd=tmp_path).splitlines()
    assert len({line.count("|") for line in markdown}) == 1 and markdown[2].count("50.0 %") == 4


def test_a_named_pipe_is_read_once(tmp_path):
    """The writer is gone by the time that a second open would wait for another one."""
    events = [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10 * i, "dur": 8} for i in range(100)]
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(json.dumps({"traceEvents": events}),))
    writer.start()
    answer = ridgeline("inspect", "pipe", cwd=tmp_path)
    writer.join()
    assert "100" in answer


def test_attention_may_be_measured_in_microseconds(tmp_path):
    (tmp_path / "t.csv").write_text("hw,phase,dtype,batch,q_heads,seqlen_q,time_us\nMI300X,fwd,bf16,8,32,4096,900\n")
    (group,) = strict(ridgeline("validate", "t.csv", "--json", cwd=tmp_path))
    assert group["set"] == "attention"


def test_every_row_judged_can_be_written(tmp_path):
    (tmp_path / "t.csv").write_text(measured(0.5))
    ridgeline("validate", "t.csv", "--csv", "rows.csv", cwd=tmp_path)
    rows = table((tmp_path / "rows.csv").read_text())
    assert len(rows) == 54 and rows[0]["place"] == "t.csv: row 1"
    assert all(float(row["predicted"]) == pytest.approx(2.0 * float(row["measured"]), rel=1e-3) for row in rows)
    assert {row["held_back"] for row in rows} == {"0", "1"}


def test_folders_and_standard_input_are_judged(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "gemm.csv").write_text(measured())
    (tmp_path / "a" / "bandwidth.csv").write_text("hw,level,test,value,unit\nMI300X,hbm,copy,4,TB/s\n")
    of_folder = strict(ridgeline("validate", tmp_path, "--json"))
    answer = subprocess.run([RIDGELINE, "validate", "-", "--json"], input=measured(), capture_output=True, text=True, timeout=60)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert strict(answer.stdout) == of_folder


def test_a_machine_is_calibrated_to_measurements_of_it(tmp_path):
    (tmp_path / "changed.yaml").write_text("base: mi300x\ngemm: {families: {int8: {workgroup_bandwidth: 53.76 GB/s}}}\n")
    (tmp_path / "t.csv").write_text(measured())
    changed = table(ridgeline("predict", "gemm", "t.csv", "--hw", "changed.yaml", cwd=tmp_path))
    lines = [",".join([*(row[key] for key in ("hw", "M", "N", "K", "dtype")), row["predicted_us"]]) for row in changed]
    (tmp_path / "t.csv").write_text("hw,M,N,K,dtype,time_us\n" + "\n".join(lines) + "\n")

    text = ridgeline("calibrate", "t.csv", "--hw", "mi300x", "--out", "out.yaml", cwd=tmp_path)
    assert text.startswith("gemm.families.int8\n")
    assert re.search(r"workgroup_bandwidth +67\.2 GB/s +5[345]\.?\d* GB/s", text)
    assert text.endswith("out.yaml: the machine as fitted, for --set hw=out.yaml\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out.yaml").rename(tmp_path / "elsewhere" / "mine.yaml")
    (before,) = strict(ridgeline("validate", "t.csv", "--json", cwd=tmp_path))
    (after,) = strict(ridgeline("validate", "t.csv", "--json", "--hw", "elsewhere/mine.yaml", cwd=tmp_path))
    assert after["held_back"]["median_error"] < 0.01 < 0.03 < before["held_back"]["median_error"]
    ridgeline("run", "chat_8b", *FEW, "--set", "hw=elsewhere/mine.yaml", cwd=tmp_path)


def test_a_calibration_of_few_rows_says_that_it_fitted_nothing(tmp_path):
    (tmp_path / "t.csv").write_text("hw,M,N,K,dtype,time_us\nMI300X,16,8192,8192,int8,30\n")
    text = ridgeline("calibrate", "t.csv", "--hw", "mi300x", "--out", "out.yaml", cwd=tmp_path)
    assert re.search(r"not fitted: [01] rows for \d constants", text)
    assert (tmp_path / "out.yaml").read_text().split() in (["base:", "mi300x"], ["base:", '"mi300x"'], ["base:", "'mi300x'"])


# drill


def drill(*argv, typed="", code=0):
    answer = subprocess.run([RIDGELINE, "drill", *map(str, argv)], input=typed, capture_output=True, text=True, timeout=60)
    assert answer.returncode == code
    return answer.stdout, answer.stderr


def key_of(*argv):
    """The right letters of a drill, exercise by exercise."""
    return [[q["right"] for q in item["questions"]] for item in strict(drill(*argv, "--show-only", "--key", "--json")[0])]


def test_a_drill_of_perfect_answers_has_all_marks_and_says_why(tmp_path):
    cases = ["--from", "cases", "--seed", 2]
    answers = tmp_path / "answers.txt"
    answers.write_text("\n".join(letter for item in key_of(*cases) for letter in item))
    text, errors = drill(*cases, "--answers", answers)
    assert errors == "" and "20 of 20 marks" in text
    assert text.count("Ridgeline from the same sheet: ") == text.count("Binds:  ") == 5
    marks = strict(drill(*cases, "--answers", answers, "--json")[0])
    assert (marks["seed"], marks["points"], marks["of"], len(marks["items"])) == (2, 20, 20, 5)
    for item in marks["items"]:
        assert set(item) == {"kind", "title", "marks", "points", "of", "seconds"}
        assert list(item["marks"]) == ["regime", "observation", "fix", "reject"]
        for mark in item["marks"].values():
            assert set(mark) == {"answer", "right", "verdict", "points", "why"}
            assert mark["verdict"] == "right" and mark["answer"] == mark["right"] and mark["why"]


def test_a_drill_takes_a_map_for_each_exercise_and_marks_what_is_wrong():
    argv = ["--from", "cases", "--n", 1, "--json", "--answers", "-"]
    (item,) = strict(drill(*argv, typed="- {regime: transfer_bound, reject: b}\n")[0])["items"]
    assert item["marks"]["regime"]["verdict"] == "wrong" and item["marks"]["regime"]["why"].startswith("it is ")
    assert item["marks"]["fix"] | {"answer": None, "verdict": "unanswered", "points": 0} == item["marks"]["fix"]


def test_a_person_is_asked_again_and_the_end_of_input_ends_with_the_marks_so_far():
    text, errors = drill("--from", "cases", typed="bandwith_bound\nb\n")
    assert errors == ""
    assert "did you mean 'bandwidth_bound'?" in text
    assert text.count("unanswered: ") == 3 and " of 4 marks" in text
    assert "Nothing was answered." in drill("--from", "cases")[0]
    out, sheets = drill("--from", "cases", "--n", 1, "--json", typed="?\n")
    assert strict(out)["of"] == 4 and "Which regime binds?" in sheets and "[0:0" in sheets


def test_a_limit_cuts_an_exercise_off():
    argv = [RIDGELINE, "drill", "--from", "cases", "--n", "1", "--limit", "1"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        text = process.stdout.read()  # nobody types anything
        assert process.wait() == 0
    assert "The time is up." in text and "0 of 4 in 0:01" in text


def test_sheets_to_print_hold_no_answer():
    text, _ = drill("--from", "generated", "--n", 2, "--show-only")
    assert text.count("Which regime binds?") == 2 and "Exercise 2\n" in text
    for sheet in strict(drill("--n", 4, "--show-only", "--json")[0]):
        assert not re.search(r"_bound|kernel_inefficiency|mixed", sheet["sheet"])
        assert all(set(choice) == {"letter", "name", "text"} for q in sheet["questions"] for choice in q["choices"])
        assert not any(c["name"] and c["name"] in sheet["sheet"] for q in sheet["questions"] for c in q["choices"])


def test_a_drill_says_what_is_wrong_with_its_options_and_answers(tmp_path):
    for argv, typed, said in [
        (["--from", "case"], "", "from: expected one of cases, generated, reports, all, got 'case'; did you mean 'cases'?"),
        (["--level", "timeline"], "", "level: expected one of throughput, percentages, got 'timeline'"),
        (["--key"], "", "--key goes with --show-only"),
        (["--answers", "-", "--limit", "5"], "b", "--limit is for people"),
        (["--answers", tmp_path / "none.txt"], "", "none.txt"),
        (["--from", "cases", "--answers", "-"], "b\nz\n", "answers:2: observation: expected a letter from a to d, or ? to pass, got 'z'"),
        (["--from", "cases", "--n", "1", "--answers", "-"], "a\n" * 5, "answers:5: 1 more answer than questions"),
    ]:
        _, errors = drill(*argv, typed=typed, code=2)
        assert said in errors and errors.count("\n") == 1


# corpus

ITEM_FILES = ["label.json", "percentages.evidence.yaml", "scenario.yaml", "throughput.evidence.yaml", "timeline.evidence.yaml"]


def files_of(directory):
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_a_corpus_is_labelled_scenarios_that_run_and_evidence_that_can_be_diagnosed(tmp_path):
    index = strict(ridgeline("corpus", "generate", "--n", 4, "--seed", 3, "--out", tmp_path, "--json"))
    assert (index["n"], index["seed"], sum(index["regimes"].values())) == (4, 3, 4)
    assert strict((tmp_path / "index.json").read_text()) == index
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0000", "0001", "0002", "0003", "index.json"]
    for i in range(4):
        item = tmp_path / f"{i:04}"
        assert sorted(path.name for path in item.iterdir()) == ITEM_FILES
        label = strict((item / "label.json").read_text())
        assert (label["index"], label["seed"]) == (i, 3)
        assert label["accepted"][0] == label["regime"]
        assert set(label["of_steps"]) < set(label["elasticity"])
        assert all(isinstance(gain, str) or gain > 0.0 for gain in label["gains"].values())
        for depth in ("throughput", "percentages", "timeline"):
            check_diagnosis(strict(ridgeline("diagnose", item / f"{depth}.evidence.yaml", "--json")))
    assert label["title"] in ridgeline("run", item / "scenario.yaml")


def test_a_corpus_is_the_same_however_many_processes_make_it_and_in_how_many_runs(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    ridgeline("corpus", "generate", "--n", 5, "--out", one, "--jobs", 1)
    ridgeline("corpus", "generate", "--n", 2, "--out", two, "--jobs", 2)
    before = (two / "0001" / "label.json").stat().st_mtime_ns
    text = ridgeline("corpus", "generate", "--n", 5, "--out", two, "--jobs", 2)
    assert text.startswith(f"5 items of seed 7 in {two}, 3 of them made now\n")
    assert (two / "0001" / "label.json").stat().st_mtime_ns == before
    assert files_of(one) == files_of(two)
    assert "0 of them made now" in ridgeline("corpus", "generate", "--n", 5, "--out", two)


def test_a_corpus_with_timelines_holds_traces_that_the_program_reads_again(tmp_path):
    ridgeline("corpus", "generate", "--n", 1, "--out", tmp_path)
    ridgeline("corpus", "generate", "--n", 1, "--out", tmp_path, "--timelines")
    item = tmp_path / "0000"
    assert sorted(path.name for path in item.iterdir()) == [*ITEM_FILES, "timeline.json.gz"]
    inspection = strict(ridgeline("inspect", item / "timeline.json.gz", "--json"))
    assert inspection


def test_two_seeds_do_not_mix_in_one_directory(tmp_path):
    ridgeline("corpus", "generate", "--n", 1, "--seed", 1, "--out", tmp_path)
    argv = [RIDGELINE, "corpus", "generate", "--n", "1", "--seed", "2", "--out", str(tmp_path)]
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == f"ridgeline: {tmp_path}/0000: of seed 1 and format 1, not 2 and 1; choose another directory\n"


def test_ctrl_c_leaves_whole_items_of_a_corpus_and_nothing_else(tmp_path):
    argv = [RIDGELINE, "corpus", "generate", "--n", "5000", "--out", str(tmp_path), "--jobs", "2"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 30.0
        while not (tmp_path / "0001").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "")
    assert out.startswith("Stopped by Ctrl-C.")
    left = list(tmp_path.iterdir())
    assert left and all(re.fullmatch(r"\d{4}", path.name) for path in left)
    assert all(sorted(file.name for file in path.iterdir()) == ITEM_FILES for path in left)


def test_a_corpus_says_what_is_missing():
    for argv, sentence in [
        (["corpus"], "corpus: expected generate, got nothing"),
        (["corpus", "generate"], "corpus: expected DIR, got nothing"),
        (["corpus", "generate", "--out", "x", "--n", "0"], "corpus: --n"),
        (["corpus", "make", "--out", "x"], "corpus: what"),
    ]:
        answer = subprocess.run([RIDGELINE, *argv], capture_output=True, text=True, timeout=60)
        assert answer.returncode == 2 and answer.stderr.startswith(f"ridgeline: {sentence}"), answer.stderr


def test_score_counts_what_is_right_by_kind_of_truth():
    score = json.loads(ridgeline("score", "cases", "reports", "corpus", "--n", "6", "--seed", "2", "--quiet", "--json"))
    assert set(score) == {"cases", "reports", "reports_without_trials", "corpus"}
    assert score["cases"]["n"] == 10 and score["cases"]["regime"] == 10
    assert {"n", "regime", "fix", "reject", "confidently_wrong", "inconsistent_named"} <= set(score["reports"])
    assert set(score["corpus"]) >= {"timeline", "percentages", "throughput"}
    assert score["corpus"]["timeline"]["n"] == 6
    assert "skipped" in ridgeline("score", "traces", "--quiet")
