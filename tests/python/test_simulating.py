"""Runs and the process that they are in: repeats, threads, signals."""

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import ridgeline as rl

FEW = {"workload.requests": 20}
MANY = {"workload.requests": 100_000}


def bits(run):
    """Everything that a run leaves behind."""
    return run.result, *(columns._rows.tobytes() for columns in (run.requests, run.steps, run.counters, run.token_gaps))


def test_a_run_in_a_process_of_its_own_is_the_same_as_after_others_and_after_errors():
    program = (
        "import json, ridgeline as rl\n"
        "run = rl.run('chat_8b', {'workload.requests': 20})\n"
        "print(json.dumps(run.result), run.steps._rows.tobytes().hex(), sep='\\n')"
    )
    alone = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True).stdout
    first = bits(rl.run("chat_8b", FEW))
    rl.run("e_gaps", {"workload.output_tokens": 50})
    with pytest.raises(rl.ConfigError):
        rl.run("chat_8b", {"engine.max_num_seqs": "many"})
    with pytest.raises(rl.SimulationError):
        rl.run("chat_8b", {"model": "llama3_70b", "hw": "a100"})
    last = rl.run("chat_8b", FEW)
    assert bits(last) == first
    assert alone == f"{json.dumps(last.result)}\n{last.steps._rows.tobytes().hex()}\n"


def test_threads_take_turns_and_get_what_one_thread_gets():
    scenarios = [rl.Scenario("chat_8b", seed=seed).with_({"workload.requests": 40}) for seed in range(4)]
    expected = [bits(rl.run(scenario)) for scenario in scenarios]
    got = [None] * len(scenarios)

    def work(i):
        got[i] = bits(rl.run(scenarios[i]))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(scenarios))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert got == expected


def test_other_threads_go_on_while_a_run_runs():
    finished = threading.Event()

    def work():
        rl.run("chat_8b", {"workload.requests": 5_000})
        finished.set()

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while not finished.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    assert turns > 20


def test_progress_is_told_and_what_it_raises_ends_the_run():
    told = []
    rl.run("chat_8b", {"workload.requests": 500}, progress=lambda *numbers: told.append(numbers))
    assert told == sorted(told) and {in_all for _, in_all, _ in told} == {500}

    def stop(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        rl.run("chat_8b", FEW, progress=stop)
    assert rl.run("chat_8b", FEW).metrics.completed == 20


def test_a_signal_handler_of_pythons_ends_a_run():
    def too_long(*_):
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGALRM, too_long)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError, match="too long"):
            rl.run("chat_8b", MANY)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert rl.run("chat_8b", FEW).metrics.completed == 20


def interrupted(body):
    """What a program prints that gets Ctrl-C once it says that it is ready."""
    # The first line gives back what a shell takes from a job in the background.
    program = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nimport os, threading, ridgeline as rl\n{body}"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    answer, _ = child.communicate(timeout=30)
    return child.returncode, answer


def test_ctrl_c_ends_a_run_and_the_next_one_is_whole():
    body = (
        "print('ready', flush=True)\n"
        "try:\n"
        "    rl.run('chat_8b', {'workload.requests': 200_000})\n"
        "except KeyboardInterrupt:\n"
        "    print('KeyboardInterrupt', rl.run('chat_8b', {'workload.requests': 20}).metrics.completed)\n"
    )
    assert interrupted(body) == (0, "KeyboardInterrupt 20\n")


def test_ctrl_c_reaches_a_run_that_waits_for_its_turn():
    body = (
        "stop = threading.Event()\n"
        "def check(*_):\n"
        "    if stop.is_set(): raise LookupError\n"
        "def other():\n"
        "    try: rl.run('chat_8b', {'workload.requests': 200_000}, progress=check)\n"
        "    except LookupError: pass\n"
        "thread = threading.Thread(target=other); thread.start()\n"
        "import time; time.sleep(0.3)\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    rl.run('chat_8b', {'workload.requests': 20})\n"
        "    print('ran')\n"
        "except KeyboardInterrupt:\n"
        "    print('KeyboardInterrupt')\n"
        "stop.set(); thread.join()\n"
    )
    assert interrupted(body) == (0, "KeyboardInterrupt\n")


def test_ctrl_c_is_still_pythons_after_a_run():
    program = (
        "import os, signal, ridgeline\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "ridgeline.run('chat_8b', {'workload.requests': 3})\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    print('nothing')\n"
        "except KeyboardInterrupt:\n"
        "    print('KeyboardInterrupt')\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20)
    assert (answer.returncode, answer.stdout) == (0, "KeyboardInterrupt\n")


def test_columns_outlive_the_run_and_are_not_copies():
    run = rl.run("chat_8b", FEW)
    arrivals = run.requests.arrival_ns
    expected = arrivals.tolist()
    assert not arrivals.flags.owndata and not arrivals.flags.writeable and arrivals.base is not None
    again = run.requests.view("arrival_ns")
    assert again.__array_interface__["data"] == arrivals.__array_interface__["data"]
    with pytest.raises(ValueError, match="read-only"):
        arrivals[0] = 1
    del run, again
    gc.collect()
    rl.run("chat_8b", FEW | {"seed": 7})  # what was freed would be written over
    assert arrivals.tolist() == expected


def test_the_program_in_the_package_is_the_program():
    too_large = ["run", "chat_8b", "--set", "hw=a100", "--set", "model=llama3_70b"]
    for argv, code in ((["list", "scenarios"], 0), (["run", "chat_8c"], 2), (too_large, 3)):
        ours, theirs = (
            subprocess.run([*program, *argv], capture_output=True, text=True, timeout=60)
            for program in ([sys.executable, "-m", "ridgeline"], [os.environ["RIDGELINE"]])
        )
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr) and ours.returncode == code
