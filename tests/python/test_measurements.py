"""Predictions, and what they are worth, from Python: predict, validate, calibrate. PYTHONPATH holds the package as built."""

import csv
import json

import pytest
import ridgeline

SHAPES = [
    {"hw": "MI300X", "M": m, "N": n, "K": k, "dtype": "int8"}
    for m in (1, 16, 100, 512, 3000, 8192)
    for n in (1280, 8192, 28672)
    for k in (1024, 5120, 8192)
]


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def measured(path, factor=1.0, hw=None):
    """A table of products that take what is predicted of them, times a factor."""
    rows = ridgeline.predict("gemm", SHAPES, hw)
    return write(path, [shape | {"time_us": row["predicted_us"] * factor} for shape, row in zip(SHAPES, rows)])


# predict


def test_rows_come_back_with_times_and_keep_what_they_had():
    given = {"hw": "MI300X", "M": 4096, "N": 8192, "K": 8192, "dtype": "bf16", "mine": ("a", 1)}
    (row,) = ridgeline.predict("gemm", [given])
    assert {key: row[key] for key in given} == given
    assert set(row) - set(given) == {"predicted_us", "low_us", "high_us", "binds", "flags"}
    floor_us = 2.0 * 4096 * 8192 * 8192 / 1307.4e12 * 1e6
    assert floor_us <= row["low_us"] < row["predicted_us"] < row["high_us"] < 10.0 * floor_us
    assert row["binds"] == "compute" and row["flags"] == []
    assert "predicted_us" not in given


def test_a_file_gives_what_its_rows_give(tmp_path):
    path = write(tmp_path / "t.csv", SHAPES)
    of_file = ridgeline.predict("gemm", path)
    of_rows = ridgeline.predict("gemm", SHAPES)
    assert [row["predicted_us"] for row in of_file] == [row["predicted_us"] for row in of_rows]
    assert of_file[0]["M"] == "1" and of_rows[0]["M"] == 1  # as they were written
    assert ridgeline.predict("gemm", str(path)) == of_file


def test_a_table_that_was_predicted_can_be_predicted_again(tmp_path):
    once = ridgeline.predict("gemm", SHAPES[:3])
    path = write(tmp_path / "t.csv", [row | {"flags": ""} for row in once])
    assert [row["predicted_us"] for row in ridgeline.predict("gemm", path)] == [row["predicted_us"] for row in once]
    assert ridgeline.predict("gemm", once) == once


def test_the_machine_can_be_a_name_or_a_file(tmp_path):
    (tmp_path / "mine.yaml").write_text("base: h100\n")
    shapes = [shape | {"dtype": "bf16"} for shape in SHAPES[:3]]
    assert ridgeline.predict("gemm", shapes, "h100") == ridgeline.predict("gemm", shapes, tmp_path / "mine.yaml")
    assert ridgeline.predict("gemm", shapes, "h100") != ridgeline.predict("gemm", shapes)


def test_a_row_that_cannot_be_predicted_says_why_in_one_flag():
    good, bad = ridgeline.predict("gemm", [SHAPES[0], SHAPES[0] | {"hw": "Abacus; 9"}])
    assert good["predicted_us"] > 0.0
    assert (bad["predicted_us"], bad["low_us"], bad["high_us"], bad["binds"]) == (None, None, None, "")
    assert len(bad["flags"]) == 1 and bad["flags"][0].startswith("table: row 2: hw: expected a machine, one of a10, ")
    assert bad["flags"][0].endswith("got 'Abacus; 9'")


def test_several_flags_are_a_list():
    (row,) = ridgeline.predict("gemm", [{"hw": "MI325X", "M": 16, "N": 8192, "K": 8192, "dtype": "?"}])
    assert row["flags"] == ["dtype unknown, taken as bf16", "extrapolated"]


def test_what_is_missing_from_some_rows_is_an_empty_cell():
    shape = {"hw": "MI300X", "M": 16, "N": 8192, "K": 8192, "dtype": "int8"}
    one, none, nan, two = ridgeline.predict(
        "gemm", [shape, shape | {"batch": None}, shape | {"batch": float("nan")}, shape | {"batch": 2.0}]
    )
    assert one["predicted_us"] == none["predicted_us"] == nan["predicted_us"] < two["predicted_us"]


def test_text_with_commas_quotes_and_lines_stays_in_its_cell():
    rows = ridgeline.predict("gemm", [SHAPES[0] | {"note": 'a, "b"\nc'}, SHAPES[1] | {"note": " "}])
    assert all(row["predicted_us"] for row in rows) and rows[0]["note"] == 'a, "b"\nc'


def test_a_pandas_frame_goes_in_and_comes_out():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SHAPES)
    answer = pandas.DataFrame(ridgeline.predict("gemm", frame.to_dict("records")))
    assert len(answer) == len(frame) and (answer["low_us"] <= answer["predicted_us"]).all()


@pytest.mark.parametrize(
    "operation, row",
    [
        ("attention", {"phase": "fwd", "dtype": "bf16", "batch": 2, "q_heads": 32, "seqlen_q": 4096, "causal": True}),
        ("allreduce", {"impl": "RCCL", "n_gpu": 8, "bytes": 1 << 20}),
        ("moe", {"tokens": 64, "model_dim": 7168, "inter_dim_per_gpu": 2048, "experts": 33, "topk": 9, "act_dtype": "fp8"}),
    ],
)
def test_every_kind_of_operation_is_predicted(operation, row):
    (answer,) = ridgeline.predict(operation, [row], "mi300x")
    assert 0.0 < answer["low_us"] <= answer["predicted_us"] <= answer["high_us"]


def test_a_bool_says_causal():
    shape = {"phase": "fwd", "dtype": "bf16", "batch": 2, "q_heads": 32, "seqlen_q": 8192}
    causal, full = ridgeline.predict("attention", [shape | {"causal": True}, shape | {"causal": False}], "mi300x")
    assert causal["predicted_us"] < 0.7 * full["predicted_us"]


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("gem", SHAPES), "expected one of gemm, attention, allreduce, moe, stream, layer, step_attention, step_experts, got 'gem'; did you mean 'gemm'?"),
        (("gemm", SHAPES, "mi30x"), "unknown name 'mi30x'; did you mean 'mi300x'?"),
        (("gemm", "/no/such.csv"), "/no/such.csv: no such file"),
        (("gemm", []), "table: expected rows with columns, got nothing"),
        (("gemm", [{}]), "table: expected rows with columns, got nothing"),
    ],
)
def test_what_cannot_be_predicted_at_all_is_refused(arguments, says):
    with pytest.raises(ridgeline.ConfigError) as error:
        ridgeline.predict(*arguments)
    assert says in str(error.value)


# validate


def test_predictions_held_against_themselves_have_no_error(tmp_path):
    path = measured(tmp_path / "t.csv")
    (group,) = ridgeline.validate(path)
    json.dumps(group, allow_nan=False)
    assert (group["set"], group["group"], group["below_floor"], group["not_predicted"]) == ("gemm", "MI300X int8", 0, 0)
    assert group["fitted"]["rows"] + group["held_back"]["rows"] == len(SHAPES)
    assert group["held_back"]["rows"] > 0 and group["held_back"]["median_error"] < 1e-3
    assert group["inside_interval"] == 1.0
    assert ridgeline.validate([tmp_path]) == ridgeline.validate([str(path)]) == [group]
    assert ridgeline.validate(path, hw="h100")[0]["fitted"]["median_error"] > 0.1


def test_measurements_a_third_as_long_are_misses(tmp_path):
    (group,) = ridgeline.validate(measured(tmp_path / "t.csv", 1.0 / 3.0))
    assert group["fitted"]["median_error"] == pytest.approx(2.0, rel=1e-3)
    assert group["fitted"]["bias"] == pytest.approx(2.0, rel=1e-3)
    assert len(group["misses_beyond_twice"]) == len(SHAPES)


@pytest.mark.parametrize("paths, says", [("/no/such.csv", "no such file"), ([], "no table with measured kernels")])
def test_what_cannot_be_validated_is_refused(paths, says):
    with pytest.raises(ridgeline.ConfigError, match=says):
        ridgeline.validate(paths)


def test_an_unknown_machine_is_refused(tmp_path):
    path = measured(tmp_path / "t.csv")
    with pytest.raises(ridgeline.ConfigError, match="unknown name 'mi30x'"):
        ridgeline.validate(path, "mi30x")
    with pytest.raises(ridgeline.ConfigError, match="unknown name 'mi30x'"):
        ridgeline.calibrate(path, "mi30x")


def test_a_run_that_was_recorded_is_held_against_a_typed_scenario(tmp_path):
    scenario = ridgeline.Scenario("chat_8b", workload=ridgeline.GeneratedWorkload(requests=20))
    r = ridgeline.run(scenario).requests
    columns = zip(r.arrival_ns * 1e-9, r.first_token_ns * 1e-9, r.last_token_ns * 1e-9, r.prompt_tokens, r.output_tokens)
    lines = [
        {"arrival_time": a, "queued_ts": a, "first_token_ts": f, "last_token_ts": z, "input_toks": int(i), "output_toks": int(o)}
        for a, f, z, i, o in columns
    ]
    (tmp_path / "served.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    groups = ridgeline.validate(tmp_path / "served.jsonl", scenario=scenario)
    end_to_end = next(group for group in groups if "end-to-end" in json.dumps(group))
    assert end_to_end["fitted"]["rows"] + end_to_end["held_back"]["rows"] == 20
    assert end_to_end["fitted"]["median_error"] < 1e-6


# calibrate


def test_a_changed_constant_is_found_and_the_fitted_machine_predicts_it(tmp_path):
    (tmp_path / "changed.yaml").write_text("base: mi300x\ngemm: {families: {int8: {workgroup_bandwidth: 53.76 GB/s}}}\n")
    path = measured(tmp_path / "t.csv", hw=tmp_path / "changed.yaml")
    answer = ridgeline.calibrate(path, "mi300x")
    json.dumps(answer, allow_nan=False)
    (place,) = answer["places"]
    assert place["place"] == "gemm.families.int8" and "why_not" not in place
    found = {constant["path"].split(".")[-1]: constant for constant in place["constants"]}
    loads = found["workgroup_bandwidth"]
    assert loads["shipped"] == "67.2 GB/s" and loads["fitted"].endswith(" GB/s")
    assert float(loads["fitted"].split()[0]) == pytest.approx(53.76, rel=0.05)
    assert 0.0 < loads["relative_error"] < 0.1 and loads["at_bound"] is False
    assert place["fitted_held_back"]["median_error"] < 0.01 < 0.03 < place["shipped_held_back"]["median_error"]

    (tmp_path / "mine.yaml").write_text(answer["machine"])
    (group,) = ridgeline.validate(path, tmp_path / "mine.yaml")
    assert group["held_back"]["median_error"] == pytest.approx(place["fitted_held_back"]["median_error"], abs=1e-3)
    ridgeline.run("chat_8b", {"workload.requests": 5, "hw": str(tmp_path / "mine.yaml")})


def test_places_and_rows_can_be_chosen(tmp_path):
    path = measured(tmp_path / "t.csv")
    with pytest.raises(ridgeline.ConfigError, match="--only: no place that prices a row has 'rccl' in its name"):
        ridgeline.calibrate(path, "mi300x", only="rccl")
    with pytest.raises(ridgeline.ConfigError, match="no row speaks of h100"):
        ridgeline.calibrate(path, "h100")
    (place,) = ridgeline.calibrate([path], "mi325x", only="gemm", every_row=True)["places"]
    assert place["place"] == "gemm.families.int8"


def test_few_rows_are_not_fitted_and_say_so(tmp_path):
    path = write(tmp_path / "t.csv", [SHAPES[0] | {"time_us": 30.0}])
    answer = ridgeline.calibrate(path, "mi300x")
    assert answer["places"][0]["constants"] == [] and "rows for" in answer["places"][0]["why_not"]
    assert answer["machine"].split()[0] == "base:" and "mi300x" in answer["machine"]
