"""Sweeps from Python: rows, tables, journals, shards, what is asked of the result."""

import importlib
import os
import subprocess
import sys

import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

import ridgeline  # noqa: E402
from ridgeline.sweeps.executors import Processes, Serial  # noqa: E402
from ridgeline.sweeps.journal import Journal  # noqa: E402
from ridgeline.sweeps.progress import Progress  # noqa: E402
from ridgeline.sweeps.run import execute, opened, plan_of, axes_of  # noqa: E402

FEW = {"workload.requests": 8}
GRID = {"engine.max_num_seqs": "1,2,4", "model.quantization": ["none", "fp8"]}


def swept(**options):
    return ridgeline.sweep("chat_8b", GRID, overrides=FEW, timing=False, **{"jobs": 1} | options)


@pytest.fixture(scope="module")
def whole():
    return swept()


def test_a_row_a_point_in_the_order_of_the_plan(whole):
    assert list(zip(whole.frame["engine.max_num_seqs"], whole.frame["model.quantization"])) == [
        (1, "none"), (1, "fp8"), (2, "none"), (2, "fp8"), (4, "none"), (4, "fp8"),
    ]  # fmt: skip
    assert list(whole.frame["point"]) == list(range(6))
    assert whole.frame["id"].is_unique
    assert len(set(whole.frame["sweep"])) == 1


def test_figures_are_those_of_the_run_alone(whole):
    alone = ridgeline.run("chat_8b", FEW | {"engine.max_num_seqs": 2, "model.quantization": "fp8"})
    row = whole.frame.iloc[3]
    assert row["output_throughput"] == alone.result["output_throughput"]
    assert row["p99_ttft_ms"] == alone.result["p99_ttft_ms"]
    assert (row["regime"], row["confidence"]) == (alone.diagnosis.regime, alone.diagnosis["confidence"])


def test_the_scenario_of_a_row_runs_again_to_the_same_numbers(whole, tmp_path):
    path = tmp_path / "row.yaml"
    path.write_text(whole.frame["scenario"].iloc[3])
    assert ridgeline.run(path).result["output_throughput"] == whole.frame["output_throughput"].iloc[3]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_table_is_the_same_bytes_whoever_ran_it_and_in_how_many_shards(tmp_path, suffix):
    one, many = tmp_path / f"one.{suffix}", tmp_path / f"many.{suffix}"
    swept(out=one)
    swept(out=many, jobs=2)
    assert one.read_bytes() == many.read_bytes()
    parts = [tmp_path / f"part{i}.{suffix}" for i in (1, 2, 3, 4)]
    for i, part in enumerate(parts):
        swept(out=part, shard=f"{i + 1}/4")
    merged = tmp_path / f"merged.{suffix}"
    merge = subprocess.run([sys.executable, "-m", "ridgeline", "merge", *reversed(parts), "--out", merged], capture_output=True, text=True)
    assert (merge.returncode, merge.stderr) == (0, "")
    assert one.read_bytes() == merged.read_bytes()
    assert sorted(os.listdir(tmp_path)) == sorted(path.name for path in (one, many, merged, *parts))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_that_was_written_reads_back_as_it_was(whole, tmp_path, suffix):
    whole.write(tmp_path / f"t.{suffix}")
    again = ridgeline.Sweep.read(tmp_path / f"t.{suffix}")
    pd.testing.assert_frame_equal(again.frame, whole.frame)
    assert again.keys == whole.keys


def test_a_point_that_cannot_run_is_a_row_with_the_reason():
    s = ridgeline.sweep("chat_8b", {"model": "llama3_8b,llama3_70b", "hw": "mi300x,a100"}, overrides=FEW, jobs=1)
    assert list(s.frame["error"].isna()) == [True, True, True, False]
    assert "does not fit" in s.frame["error"][3]
    assert s.frame["output_throughput"].isna()[3]
    assert list(s.errors) == [1]
    assert repr(s) == "<Sweep: 4 points over model, hw, 1 of them did not run>"


def test_a_key_that_no_point_can_have_is_an_error_before_anything_runs():
    with pytest.raises(ridgeline.ConfigError, match="did you mean 'max_num_seqs'"):
        ridgeline.sweep("chat_8b", {"engine.max_num_seqz": "1,2"})


def test_a_value_that_makes_no_scenario_is_a_row_where_others_do():
    s = ridgeline.sweep("chat_8b", {"engine.max_num_seqs": "4,many"}, overrides=FEW, jobs=1)
    assert s.frame["error"][0] is None
    assert "expected a whole number" in s.frame["error"][1]


def test_keys_joined_change_together():
    s = ridgeline.sweep("chat_8b", {"engine.max_num_seqs+workload.requests": "2,3", ("hw", "model"): [("mi300x", "llama3_8b"), ("mi325x", "qwen3_8b")]}, jobs=1)
    assert list(s.frame["workload.requests"]) == list(s.frame["engine.max_num_seqs"]) == [2, 2, 3, 3]
    assert list(s.frame["completed"]) == [2, 2, 3, 3]
    assert list(zip(s.frame["hw"], s.frame["model"])) == [("mi300x", "llama3_8b"), ("mi325x", "qwen3_8b")] * 2


def test_interventions_are_an_axis():
    s = ridgeline.sweep("chat_8b", whatif=["none", "quantize:fp8", "quantize:fp8+batch:2"], overrides=FEW, jobs=1)
    plain, quantized, both = s.frame["output_throughput"]
    assert quantized == ridgeline.run("chat_8b", FEW | {"model.quantization": "fp8"}).result["output_throughput"] != plain
    assert both == ridgeline.run("chat_8b", FEW | {"model.quantization": "fp8", "engine.max_num_seqs": 2}).result["output_throughput"]
    with pytest.raises(ridgeline.ConfigError, match="did you mean 'quantize'"):
        ridgeline.sweep("chat_8b", whatif=["quantise:fp8"])


def test_samples_lie_in_their_ranges_and_seeds_repeat_every_point():
    s = ridgeline.sweep("chat_8b", ranges={"engine.max_num_seqs": "1..8", "engine.gpu_memory_utilization": (0.5, 0.9)}, lhs=4, seeds=[1, 2], overrides=FEW, jobs=1)
    assert len(s) == 8
    assert s.frame["engine.max_num_seqs"].between(1, 8).all()
    assert s.frame["engine.gpu_memory_utilization"].between(0.5, 0.9).all()
    assert list(s.frame["seed"]) == [1, 2] * 4
    means = s.over_seeds()
    assert len(means) == 4
    assert means["output_throughput"][0] == pytest.approx(s.frame["output_throughput"][:2].mean())
    with pytest.raises(ridgeline.ConfigError, match="--random N or --lhs N"):
        ridgeline.sweep("chat_8b", ranges={"engine.max_num_seqs": "1..8"})


def test_a_front_holds_the_points_that_no_other_beats_in_everything(whole):
    s = ridgeline.Sweep(whole.table, whole.keys)
    s.frame = whole.frame.assign(output_throughput=[5.0, 4.0, 3.0, 4.0, 1.0, 5.0], mean_tpot_ms=[9.0, 3.0, 2.0, 4.0, 2.5, 9.0])
    # More throughput and less TPOT: (5, 9), (4, 3) and (3, 2); (4, 4) loses to (4, 3), (1, 2.5) to (3, 2); the second (5, 9) is the first's equal.
    assert list(s.pareto("output_throughput", "mean_tpot_ms")["point"]) == [2, 1, 0]
    assert s.best("output_throughput", mean_tpot_ms=4.0)["point"] == 1
    with pytest.raises(ridgeline.ConfigError, match="no point has mean_tpot_ms at most 1; the nearest has 2"):
        s.best("output_throughput", mean_tpot_ms=1.0)
    with pytest.raises(ridgeline.ConfigError, match="did you mean 'output_throughput'"):
        s.best("output_throughputt")
    with pytest.raises(ridgeline.ConfigError, match="steps is better neither higher nor lower"):
        s.pareto("steps", "output_throughput")


def tasks():
    runs = opened("chat_8b", FEW)
    plan = plan_of(runs, axes_of(GRID, None, 0, 0, None, None, 1))
    return runs, plan


class Killed(Serial):
    """Runs three points, then ends as a killed process does: nothing after it happens."""

    def run(self, spec, tasks):
        for i, rows in enumerate(super().run(spec, tasks)):
            if i == 3:
                raise SystemExit
            yield rows


class Counting(Serial):
    def __init__(self):
        self.ran = []

    def run(self, spec, tasks):
        self.ran += [task[0] for task in tasks]
        yield from super().run(spec, tasks)


def test_a_sweep_goes_on_where_it_was_stopped(whole, tmp_path):
    runs, plan = tasks()
    out = tmp_path / "t.csv"
    with pytest.raises(SystemExit):
        execute(runs, plan, Killed(), out=out, timing=False, progress=False)
    assert os.listdir(tmp_path) == ["t.csv.journal"]
    with pytest.raises(ridgeline.ConfigError, match="has 3 finished runs; go on with --resume"):
        execute(runs, plan, Serial(), out=out, timing=False, progress=False)
    with open(tmp_path / "t.csv.journal", "a", encoding="utf-8") as journal:
        journal.write('{"point": 3, "regi')  # what a kill in the middle of a write leaves
    rest = Counting()
    execute(runs, plan, rest, out=out, resume=True, timing=False, progress=False)
    assert rest.ran == [3, 4, 5]
    assert os.listdir(tmp_path) == ["t.csv"]
    whole.write(tmp_path / "whole.csv")
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_the_journal_of_another_sweep_is_refused(tmp_path):
    runs, plan = tasks()
    out = tmp_path / "t.csv"
    with pytest.raises(SystemExit):
        execute(runs, plan, Killed(), out=out, progress=False)
    with pytest.raises(ridgeline.ConfigError, match="got another's: sweep .* points 6 instead of 2"):
        ridgeline.sweep("chat_8b", {"engine.max_num_seqs": "1,2"}, out=out, resume=True)
    (tmp_path / "t.csv.journal").write_text("not\njson\n")
    with pytest.raises(ridgeline.ConfigError, match="expected lines of JSON"):
        execute(runs, plan, Serial(), out=out, resume=True, progress=False)


def test_a_file_that_the_sweep_names_is_part_of_what_it_is(tmp_path):
    gpu, trace = tmp_path / "mine.yaml", tmp_path / "trace.csv"
    gpus = [f"{{base: mi300x, hbm: {{capacity: {size} GB}}}}" for size in (150, 160)]
    rows = ["TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:00:00.0000000,128,64", "2023-11-16 18:00:01.0000000,128,32"]

    def sweep(overrides, **axes):
        return plan_of(opened("chat_8b", overrides), axes_of(axes.get("grid"), None, 0, 0, axes.get("whatif"), None, 1)).id

    gpu.write_text(gpus[0])
    trace.write_text("\n".join(rows[:2]) + "\n")
    told = [
        lambda: sweep({}, grid={"hw": [str(gpu), "h100_sxm"]}),
        lambda: sweep({"hw": str(gpu)}, grid={"engine.max_num_seqs": "1,2"}),
        lambda: sweep({}, grid={"workload": [f"{{trace: {trace}}}"]}),
        lambda: sweep({"workload.trace": str(trace)}, grid={"engine.max_num_seqs": "1,2"}),
        lambda: sweep({}, whatif=["none", f"gpu:{gpu}"]),
    ]
    before = [one() for one in told]
    assert before == [one() for one in told]
    gpu.write_text(gpus[1])
    trace.write_text("\n".join(rows) + "\n")
    assert all(one() != was for one, was in zip(told, before))


def test_another_version_of_the_program_makes_another_sweep(monkeypatch):
    here = tasks()[1].id
    monkeypatch.setattr("ridgeline.sweeps.fingerprint.__version__", "0.0.0")
    assert tasks()[1].id != here


def test_a_package_that_is_missing_is_missed_before_anything_runs(monkeypatch, tmp_path):
    runs, plan = tasks()
    ran = Counting()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pyarrow", None)
        without.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(ModuleNotFoundError, match="pyarrow"):
            execute(runs, plan, ran, out=tmp_path / "t.parquet", progress=False)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        without.setattr("ridgeline.sweeps.run.local", lambda jobs: ran)
        with pytest.raises(ModuleNotFoundError, match="pandas"):
            ridgeline.sweep("chat_8b", GRID)
    assert ran.ran == [] and os.listdir(tmp_path) == []


def test_a_terminal_without_tqdm_has_no_bar_and_no_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with Progress(2, 0) as bar:
        bar.add(1)
    with pytest.raises(ModuleNotFoundError):
        Progress(2, 0, show=True)


def test_going_on_does_not_replace_another_sweeps_table(tmp_path):
    out = tmp_path / "t.csv"
    swept(out=out, shard="1/2")
    before = out.read_bytes()
    for other in ({"shard": "2/2"}, {}, {"overrides": FEW | {"seed": 2}, "shard": "1/2"}):
        with pytest.raises(ridgeline.ConfigError, match="expected the table of this sweep or none, got another's"):
            ridgeline.sweep("chat_8b", GRID, timing=False, jobs=1, out=out, resume=True, **{"overrides": FEW} | other)
        assert out.read_bytes() == before and os.listdir(tmp_path) == ["t.csv"]
    swept(out=out, shard="1/2", resume=True)
    assert out.read_bytes() == before


def test_a_plus_joins_values_only_where_there_is_one_for_each_key():
    axis = axes_of({"a+b": "x+2.5,[1+1]+y,1e+5,u+v+w"}, None, 0, 0, None, None, 1)[0]
    assert axis.settings == (("x", "2.5"), ("[1+1]", "y"), ("1e+5", "1e+5"), ("u+v+w", "u+v+w"))
    levers = [point.levers for point in plan_of(opened("chat_8b"), axes_of(None, None, 0, 0, ["batch:1e+2+graphs:on", "graphs:on"], None, 1)).points()]
    assert levers == [["batch:1e+2", "graphs:on"], ["graphs:on"]]


def test_two_sweeps_do_not_write_one_table(tmp_path):
    runs, plan = tasks()
    out = tmp_path / "t.csv"

    class Meanwhile(Serial):
        def run(self, spec, tasks):
            with pytest.raises(ridgeline.ConfigError, match="running already"):
                execute(runs, plan, Serial(), out=out, resume=True, progress=False)
            yield from super().run(spec, tasks)

    execute(runs, plan, Meanwhile(), out=out, progress=False)


def test_shards_that_do_not_make_a_sweep_are_refused(tmp_path):
    one, two, other = (tmp_path / name for name in ("one.csv", "two.csv", "other.csv"))
    swept(out=one, shard="1/3")
    swept(out=two, shard="2/3")
    ridgeline.sweep("chat_8b", {"engine.max_num_seqs": "1,2"}, overrides=FEW, jobs=1, timing=False, out=other)

    def refused(*paths):
        done = subprocess.run([sys.executable, "-m", "ridgeline", "merge", *paths, "--out", tmp_path / "all.csv"], capture_output=True, text=True)
        assert done.returncode == 2
        assert not (tmp_path / "all.csv").exists()
        return done.stderr

    assert "2 of 6 points are in none of the 2 tables: 2, 5" in refused(one, two)
    assert f"point 0 is also in {one}" in refused(one, two, one)
    assert "expected the columns of" in refused(one, other)
    assert "no such" in refused(one, tmp_path / "absent.csv").lower()
    told = subprocess.run([sys.executable, "-m", "ridgeline", "merge", one, two, "--out", one], capture_output=True, text=True)
    assert told.returncode == 2 and "expected another file than the tables to merge" in told.stderr
    (tmp_path / "else.csv").write_text("a,b\n1,2\n")
    assert "expected the table of a sweep" in refused(tmp_path / "else.csv")


def test_a_point_that_kills_its_process_is_a_row_and_takes_no_other_with_it(whole, monkeypatch, tmp_path):
    (tmp_path / "deadly.py").write_text(
        "import os\n"
        "from ridgeline.sweeps import worker\n"
        "def run_points(tasks):\n"
        "    if any(('engine.max_num_seqs', '2') in task[1] for task in tasks):\n"
        "        os._exit(9)\n"
        "    return worker.run_points(tasks)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("ridgeline.sweeps.executors.run_points", importlib.import_module("deadly").run_points)
    runs, plan = tasks()
    table = execute(runs, plan, Processes(2), progress=False)
    assert [error is not None for error in table["error"]] == [False, False, True, True, False, False]
    assert "was killed, or ran out of memory" in table["error"][2]
    assert table["output_throughput"][4:] == whole.table["output_throughput"][4:]


def test_closing_a_sweep_whose_workers_are_writing_large_rows_ends(tmp_path):
    (tmp_path / "large.py").write_text(
        "def run_points(tasks):\n"
        "    return [{'point': task[0], 'wall_seconds': 0.0, 'much': bytes(20_000_000)} for task in tasks]\n"
    )  # fmt: skip
    (tmp_path / "closing.py").write_text(
        "import large\n"
        "from ridgeline.sweeps import executors\n"
        "from ridgeline.sweeps.run import opened\n"
        "executors.run_points = large.run_points\n"
        "runs = opened('chat_8b')\n"
        "spec = (runs.document(), runs.overrides(), False)\n"
        "for _ in range(8):\n"
        "    rows = executors.Processes(2).run(spec, [(i, [], []) for i in range(100)])\n"
        "    next(rows)\n"
        "    rows.close()\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, tmp_path / "closing.py"], capture_output=True, text=True, timeout=60, env=os.environ | {"PYTHONPATH": path})
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_script_without_a_guard_may_sweep(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import ridgeline\nprint(len(ridgeline.sweep('chat_8b', {GRID!r}, overrides={FEW!r}, jobs=2)))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("6\n", "", 0)


def test_importing_the_package_loads_nothing_slow():
    loaded = "import sys, ridgeline; print([m for m in ('pandas', 'scipy', 'pyarrow', 'dask', 'distributed', 'tqdm') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout == "[]\n"


def test_an_elasticity_is_one_where_a_figure_grows_in_proportion():
    # At one request a second and constant gaps, the last of 50 requests arrives at 50 s whatever happens: the rate that is offered is the rate that is served.
    calm = {"workload.requests": 50, "workload.arrivals": {"constant": {"rate": "0.1 /s"}}, "workload.prompt_tokens": 64, "workload.output_tokens": 2}
    table = ridgeline.elasticities("chat_8b", ["workload.arrivals.constant.rate", "engine.max_model_len"], "request_throughput", overrides=calm, jobs=1)
    assert list(table["key"]) == ["workload.arrivals.constant.rate", "engine.max_model_len"]
    assert table["elasticity"][0] == pytest.approx(1.0, abs=0.01)
    assert table["elasticity"][1] == 0.0
    assert table.attrs["figure"] == "request_throughput"


def test_a_tornado_has_the_figure_at_both_ends():
    table = ridgeline.tornado("chat_8b", "workload.requests", "completed", swing=0.5, overrides={"workload.requests": 10}, jobs=1)
    assert table.iloc[0][["low_value", "high_value", "at_low", "at_high"]].tolist() == ["5", "15", 5.0, 15.0]
    assert table.attrs["base"] == 10.0


def test_only_what_the_scenario_takes_as_whole_numbers_is_moved_by_whole_numbers():
    keys = ["workload.arrivals.gamma.cv", "workload.output_tokens.lognormal.sigma", "engine.max_num_seqs", "engine.gpu_memory_utilization"]
    ones = FEW | {"workload.arrivals.gamma.cv": 1, "workload.output_tokens.lognormal.sigma": "1.0", "engine.max_num_seqs": 10, "engine.gpu_memory_utilization": 1}
    table = ridgeline.tornado("chat_8b", keys, swing=0.02, overrides=ones, jobs=1).set_index("key")
    ends = {key: (table["low_value"][key], table["high_value"][key]) for key in keys}
    assert ends == {
        keys[0]: ("0.98", "1.02"),
        keys[1]: ("0.98", "1.02"),
        keys[2]: ("9", "11"),  # 10 less and more 2 % is no whole number, and 0.2 is rounded to at least 1
        keys[3]: ("0.98", "1"),  # there is no more memory than all of it
    }


def test_seeds_and_shapes_of_tiles_are_no_numbers_to_vary():
    keys = set(ridgeline.tornado("chat_8b", ["hw.gemm.*"], overrides=FEW, jobs=1)["key"])
    assert "hw.gemm.tile_load" in keys and not any(".tiles." in key for key in keys)
    with pytest.raises(ridgeline.ConfigError, match="no number of the scenario has a key like this"):
        ridgeline.tornado("chat_8b", "seed*", overrides=FEW)
    with pytest.raises(ridgeline.ConfigError, match="seed: expected a number other than 0 of which there can be more or less"):
        ridgeline.tornado("chat_8b", "seed", overrides=FEW)


def test_a_training_step_is_judged_by_its_training_throughput():
    table = ridgeline.elasticities("b_training", "hw.hbm.bandwidth", jobs=1)
    assert table.attrs["figure"] == "training_throughput"


def test_sensitivities_refuse_what_is_no_number_of_the_scenario():
    for keys, told in ((["hw.hbm.capacityy"], "did you mean 'hw.hbm.capacity'"), (["hw.name"], "expected a number"), (["nothing.*"], "no number of the scenario")):
        with pytest.raises(ridgeline.ConfigError, match=told):
            ridgeline.elasticities("chat_8b", keys)
    with pytest.raises(ridgeline.ConfigError, match="did you mean 'mean_tpot_ms'"):
        ridgeline.tornado("chat_8b", "workload.requests", "mean_tpott_ms")


def test_rows_survive_a_journal_to_the_last_bit(tmp_path):
    row = {"point": 0, "output_throughput": 0.1 + 0.2, "tokens": 2**60 + 1, "regime": None, "error": "two\nlines, \u00b5s"}
    first = Journal(tmp_path / "t.csv", {"sweep": "a"}, resume=False)
    first.append([row])
    first.close(done=False)
    again = Journal(tmp_path / "t.csv", {"sweep": "a"}, resume=True)
    assert again.rows == [row]
    again.close(done=True)
