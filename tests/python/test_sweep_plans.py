"""The points of a sweep: values as people write them, axes, samples, ids, shards."""

import pytest

import ridgeline
from ridgeline.sweeps.design import Range, sampled
from ridgeline.sweeps.plan import Axis, Plan, Shard
from ridgeline.sweeps.values import parse_assignment, parse_values

A = Axis(("a",), (("1",), ("2",)))
B = Axis(("b", "c"), (("x", "y"), ("z", "w"), ("u", "v")))


@pytest.mark.parametrize(
    "text, values",
    [
        ("1,2,8", "1 2 8"),
        ("bf16, fp8", "bf16 fp8"),
        ("1..5", "1 2 3 4 5"),
        ("0.5..2:0.5", "0.5 1 1.5 2"),
        ("0.1..0.3:0.1", "0.1 0.2 0.3"),
        ("1..256*4", "1 4 16 64 256"),
        ("1..100*4", "1 4 16 64"),
        ("1,2,4…32", "1 2 4 8 16 32"),
        ("1,2,4...32", "1 2 4 8 16 32"),
        ("1,2,4,...,32", "1 2 4 8 16 32"),
        ("8,16…40", "8 16 24 32 40"),
        ("64,32…4", "64 32 16 8 4"),
        ("0,1…3", "0 1 2 3"),
        ("../mine.yaml,other.yaml", "../mine.yaml other.yaml"),
        ("1e3..3e3:1e3", "1000 2000 3000"),
    ],
)
def test_values_are_lists_ranges_and_patterns_that_go_on(text, values):
    assert parse_values(text, "--grid") == values.split()


def test_values_keep_their_unit():
    assert parse_values("10 us..30 us:10 us", "--grid") == ["10 us", "20 us", "30 us"]
    assert parse_values("5..15:5 /s", "--grid") == ["5 /s", "10 /s", "15 /s"]
    assert parse_values("1 GB,2 GB…4 GB", "--grid") == ["1 GB", "2 GB", "3 GB", "4 GB"]


def test_commas_within_brackets_and_quotes_part_nothing():
    assert parse_values("{a: 1, b: 2},[1, 2],'x,y'", "--grid") == ["{a: 1, b: 2}", "[1, 2]", "'x,y'"]


@pytest.mark.parametrize(
    "text, told",
    [
        ("1,2,4…250", "expected an end that the pattern meets, such as 128 or 256, got 250"),
        ("1,2,4…3", "expected equal steps or equal factors towards 3"),
        ("1,3,4…9", "expected equal steps or equal factors"),
        ("a,b…d", "expected two or more numbers before"),
        ("1,2…", "expected the last value after"),
        ("1,,2", "expected values between commas, got nothing"),
        ("5..1", "that leads from a low end to a high one"),
        ("1..8*1", "that leads from a low end to a high one"),
        ("0..8*2", "that leads from a low end to a high one"),
        ("1 us..5 ms", "expected one unit"),
        ("1..1000000", "more than 100000 values"),
        ("4,4", "has 4 twice"),
    ],
)
def test_what_is_no_pattern_is_an_error_that_says_what_is_expected(text, told):
    with pytest.raises(ridgeline.ConfigError, match="--grid: ") as error:
        parse_values(text, "--grid")
    assert told in str(error.value)


def test_an_assignment_has_keys_and_values():
    assert parse_assignment("a.b+c=1,2", "--grid") == (("a.b", "c"), "1,2")
    for wrong in ("a", "=1", "a=", "a+=1"):
        with pytest.raises(ridgeline.ConfigError, match="expected KEY=VALUES"):
            parse_assignment(wrong, "--grid")


def test_a_plan_has_every_combination_with_the_last_axis_fastest():
    points = list(Plan([A, B], "s").points())
    assert len(Plan([A, B], "s")) == len(points) == 2 * 3
    assert [point.settings for point in points[:3]] == [
        (("a", "1"), ("b", "x"), ("c", "y")),
        (("a", "1"), ("b", "z"), ("c", "w")),
        (("a", "1"), ("b", "u"), ("c", "v")),
    ]
    assert [point.index for point in points] == [0, 1, 2, 3, 4, 5]


def test_an_id_says_scenario_and_settings_and_nothing_else():
    of = lambda axes, scenario: {point.settings: point.id for point in Plan(axes, scenario).points()}  # noqa: E731
    assert len(set(of([A, B], "s").values())) == 6
    fewer = Axis(("a",), (("2",),))
    assert of([fewer, B], "s").items() <= of([A, B], "s").items()
    assert not set(of([A, B], "s").values()) & set(of([A, B], "t").values())
    assert Plan([A], "s").id != Plan([A], "t").id != Plan([A, B], "t").id


def test_shards_part_the_points_evenly():
    plan = Plan([A, B], "s")
    parts = [[point.index for point in plan.points(Shard.parse(f"{i}/4"))] for i in (1, 2, 3, 4)]
    assert parts == [[0, 4], [1, 5], [2], [3]]
    for wrong in ("0/4", "5/4", "1", "a/b", "1/0", "-1/2"):
        with pytest.raises(ridgeline.ConfigError, match="--shard: expected I/N"):
            Shard.parse(wrong)


def test_a_key_has_one_axis():
    with pytest.raises(ridgeline.ConfigError, match="a: expected one axis for each key, got two"):
        Plan([A, A], "s")


def test_a_range_is_sampled_within_its_ends():
    whole = Range.parse("a=1..4")
    assert [whole.value(u) for u in (0.0, 0.24, 0.26, 0.99)] == ["1", "1", "2", "4"]  # a quarter each
    half = Range.parse("a=1..100:log")
    assert [half.value(u) for u in (0.0, 0.5, 1.0)] == ["1", "10", "100"]  # 100^0.5 = 10
    assert Range.parse("a=0.0..2.0").value(0.25) == "0.5"
    assert Range.parse("a=10 us..30 us").value(0.5) == "20 us"


def test_a_latin_hypercube_has_one_sample_in_every_part_of_every_range():
    axis = sampled([Range.parse("a=0.0..1.0"), Range.parse("b=0.0..10.0")], 20, "lhs", 1)
    assert sorted(int(float(a) * 20) for a, _ in axis.settings) == list(range(20))
    assert sorted(int(float(b) * 2) for _, b in axis.settings) == list(range(20))


@pytest.mark.parametrize("method", ["random", "lhs"])
def test_samples_are_the_same_for_the_same_seed(method):
    draw = lambda seed: sampled([Range.parse("a+c=0.0..1.0"), Range.parse("b=1..9")], 8, method, seed)  # noqa: E731
    assert draw(1) == draw(1) != draw(2)
    assert draw(1).keys == ("a", "c", "b")
    assert all(a == c for a, c, _ in draw(1).settings)


@pytest.mark.parametrize(
    "text, told", [("a=3..1", "from a low end to a high one"), ("a=0..1:log", "above 0 for a logarithm"), ("a=1..2:lin", "expected KEY=LOW"), ("a=x..y", "expected KEY=LOW")]
)
def test_what_is_no_range_is_an_error(text, told):
    with pytest.raises(ridgeline.ConfigError, match=told):
        Range.parse(text)
