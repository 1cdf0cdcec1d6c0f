"""scripts/measure_gpu.py without torch and without a GPU: a made-up device whose kernels take what a roofline says."""

import csv
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "measure_gpu.py"
spec = importlib.util.spec_from_file_location("measure_gpu", SCRIPT)
gpu = importlib.util.module_from_spec(spec)
sys.modules["measure_gpu"] = gpu
spec.loader.exec_module(gpu)

PEAK, BANDWIDTH, FIXED_S, LAUNCH_S = 500e12, 2e12, 5e-6, 3e-6


class FakeOp:
    lockstep = False

    def __init__(self, device, case):
        self.device, self.label = device, "made up"
        busy = max(case.flop / PEAK, case.moved / BANDWIDTH)
        self.seconds = LAUNCH_S if case.table == "launch" else FIXED_S + busy

    def sample(self, calls):
        self.device.clock += self.seconds * calls + 200e-6
        return self.seconds * self.device.random.uniform(0.999, 1.001)

    def note(self):
        return "noted"

    def clock_mhz(self, seconds):
        return 1500.0


class FakeDevice:
    """A clock that only its kernels move. `fails` says which cases raise what; `interrupt_at` is the case at which Ctrl-C comes."""

    name = "Roofline 1"
    types = {"bf16": None, "fp16": None, "fp8": None}
    kernels = {"prefill": ["sdpa"], "decode": ["sdpa", "flash_attn"]}

    def __init__(self, fails=lambda case: None, interrupt_at=None, setup_s=0.02, lost=False):
        self.clock, self.random, self.opened = 0.0, random.Random(1), []
        self.fails, self.interrupt_at, self.setup_s, self.lost = fails, interrupt_at, setup_s, lost

    def machine(self):
        return {"compute_units": 100}

    def source(self):
        return "test"

    def now(self):
        return self.clock

    def state(self):
        return {"power_mW": 1.0}

    def open(self, case):
        self.opened.append(case.name)
        self.clock += self.setup_s
        if len(self.opened) == self.interrupt_at:
            raise KeyboardInterrupt
        if error := self.fails(case):
            raise error
        return FakeOp(self, case)

    def recover(self):
        if self.lost:
            raise gpu.DeviceLost("it fell off the bus")


def measure(tmp_path, *args, device=None):
    """Exit code and device."""
    device = device or FakeDevice()
    return gpu.main(["--out", str(tmp_path), *args], find=lambda local_rank, ranks: device), device


def rows(tmp_path, table):
    with open(tmp_path / f"{table}.csv", newline="") as file:
        return list(csv.DictReader(file))


def machine(tmp_path):
    return json.loads((tmp_path / "machine.json").read_text())


def cases(test):
    return gpu.all_cases(["bf16", "fp8"], FakeDevice.kernels, 8)[test]


# ---- what is measured, and its units


def test_a_product_of_1_gflop_in_10_us_runs_at_100_tflops():
    case = gpu.gemm(m=500, n=1000, k=1000, dtype="bf16")
    assert case.flop == 1e9
    assert case.moved == 2 * (500 * 1000 + 1000 * 1000 + 500 * 1000)  # x, w, y: 4 MB
    assert case.figures(10e-6) == pytest.approx({"time_us": 10, "tflops": 100, "bw_GBps": 400})


def test_an_fp8_product_reads_one_byte_an_element_and_writes_two():
    assert gpu.gemm(500, 1000, 1000, "fp8").moved == 500e3 + 1000e3 + 2 * 500e3


def test_causal_attention_counts_half_the_flop():
    dense, causal = (gpu.attention("prefill", "sdpa", "bf16", 1, (32, 8), 1000, c) for c in (False, True))
    assert dense.flop == 4 * 32 * 1000 * 1000 * 128
    assert causal.flop == dense.flop / 2
    assert causal.figures(causal.flop / 100e12)["tflops"] == pytest.approx(100)


def test_decode_reads_the_kv_heads_once():
    case = gpu.attention("decode", "sdpa", "bf16", 2, (32, 8), 1000, False)
    assert case.moved == 2 * 2 * 2 * 128 * (8 * 1000 + 32)  # k and v, 2 B, batch 2; q and the result
    assert case.figures(case.moved / 2e12)["bw_TBps"] == pytest.approx(2)


def test_bytes_over_value_give_the_time_of_a_transfer():
    case = gpu.transfer("stream", "mul", 4_000_000)
    assert case.cells["test"] == "mul, 4000000 B" and case.cells["unit"] == "TB/s"
    assert case.figures(2e-6)["value"] == pytest.approx(2)
    assert gpu.transfer("host_copy", "host to device, pinned", 4_000_000).figures(100e-6)["value"] == pytest.approx(40)  # GB/s


def test_the_bus_bandwidth_of_eight_ranks_is_seven_quarters_of_the_algorithms():
    figures = gpu.allreduce(8, 8_000_000).figures(100e-6)
    assert figures == pytest.approx({"time_us": 100, "algbw_GBps": 80, "busbw_GBps": 140})


def test_launches_are_in_microseconds():
    assert gpu.launch("launch", "issue").figures(3e-6)["value"] == pytest.approx(3)


# ---- the plan


def test_every_case_has_a_name_of_its_own():
    names = [case.name for its in gpu.all_cases(["bf16", "fp16", "fp8"], FakeDevice.kernels, 8).values() for case in its]
    assert len(names) == len(set(names))


def test_the_whole_plan_fits_into_five_minutes():
    shares = gpu.plan(gpu.all_cases(["bf16", "fp8"], FakeDevice.kernels, 8), 300)
    assert all(share.fit == len(share.cases) for share in shares)
    assert gpu.START_S + sum(share.seconds for share in shares) <= 300


@pytest.mark.parametrize("budget", [20, 60, 120])
def test_a_smaller_budget_gives_every_test_something_and_is_kept(budget):
    shares = gpu.plan(gpu.all_cases(["bf16", "fp8"], FakeDevice.kernels, 1), budget)
    assert gpu.START_S + sum(share.seconds for share in shares) <= budget
    assert all(share.fit > 0 for share in shares)


def test_the_beginning_of_a_list_covers_its_range():
    assert gpu.spread(range(8)) == [0, 4, 2, 6, 1, 5, 3, 7]
    assert sorted(gpu.spread(range(13))) == list(range(13))
    first = cases("gemm")[:40]
    assert {c.cells["dtype"] for c in first} == {"bf16", "fp8"}
    assert len({(c.cells["N"], c.cells["K"]) for c in first}) >= 9
    assert min(c.cells["M"] for c in first) <= 2 and max(c.cells["M"] for c in first) >= 8192


def test_products_go_from_1_to_16384_rows():
    assert {c.cells["M"] for c in cases("gemm")} == {1 << i for i in range(15)}


# ---- measuring


def test_a_burst_lasts_two_milliseconds_and_the_median_is_taken():
    class Op(FakeOp):
        def sample(self, calls):
            bursts.append(calls)
            self.device.clock += 0.02
            return 100e-6 if len(bursts) < 5 else [100e-6, 101e-6, 1.0][len(bursts) % 3]  # every third is an outlier

    bursts, device = [], FakeDevice()
    seconds, how = gpu.measure(Op(device, gpu.launch("launch", "x")), device.now)
    assert seconds == 101e-6
    assert bursts[:3] == [1, 2, 20]  # warm-up, and then 2 ms / 100 us
    assert len(bursts) - 2 == 20  # never settled: 0.4 s / 0.02 s
    assert how.startswith("median of 20 x 20 calls; IQR ")


def test_a_settled_measurement_stops_early():
    device = FakeDevice()
    gpu.measure(FakeOp(device, gpu.gemm(64, 4096, 4096, "bf16")), device.now)
    assert gpu.SETTLED_S <= device.clock < 1.5 * gpu.SETTLED_S


def test_ranks_in_lockstep_take_as_many_bursts_whatever_their_clocks_say():
    class Op(FakeOp):
        lockstep = True

        def sample(self, calls):
            bursts.append(calls)
            return 1e-4

    for clock in (lambda: 0.0, iter(range(10**6)).__next__):
        bursts = []
        gpu.measure(Op(FakeDevice(), gpu.launch("launch", "x")), clock)
        assert bursts == [1, 2] + [20] * gpu.MIN_BURSTS


@pytest.mark.parametrize("time", [0.0, float("nan"), float("inf"), -1.0])
def test_a_timer_that_says_nonsense_is_an_error(time):
    class Op(FakeOp):
        def sample(self, calls):
            self.device.clock += 0.1
            return time

    device = FakeDevice()
    with pytest.raises((ArithmeticError, ValueError)):
        gpu.measure(Op(device, gpu.launch("launch", "x")), device.now)


# ---- a whole run


def test_a_run_writes_the_roofline_that_it_measured(tmp_path):
    code, _ = measure(tmp_path)
    assert code == 0
    for table in ("gemm", "attention", "bandwidth", "launch"):
        text = (tmp_path / f"{table}.csv").read_text()
        assert text.splitlines()[0] == gpu.COLUMNS[table]
        assert {row["hw"] for row in rows(tmp_path, table)} == {"Roofline 1"}
    for row in rows(tmp_path, "gemm"):
        m, n, k, width = int(row["M"]), int(row["N"]), int(row["K"]), {"bf16": 2, "fp8": 1}[row["dtype"]]
        busy = max(2 * m * n * k / PEAK, (width * (m + n) * k + 2 * m * n) / BANDWIDTH)
        assert float(row["time_us"]) == pytest.approx(1e6 * (FIXED_S + busy), rel=2e-3)
        assert float(row["tflops"]) == pytest.approx(2e-6 * m * n * k / float(row["time_us"]), rel=1e-4)
        assert row["clock_MHz"] == "1500" and row["lib"] == "made up"
        assert re.fullmatch(r"noted; median of \d+ x \d+ calls; IQR 0\.\d %", row["note"])
    for row in rows(tmp_path, "bandwidth"):
        moved = int(re.search(r", (\d+) B$", row["test"])[1])
        seconds = moved / float(row["value"]) / {"TB/s": 1e12, "GB/s": 1e9}[row["unit"]]
        assert seconds == pytest.approx(FIXED_S + moved / BANDWIDTH, rel=2e-3)
    assert all(float(row["value"]) == pytest.approx(3, rel=2e-3) and row["unit"] == "us" for row in rows(tmp_path, "launch"))
    assert {row["phase"] for row in rows(tmp_path, "attention")} == {"fwd", "decode"}
    about = machine(tmp_path)
    assert about["complete"] and about["missing"] == [] and about["failed"] == 0 and about["compute_units"] == 100
    assert len(about["drift"]) >= 2 and about["drift"][0]["gemm_4096_tflops"] > 0
    assert not list(tmp_path.glob("*.part"))


def test_the_columns_are_those_of_the_public_data_sets():
    assert gpu.COLUMNS == {
        "gemm": "hw,batch,M,N,K,dtype,lib,time_us,tflops,bw_GBps,clock_MHz,note,source",
        "attention": "hw,kernel,phase,dtype,batch,q_heads,kv_heads,seqlen_q,seqlen_kv,head_dim,causal,tflops,time_ms,bw_TBps,note,source",
        "allreduce": "hw,n_gpu,op,impl,dtype,bytes,time_us,algbw_GBps,busbw_GBps,note,source",
        "bandwidth": "hw,level,test,value,unit,note,source",
        "launch": "hw,what,value,unit,note,source",
    }


def test_the_budget_is_kept_on_a_device_that_is_slower_than_planned(tmp_path):
    code, device = measure(tmp_path, "--budget", "60", device=FakeDevice(setup_s=1.0))
    assert code == 0
    assert device.clock <= 60 + 10 * 2  # each test may overrun by one case, and looks for drift
    about = machine(tmp_path)
    assert not about["complete"] and about["status"] == "the budget ended it" and about["missing"]
    assert all(rows(tmp_path, table) for table in ("gemm", "attention", "bandwidth", "launch"))


def test_time_that_a_test_leaves_goes_to_the_ones_after(tmp_path):
    code, _ = measure(tmp_path, "--budget", "60", device=FakeDevice(setup_s=0.0))  # plan: 164 of 583 fit
    assert code == 0
    about = machine(tmp_path)
    assert about["measured"] > 300


def test_an_interrupted_run_keeps_its_rows_and_says_so(tmp_path, capsys):
    code, _ = measure(tmp_path, "--only", "gemm", device=FakeDevice(interrupt_at=12))
    assert code == 130
    assert "--resume" in capsys.readouterr().err
    about = machine(tmp_path)
    assert about["status"] == "interrupted" and not about["complete"]
    assert len(rows(tmp_path, "gemm")) == 10  # the first opened looks for drift, the twelfth was interrupted
    assert len(about["missing"]) == len(cases("gemm")) - 10


def test_a_resumed_run_measures_what_is_missing_and_what_failed(tmp_path):
    def fails(case):
        return MemoryError() if case.cells["M"] == 16384 else None

    measure(tmp_path, "--only", "gemm", device=FakeDevice(fails=fails, interrupt_at=100))
    before = [row for row in rows(tmp_path, "gemm") if row["time_us"]]
    code, device = measure(tmp_path, "--only", "gemm", "--resume")
    after = rows(tmp_path, "gemm")
    assert code == 0 and machine(tmp_path)["complete"]
    assert len(after) == len(cases("gemm")) and all(row["time_us"] for row in after)
    assert after[: len(before)] == before
    assert len(device.opened) == len(cases("gemm")) - len(before) + 2  # and drift, twice


def test_one_failure_is_noted_and_the_rest_goes_on(tmp_path):
    class OutOfMemoryError(RuntimeError):
        pass

    bad = cases("gemm")[3].name
    device = FakeDevice(lambda c: OutOfMemoryError("HIP: tried 2 GiB") if c.name == bad else None)
    code, _ = measure(tmp_path, "--only", "gemm", device=device)
    assert code == 0
    failed = [row for row in rows(tmp_path, "gemm") if not row["time_us"]]
    assert [row["note"] for row in failed] == ["failed: out of memory"]
    assert failed[0]["tflops"] == "" and failed[0]["M"] == str(cases("gemm")[3].cells["M"])
    assert machine(tmp_path)["failed"] == 1 and machine(tmp_path)["measured"] == len(cases("gemm")) - 1


def test_what_fails_three_times_for_the_same_reason_is_not_tried_again(tmp_path):
    device = FakeDevice(lambda c: RuntimeError("no fp8\nhere") if c.cells.get("dtype") == "fp8" else None)
    code, _ = measure(tmp_path, "--only", "gemm", device=device)
    assert code == 0
    assert sum(name.startswith("gemm fp8") for name in device.opened) == 3
    notes = [row["note"] for row in rows(tmp_path, "gemm") if row["dtype"] == "fp8"]
    assert notes[0] == "failed: no fp8 here" and notes[-1] == "failed: not tried: no fp8 here"
    assert all(row["time_us"] for row in rows(tmp_path, "gemm") if row["dtype"] == "bf16")


def test_a_lost_device_ends_the_run_with_what_was_measured(tmp_path, capsys):
    bad = cases("gemm")[5].name
    device = FakeDevice(lambda c: RuntimeError("illegal address") if c.name == bad else None, lost=True)
    code, _ = measure(tmp_path, "--only", "gemm", device=device)
    assert code == 3 and "fell off the bus" in capsys.readouterr().err
    assert machine(tmp_path)["status"] == "device lost: it fell off the bus"
    assert len([row for row in rows(tmp_path, "gemm") if row["time_us"]]) == 5


def test_a_rank_that_does_not_lead_only_takes_part_in_the_all_reduces(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, device = measure(tmp_path / "none")
    assert code == 0
    assert device.opened == [case.name for case in gpu.all_cases(["bf16"], FakeDevice.kernels, 2)["allreduce"]]
    assert not (tmp_path / "none").exists()


def test_types_that_the_device_lacks_are_left_out(tmp_path, capsys):
    device = FakeDevice()
    device.types = {"bf16": None}
    assert measure(tmp_path, "--only", "gemm", device=device)[0] == 0
    assert {row["dtype"] for row in rows(tmp_path, "gemm")} == {"bf16"}
    assert "no fp8 here" in capsys.readouterr().err


# ---- arguments


@pytest.mark.parametrize("args, says", [
    (["--only", "gem"], "no test is named 'gem'; the nearest is 'gemm'"),
    (["--only", "decod,gemm"], "the nearest is 'decode'"),
    (["--only", ""], "no test is named ''"),
    (["--dtype", "bf61"], "no type is named 'bf61'; the nearest is 'bf16'"),
    (["--budget", "5"], "--budget 5: more than the 15 s it takes to start"),
    (["--budget", "nan"], "--budget nan"),
    (["--only", "allreduce"], "torchrun --nproc-per-node"),
    (["--resume"], "leave --resume out"),
])
def test_wrong_arguments_are_told_what_would_be_right(tmp_path, capsys, args, says):
    code, device = measure(tmp_path, *args)
    assert code == 2 and device.opened == []
    assert says in capsys.readouterr().err


def test_a_group_is_all_of_its_tests():
    assert gpu.chosen("attention,gemm", list(gpu.TESTS), "test", gpu.GROUPS) == ["gemm", "prefill", "decode"]


def test_a_folder_must_be_named_and_writable(tmp_path, capsys):
    assert gpu.main([], find=None) == 2
    assert "--out DIR is missing" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert measure(tmp_path / "file" / "below")[0] == 2
    assert "cannot write to" in capsys.readouterr().err


def test_measurements_are_not_overwritten_nor_mixed(tmp_path, capsys):
    assert measure(tmp_path, "--only", "launch")[0] == 0
    assert measure(tmp_path, "--only", "launch")[0] == 2
    assert "add --resume" in capsys.readouterr().err
    other = FakeDevice()
    other.name = "Roofline 2"
    assert measure(tmp_path, "--resume", device=other)[0] == 2
    assert "is of Roofline 1, this is Roofline 2" in capsys.readouterr().err
    (tmp_path / "machine.json").write_text("[]")
    assert measure(tmp_path, "--resume")[0] == 2
    assert "is not one of this script's" in capsys.readouterr().err


def run_script(*args, **environment):
    return subprocess.run([sys.executable, SCRIPT, *args], capture_output=True, text=True, env={**os.environ, **environment})


def test_a_dry_run_prints_the_plan_without_torch():
    got = run_script("--dry-run", "--only", "gemm,bandwidth")
    assert got.returncode == 0
    assert [line.split()[0] for line in got.stdout.splitlines()] == ["test", "stream", "cache", "host_copy", "gemm", "all"]


def test_without_torch_it_says_where_to_get_it(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('not here')\n")
    got = run_script("--out", str(tmp_path / "out"), PYTHONPATH=str(tmp_path))
    assert got.returncode == 3
    assert "PyTorch is not installed" in got.stderr and "pytorch.org" in got.stderr and "Traceback" not in got.stderr


def test_without_a_gpu_it_says_what_to_look_at(tmp_path):
    (tmp_path / "torch.py").write_text(
        "class cuda:\n    is_available = staticmethod(lambda: False)\nclass version: hip, cuda = '6.4', None\n__version__ = '2.9'\n")
    got = run_script("--out", str(tmp_path / "out"), PYTHONPATH=str(tmp_path))
    assert got.returncode == 3
    assert "torch 2.9, built for ROCm 6.4, sees no GPU" in got.stderr and "HIP_VISIBLE_DEVICES" in got.stderr


# ---- what ridgeline makes of it

RIDGELINE = os.environ.get("RIDGELINE", "ridgeline")

# The made-up device as a machine, but for its fixed time, which is 5 us. Small tiles and no waits: kernels are a roofline.
ROOFLINE = """\
name: Roofline 1
compute_units: 100
peak: {bf16: 500 TFLOP/s, fp8: 500 TFLOP/s}
hbm: {capacity: 100 GB, bandwidth: 2 TB/s}
cache: {capacity: 1 MB, bandwidth: 100 TB/s, resident: 0}
gemm:
  tiles: [16x16]
  tile_load: 0
  extra_k: 0
  max_splits: 1
  split_cost: 0 us
  families:
    bf16: {extra_k: 0, workgroup_bandwidth: 1000000 TB/s, fixed: 12 us, overlap: 64}
    fp8: {like: bf16}
"""


def ridgeline(tmp_path, *argv):
    answer = subprocess.run([RIDGELINE, *map(str, argv)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (answer.returncode, answer.stderr) == (0, "")
    return answer.stdout


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with the tables in mine/ and the machine in roofline.yaml."""
    folder = tmp_path_factory.mktemp("measured")
    device = FakeDevice(lambda case: RuntimeError("no kernel") if case.cells.get("M") == 64 else None)
    assert measure(folder / "mine", device=device)[0] == 0
    (folder / "roofline.yaml").write_text(ROOFLINE)
    return folder


def test_its_products_are_predicted(measured):
    given = rows(measured / "mine", "gemm")
    predicted = list(csv.DictReader(ridgeline(measured, "predict", "gemm", "mine/gemm.csv", "--hw", "roofline.yaml").splitlines()))
    assert len(predicted) == len(given)
    for before, after in zip(given, predicted):
        assert {key: after[key] for key in before} == before  # notes hold quotes, commas and semicolons
        if before["time_us"]:  # 7 us of fixed time too much; 16 x 16 tiles pad a little
            assert float(after["predicted_us"]) == pytest.approx(float(before["time_us"]) + 7.0, rel=0.05)
        assert float(after["predicted_us"]) >= 12.0


def test_its_attention_is_predicted(measured):
    predicted = list(csv.DictReader(ridgeline(measured, "predict", "attention", "mine/attention.csv", "--hw", "roofline.yaml").splitlines()))
    assert {row["phase"] for row in predicted} == {"fwd", "decode"}
    for row in predicted:  # without constants it is the roofline, and the fixed 5 us are missing
        assert float(row["predicted_us"]) == pytest.approx(1e3 * float(row["time_ms"]) - 5.0, rel=0.02, abs=0.1)


def test_all_its_tables_are_judged_or_passed_over(measured):
    groups = json.loads(ridgeline(measured, "validate", "mine", "--hw", "roofline.yaml", "--json"))
    assert {group["set"] for group in groups} == {"gemm", "attention", "stream"}
    assert all(group["below_floor"] == 0 and group["not_predicted"] == 0 for group in groups)
    products = [row for row in rows(measured / "mine", "gemm") if row["time_us"]]
    assert sum(group["fitted"]["rows"] + group["held_back"]["rows"] for group in groups if group["set"] == "gemm") == len(products)
    assert {group["group"] for group in groups if group["set"] == "gemm"} == {f"Roofline 1 {dtype} made up" for dtype in ("bf16", "fp8")}


def test_a_machine_is_calibrated_to_its_tables(measured):
    text = ridgeline(measured, "calibrate", "mine", "--hw", "roofline.yaml", "--every-row", "--only", "gemm", "--out", "fitted.yaml")
    fixed = re.search(r"gemm\.families\.bf16\n(?:.+\n)* +fixed +12 us +([\d.]+) us +([\d.]+) %", text)
    assert float(fixed[1]) == pytest.approx(5.0, rel=0.03)  # FIXED_S
    assert float(fixed[2]) < 3.0
    assert re.search(r"gemm\.families\.fp8\n +not fitted: the machine's file has no constants there", text)  # it is like bf16
    groups = json.loads(ridgeline(measured, "validate", "mine/gemm.csv", "--hw", "fitted.yaml", "--json"))
    bf16 = next(group for group in groups if group["group"] == "Roofline 1 bf16 made up")
    assert bf16["held_back"]["rows"] >= 10 and bf16["held_back"]["median_error"] < 0.01


def test_without_every_row_its_name_must_be_a_known_machine(measured):
    answer = subprocess.run([RIDGELINE, "calibrate", "mine", "--hw", "roofline.yaml"], cwd=measured, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2
    assert answer.stderr == "ridgeline: no row speaks of roofline.yaml; --every-row takes all rows for this machine's\n"
