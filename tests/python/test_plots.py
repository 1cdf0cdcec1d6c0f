"""Pictures: what is drawn in them, read back from the Axes. How they look was judged by eye (docs/pictures)."""

import json
import subprocess
import sys

import pytest
import ridgeline as rl

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from ridgeline.plot import style  # noqa: E402

FEW = {"workload.requests": 60}


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def run():
    return rl.run("chat_8b", FEW)


@pytest.fixture(scope="module")
def crowded():
    return rl.run("chat_8b", FEW | {"workload.arrivals": {"closed_loop": {"concurrency": 60}}})


@pytest.fixture(scope="module")
def sweep():
    grid = {"engine.max_num_seqs": "1,4,16", "model.quantization": ["none", "fp8"]}
    return rl.sweep("chat_8b", grid, overrides=FEW | {"workload.arrivals": {"closed_loop": {"concurrency": 16}}}, jobs=1)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def lengths(ax):
    """Of horizontal bars, by their label on the axis."""
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    return {name: bar.get_width() for name, bar in zip(names, ax.patches)}


# Roofs


def test_the_ridge_point_is_the_peak_over_the_bandwidth():
    roofs = rl.Scenario("chat_8b").roofs()
    assert roofs.gpu == "AMD Instinct MI300X"
    assert roofs.ridge("bf16") == pytest.approx(1307.4e12 / 5.3e12)
    assert roofs.ridge("bf16", sustained=True) == pytest.approx(0.576 * 1307.4e12 / (0.81 * 5.3e12))
    with pytest.raises(KeyError):
        roofs.ridge("fp4")


def test_a_run_has_the_roofs_of_its_machine():
    assert rl.run("chat_8b", {"workload.requests": 1, "hw": "h200"}).roofs == rl.Scenario("chat_8b", hw="h200").roofs()


# Roofline


def test_a_point_of_the_roofline_is_flop_over_bytes_and_flop_over_time(run):
    ax = rl.plot.roofline(run, step=0)
    kernels = run.kernels((None, (run.steps.start_ns[0] + 1) * 1e-9)).to_frame()
    chosen = kernels[kernels["role"] == "gate_up_proj"]
    flop, moved = chosen["useful_flop"].sum(), (chosen["hbm_read_bytes"] + chosen["hbm_written_bytes"]).sum()
    points = [tuple(point) for drawn in ax.collections for point in drawn.get_offsets().tolist()]
    assert pytest.approx((flop / moved, flop / (chosen["duration_ns"].sum() * 1e-9))) in points


def test_no_point_of_the_roofline_is_above_a_roof(crowded):
    ax = rl.plot.roofline(crowded, (None, None))
    points = [point for drawn in ax.collections for point in drawn.get_offsets().tolist()]
    assert len(points) > 5
    roofs = crowded.roofs
    for intensity, rate in points:
        assert rate <= 1.0001 * min(intensity * roofs.hbm_bytes_per_second, roofs.flop_per_second["bf16"])


def test_the_roofline_says_its_ridge_points_and_what_it_leaves_out(run):
    ax = rl.plot.roofline(run)
    assert "fp16, bf16: ridge 247 FLOP/byte" in texts(ax) and "fp8, int8: ridge 493 FLOP/byte" in texts(ax)
    assert any("not shown" in text for text in texts(ax))
    assert {"datasheet", "sustained", "GEMM", "attention"} <= set(legend(ax))
    assert "decode" in ax.get_title("left") and ax.get_xscale() == ax.get_yscale() == "log"


def test_a_step_that_is_not_there_is_refused(run):
    with pytest.raises(rl.ConfigError, match=f"from 0 to {len(run.steps) - 1}, got 9999999"):
        rl.plot.roofline(run, step=9999999)


# Ledger


def test_bars_of_a_ledger_are_its_causes_and_add_up_to_the_whole(run):
    bars = lengths(rl.plot.ledger(run, per="run"))
    assert bars[style.CAUSE_WORDS["memory"]] == pytest.approx(run.ledger.memory_ns * 1e-9)
    whole = bars.pop("all")
    assert whole == pytest.approx(run.ledger.total_ns * 1e-9)
    assert sum(bars.values()) == pytest.approx(whole, rel=0.02)  # causes below 0.2 % are not drawn


def test_each_bar_begins_where_the_one_before_ended(run):
    bars = rl.plot.ledger(run).patches
    for before, after in zip(bars[:-2], bars[1:-1]):
        assert after.get_x() == pytest.approx(before.get_x() + before.get_width())
    assert bars[-1].get_x() == 0


def test_the_changes_of_two_ledgers_lead_from_one_whole_to_the_other(run, crowded):
    bars = rl.plot.ledger_change(run, crowded, per="run", names=("alone", "together")).patches
    old, new = run.ledger.total_ns * 1e-9, crowded.ledger.total_ns * 1e-9
    assert bars[0].get_width() == pytest.approx(old) and bars[-1].get_width() == pytest.approx(new)
    assert old + sum(bar.get_width() for bar in bars[1:-1]) == pytest.approx(new, abs=0.02 * max(old, new))


def test_a_training_run_has_no_tokens_to_divide_by():
    with pytest.raises(rl.ConfigError, match="take per='run'"):
        rl.plot.ledger(rl.run("b_training"))


def test_variants_of_an_experiment_have_ledgers_too():
    tried = rl.whatif("chat_8b", "quantize:int4", overrides=FEW)
    before, after = tried.variants
    bars = rl.plot.ledger_change(before, after).patches
    seconds = tried.ledger_frame().sum()
    assert bars[0].get_width() == pytest.approx(seconds["before"] * 1e3) and bars[-1].get_width() == pytest.approx(seconds["quantize:int4"] * 1e3)
    assert bars[0].get_width() == lengths(rl.plot.ledger(before))["all"]


# Timeline


def drawn_lengths(ax, colour):
    """Of bars of a colour, ms."""
    from matplotlib.colors import to_rgba

    return [
        path.get_extents().width
        for collection in ax.collections
        if tuple(collection.get_facecolor()[0]) == to_rgba(colour)
        for path in collection.get_paths()
    ]


def test_lanes_hold_every_kernel_call_and_step_of_the_window(run):
    window = (None, (run.steps.start_ns[1] + 1) * 1e-9)
    shown = run.timeline(window)
    ax = rl.plot.timeline(run, window)
    gemms = shown.kernels.duration_ns[shown.kernels.kernel_class == "gemm"]
    assert sum(drawn_lengths(ax, style.CLASS_COLOURS["gemm"])) == pytest.approx(gemms.sum() * 1e-6)
    assert sum(drawn_lengths(ax, style.BLACK)) == pytest.approx(shown.calls.duration_ns.sum() * 1e-6)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["steps", "host calls", "kernels"]
    assert len(shown.steps) == 2 and any("prefill" in text or "decode" in text for text in texts(ax))


def test_a_trace_gives_the_same_lanes_as_the_run_it_was_written_from(run, tmp_path):
    window = (None, (run.steps.start_ns[2] + 1) * 1e-9)
    run.write_trace(tmp_path / "t.json.gz", window=window)
    trace = rl.read_trace(tmp_path / "t.json.gz")
    ax = rl.plot.timeline(trace, (None, None))
    mine = drawn_lengths(rl.plot.timeline(run, window), style.CLASS_COLOURS["attention"])
    assert drawn_lengths(ax, style.CLASS_COLOURS["attention"]) == pytest.approx(mine)


def test_an_empty_or_an_endless_window_is_refused(run):
    last = f"{run.steps.start_ns.max() * 1e-9:.4g} s"
    with pytest.raises(rl.ConfigError, match=f"no step begins in the window; steps begin from .* s to {last}"):
        rl.plot.timeline(run, (1e6, 1e6 + 1))
    with pytest.raises(rl.ConfigError, match="more than 50,000; take a shorter one"):
        rl.plot.timeline(run, (None, None))


# Latencies


def test_the_distribution_passes_one_half_at_the_median(run):
    for name, quantity in (("ttft", run.metrics.median_ttft_ms), ("e2el", run.metrics.median_e2el_ms), ("itl", run.metrics.median_itl_ms)):
        (line,) = [line for line in rl.plot.latency(run, name).lines if len(line.get_xdata()) > 2]
        values, shares = line.get_data()
        assert shares[-1] == pytest.approx(1.0)
        at = values[next(i for i, share in enumerate(shares) if share >= 0.5)]
        assert at == pytest.approx(quantity, rel=0.05)  # of 60 requests the median lies between two


def test_a_limit_is_a_line_and_a_share(run):
    limit = float(run.metrics.median_ttft_ms)
    ax = rl.plot.latency({"mine": run}, "ttft", slo=limit)
    assert legend(ax) == ["mine (50.0 % within)", f"SLO {limit:g} ms"]


def test_four_pictures_of_several_runs_name_them(run, crowded):
    axes = rl.plot.latencies([run, crowded], slo={"tpot": 10})
    assert [ax.get_title("left")[:4].rstrip(":") for ax in axes] == ["TTFT", "TPOT", "ITL", "E2E"]
    assert legend(axes[0]) == ["chat_8b 1", "chat_8b 2"]
    with pytest.raises(rl.ConfigError, match="did you mean 'ttft'"):
        rl.plot.latencies(run, slo={"ttf": 1})


# Sweeps


def test_the_line_of_a_front_holds_the_points_that_the_sweep_says(sweep):
    ax = rl.plot.pareto(sweep)
    front = sweep.pareto()
    assert list(ax.lines[0].get_xdata()) == list(front["output_throughput_per_user"])
    assert list(ax.lines[0].get_ydata()) == list(front["output_throughput_per_gpu"])
    assert len(ax.collections[0].get_offsets()) == len(sweep) == 6
    cost = rl.plot.pareto(sweep, "output_throughput_per_user", "p99_ttft_ms")  # less is better
    assert list(cost.lines[0].get_ydata()) == list(sweep.pareto("output_throughput_per_user", "p99_ttft_ms")["p99_ttft_ms"])


def test_a_front_for_each_value_of_a_key_carries_its_name(sweep):
    ax = rl.plot.pareto(sweep, by="model.quantization", label="engine.max_num_seqs")
    assert legend(ax) == ["none", "fp8"] and "16" in texts(ax)
    assert ax.get_xlabel() == "tokens/s/user" and ax.get_ylabel() == "output tokens/s/GPU"


def test_a_curve_goes_through_the_points_in_the_order_of_the_key(sweep):
    ax = rl.plot.curve(sweep, "engine.max_num_seqs", "mean_tpot_ms", by="model.quantization")
    assert legend(ax) == ["none", "fp8"] and ax.get_ylabel() == "mean TPOT (ms)"
    assert list(ax.lines[0].get_xdata()) == [1, 4, 16]
    mine = sweep.frame[sweep.frame["model.quantization"] == "none"]
    assert list(ax.lines[0].get_ydata()) == list(mine["mean_tpot_ms"])


def test_cells_of_a_heat_map_are_the_figures_and_the_best_is_framed(sweep):
    from matplotlib.colors import to_rgba

    ax = rl.plot.heat_map(sweep, "engine.max_num_seqs", "model.quantization")
    rate = sweep.frame.set_index(["model.quantization", "engine.max_num_seqs"])["output_throughput"]
    cells = [rate[quantization, sequences] for quantization in ("none", "fp8") for sequences in (1, 4, 16)]
    assert ax.collections[0].get_array().ravel().tolist() == pytest.approx(cells)
    (frame,) = [patch for patch in ax.patches if patch.get_edgecolor() == to_rgba(style.VERMILION)]
    best = sweep.best("output_throughput")
    assert frame.get_xy() == ((1, 4, 16).index(best["engine.max_num_seqs"]) - 0.5, ("none", "fp8").index(best["model.quantization"]) - 0.5)


def test_cells_that_did_not_run_are_hatched():
    grid = {"model": ["llama3_8b", "llama3_405b"], "engine.max_num_seqs": "1,2"}
    large = rl.sweep("chat_8b", grid, overrides={"workload.requests": 3}, jobs=1)
    ax = rl.plot.heat_map(large, "engine.max_num_seqs", "model")
    assert sum(patch.get_hatch() is not None for patch in ax.patches) == 2


def test_a_front_goes_by_position_whatever_rows_are_called(sweep):
    expected = list(sweep.pareto()["output_throughput_per_gpu"])
    same_name = sweep.frame.set_axis([0] * len(sweep))
    assert list(rl.plot.pareto(same_name).lines[0].get_ydata()) == expected


def test_a_line_with_several_points_at_one_place_is_refused(sweep):
    with pytest.raises(rl.ConfigError, match=r"several points have engine.max_num_seqs 1; choose rows, or a key for a line each \(by\)"):
        rl.plot.curve(sweep, "engine.max_num_seqs")
    with pytest.raises(rl.ConfigError, match="several points have engine.max_num_seqs 1 and steps"):
        rl.plot.curve(sweep.frame.assign(steps=1.0), "engine.max_num_seqs", by="steps")


def test_a_figure_that_is_no_number_is_refused(sweep):
    with pytest.raises(rl.ConfigError, match="plot heatmap: expected a figure that is a number, got regime, which has values like"):
        rl.plot.heat_map(sweep, "engine.max_num_seqs", "model.quantization", "regime")
    with pytest.raises(rl.ConfigError, match="plot curve: expected a figure that is a number, got regime"):
        rl.plot.curve(sweep, "engine.max_num_seqs", "regime", by="model.quantization")
    with pytest.raises(rl.ConfigError, match="plot pareto: regime is better neither"):
        rl.plot.pareto(sweep, "regime")


def test_a_roofline_needs_a_run(run, tmp_path):
    run.write_trace(tmp_path / "t.json", window=(None, (run.steps.start_ns[1] + 1) * 1e-9))
    with pytest.raises(rl.ConfigError, match="plot roofline: expected a run, got Trace; FLOP and bytes"):
        rl.plot.roofline(rl.read_trace(tmp_path / "t.json"))


def test_a_ledger_needs_a_run_or_a_variant(run):
    for draw in (rl.plot.ledger, lambda nothing: rl.plot.ledger_change(run, nothing)):
        with pytest.raises(TypeError, match="plot ledger: expected a run or a variant of an experiment, got NoneType"):
            draw(None)


def test_wrong_columns_are_named_with_the_nearest(sweep):
    with pytest.raises(rl.ConfigError, match="did you mean 'mean_tpot_ms'"):
        rl.plot.curve(sweep, "engine.max_num_seqs", "mean_tpo_ms")
    with pytest.raises(rl.ConfigError, match="several points"):
        rl.plot.heat_map(sweep, "engine.max_num_seqs", "regime")
    with pytest.raises(rl.ConfigError, match="neither higher nor lower"):
        rl.plot.pareto(sweep, "steps")


def test_bars_of_a_tornado_reach_from_the_figure_to_its_ends():
    swings = rl.tornado("chat_8b", ["hw.hbm.bandwidth", "hw.hbm.ramp"], "mean_tpot_ms", overrides=FEW, jobs=1)
    ax = rl.plot.tornado(swings)
    low, high = ax.patches[:2], ax.patches[2:]
    assert [bar.get_x() + bar.get_width() for bar in low] == pytest.approx(list(swings["at_low"]))
    assert [bar.get_x() + bar.get_width() for bar in high] == pytest.approx(list(swings["at_high"]))
    assert ax.get_yticklabels()[0].get_text() == "hw.hbm.bandwidth" and ax.get_xlabel() == "mean TPOT (ms)"


# Whoever calls gets their own Axes back; nothing is loaded before.


def test_pictures_are_drawn_where_they_are_asked_for(run, sweep):
    _, (left, right) = pyplot.subplots(1, 2)
    assert rl.plot.ledger(run, ax=left) is left
    assert rl.plot.curve(sweep, "engine.max_num_seqs", by="model.quantization", ax=right) is right
    assert len(pyplot.get_fignums()) == 1


def test_the_package_loads_without_matplotlib():
    told = "import sys, ridgeline as rl; rl.plot.roofline; print([m for m in ('matplotlib', 'pandas', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_every_cause_and_class_has_a_colour_of_the_palette():
    palette = {colour for name, colour in vars(style).items() if name.isupper() and isinstance(colour, str)}
    assert len(palette) == 10 and set(style.CAUSE_COLOURS.values()) | set(style.CLASS_COLOURS.values()) <= palette
    assert len(set(style.CAUSE_COLOURS.values())) == len(style.CAUSE_COLOURS) == len(style.CAUSE_WORDS)
    assert sorted(c for members in style.CLASS_GROUPS.values() for c in members) == sorted(style.CLASS_COLOURS)


# The command


def plot(*arguments, code=0):
    answer = subprocess.run([sys.executable, "-m", "ridgeline", "plot", *map(str, arguments)], capture_output=True, text=True)
    assert answer.returncode == code, answer.stderr
    return answer


def test_the_command_draws_runs_traces_and_sweeps(run, sweep, tmp_path):
    run.save(tmp_path / "run")
    sweep.write(tmp_path / "sweep.csv")
    plot("latencies", tmp_path / "run", "--slo", "ttft=100", "--out", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    keys = ["--x", "engine.max_num_seqs", "--by", "model.quantization"]
    plot("curve", tmp_path / "sweep.csv", *keys, "--title", "Mine", "--out", tmp_path / "b.svg")
    assert "<svg" in (tmp_path / "b.svg").read_text()[:1000]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.svg", "run", "sweep.csv"]


def drawn(arguments, tmp_path):
    """The command in this process: a second less each."""
    from ridgeline.commands import COMMANDS

    out = tmp_path / "picture.svg"
    assert COMMANDS["plot"]([*map(str, arguments), "--out", str(out)]) == 0
    text = out.read_text()
    out.unlink()
    return text


def test_every_kind_of_picture_comes_from_a_file(run, sweep, tmp_path):
    run.save(tmp_path / "run")
    run.write_trace(tmp_path / "t.json", window=(None, (run.steps.start_ns[2] + 1) * 1e-9))
    sweep.write(tmp_path / "s.parquet")
    swings = rl.tornado("chat_8b", "hw.hbm.bandwidth", "mean_tpot_ms", overrides=FEW, jobs=1)
    (tmp_path / "swings.json").write_text(json.dumps({**swings.attrs, "keys": swings.assign(error=None).to_dict("records")}))
    for arguments in (
        ["roofline", tmp_path / "run", "--window", "0s..1s"],
        ["ledger", tmp_path / "run"],
        ["ledger", tmp_path / "run", tmp_path / "run", "--per", "step"],
        ["timeline", tmp_path / "run"],
        ["timeline", tmp_path / "t.json", "--window", "0s..1s"],
        ["latencies", tmp_path / "run", "--of", "itl"],
        ["pareto", tmp_path / "s.parquet", "--by", "model.quantization"],
        ["heatmap", tmp_path / "s.parquet", "--x", "engine.max_num_seqs", "--y", "model.quantization"],
        ["tornado", tmp_path / "swings.json"],
    ):
        first = drawn(arguments, tmp_path)
        assert "<svg" in first[:1000]
    assert drawn(["tornado", tmp_path / "swings.json"], tmp_path) == first  # the same picture, byte for byte


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["rofline", "x", "--out", "a.png"], "unknown kind of picture 'rofline'; did you mean 'roofline'?"),
        (["roofline", "nowhere", "--out", "a.png"], "nowhere"),
        (["roofline", "nowhere", "--out", "a.gif"], "--out: expected a name that ends in .png, .svg, .pdf, got 'a.gif'"),
        (["timeline", "nowhere", "--window", "1..2", "--out", "a.png"], "nowhere"),
        (["curve", "nowhere.csv", "--out", "a.png"], "expected --x"),
        (["ledger", "a", "b", "c", "--out", "a.png"], "expected one run or two, got 3"),
        (["latencies", "a", "--slo", "ttft", "--out", "a.png"], "--slo: expected NAME=MILLISECONDS like ttft=500, got 'ttft'"),
        (["tornado", "nowhere.json", "--out", "a.png"], "nowhere.json: cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(arguments, told, capsys):
    from ridgeline.commands import COMMANDS

    assert COMMANDS["plot"](arguments) == 2
    assert told in capsys.readouterr().err


def test_help_names_every_kind(capsys):
    from ridgeline.commands import COMMANDS
    from ridgeline.plot.command import _KINDS

    assert COMMANDS["plot"](["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {kind} " in text for kind in _KINDS)
