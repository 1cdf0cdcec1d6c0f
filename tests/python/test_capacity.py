"""The largest rate that meets objectives."""

import pytest

pytest.importorskip("numpy")

import ridgeline  # noqa: E402

# One request at a time, each of equal length: the server takes the same time for every one, and its capacity is one over that.
ONE_AT_A_TIME = {
    "engine.max_num_seqs": 1,
    "workload.prompt_tokens": 128,
    "workload.output_tokens": 64,
    "workload.arrivals": {"constant": {"rate": "1 /s"}},
    "workload.requests": 200,
}


@pytest.fixture(scope="module")
def service_seconds():
    """From one answer to the next, when there are always more waiting."""
    run = ridgeline.run("chat_8b", ONE_AT_A_TIME | {"workload.arrivals": {"closed_loop": {"concurrency": 50}}})
    return run.result["duration"] / 200


def test_what_no_objective_limits_is_limited_by_what_the_server_can_take(service_seconds):
    found = ridgeline.capacity("chat_8b", {"p99_e2el_ms": 1e9}, overrides=ONE_AT_A_TIME)
    assert found.service_rate == pytest.approx(1.0 / service_seconds, rel=0.01)
    assert found.binds == "saturation"
    assert 0.97 * found.service_rate < found.request_rate <= found.service_rate
    assert found.goodput == pytest.approx(found.request_rate)
    assert found.runs == len(found.probes) + 1 == len(found.frame) + 1


def test_a_rate_above_the_service_rate_is_not_met_however_good_its_latencies_look(service_seconds):
    found = ridgeline.capacity("chat_8b", {"p99_queue_ms": 1e9}, overrides=ONE_AT_A_TIME, requests=50)
    assert found.request_rate <= 1.001 / service_seconds


def test_an_objective_that_no_load_meets_has_no_rate():
    found = ridgeline.capacity("chat_8b", {"mean_tpot_ms": 0.001, "p99_ttft_ms": 1e9}, overrides=ONE_AT_A_TIME)
    assert (found.request_rate, found.bracket[0], found.binds, found.goodput) == (0.0, 0.0, "mean_tpot_ms", 0.0)
    assert str(found).startswith("no rate meets mean_tpot_ms <= 0.001")


def test_the_objective_binds_between_the_rate_that_meets_it_and_the_one_that_does_not():
    slo = {"p99_ttft_ms": 1e6, "mean_tpot_ms": 15.0}
    found = ridgeline.capacity("chat_8b", slo, requests=400, tolerance=0.1)
    met = next(probe for probe in found.probes if probe.request_rate == found.bracket[0])
    missed = next(probe for probe in found.probes if probe.request_rate == found.bracket[1])
    assert met.failed == () and met.statistics["mean_tpot_ms"] <= 15.0
    assert missed.failed == ("mean_tpot_ms",) and missed.statistics["mean_tpot_ms"] > 15.0
    assert found.binds == "mean_tpot_ms"
    assert 0.0 < found.goodput <= found.request_rate
    assert found.bracket[1] - found.bracket[0] <= 0.1 * found.request_rate


def test_a_wide_tolerance_does_not_lose_a_rate_that_a_narrow_one_finds():
    wide, narrow = (ridgeline.capacity("chat_8b", {"p99_ttft_ms": 300.0}, requests=400, tolerance=tolerance) for tolerance in (0.3, 0.1))
    for found, tolerance in ((wide, 0.3), (narrow, 0.1)):
        low, high = found.bracket
        assert 0.0 < low == found.request_rate and high - low <= tolerance * low
    assert 0.3 * wide.service_rate > wide.bracket[1]  # the first rate tried was too much already
    assert wide.bracket[0] <= narrow.bracket[1] and narrow.bracket[0] <= wide.bracket[1]


def test_a_trace_that_ends_while_the_server_fills_is_not_called_saturated(tmp_path):
    # Sixty requests of 2000 tokens each, for a server that takes all of them at once: until the last has come hardly any has left.
    trace = tmp_path / "trace.csv"
    rows = [f"2023-11-16 18:00:{i:02d}.0000000,16,2000" for i in range(60)]
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(rows) + "\n")
    found = ridgeline.capacity("chat_8b", {"p99_queue_ms": 1e9}, overrides={"workload.trace": str(trace)}, tolerance=0.1)
    assert found.binds == "unsettled"
    assert "the trace ends before" in str(found)
    assert all("saturation" not in probe.failed for probe in found.probes)


def test_copies_of_a_server_take_as_many_times_the_rate():
    one = ridgeline.capacity("chat_8b", {"p99_queue_ms": 1e9}, overrides=ONE_AT_A_TIME)
    two = ridgeline.capacity("chat_8b", {"p99_queue_ms": 1e9}, overrides=ONE_AT_A_TIME | {"engine.data_parallel_size": 2})
    assert two.request_rate == pytest.approx(2 * one.request_rate, rel=0.02)


def test_a_trace_is_stretched_in_time(tmp_path):
    trace = tmp_path / "trace.csv"
    rows = [f"2023-11-16 18:{i // 60:02d}:{i % 60:02d}.0000000,128,64" for i in range(400)]
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(rows) + "\n")
    generated = ridgeline.capacity("chat_8b", {"p99_queue_ms": 1e9}, overrides=ONE_AT_A_TIME)
    replayed = ridgeline.capacity("chat_8b", {"p99_queue_ms": 1e9}, overrides={"engine.max_num_seqs": 1, "workload.trace": str(trace)})
    assert replayed.request_rate == pytest.approx(generated.request_rate, rel=0.03)


@pytest.mark.parametrize(
    "slo, told",
    [
        ({}, "expected objectives"),
        ({"p99_tft_ms": 1.0}, "did you mean 'p99_ttft_ms'"),
        ({"p99_ttft_ms": 0.0}, "expected milliseconds above 0"),
    ],
)
def test_what_is_no_objective_is_an_error(slo, told):
    with pytest.raises(ridgeline.ConfigError, match=told):
        ridgeline.capacity("chat_8b", slo)


def test_a_training_step_has_no_capacity():
    with pytest.raises(ridgeline.ConfigError, match="a training step has no requests"):
        ridgeline.capacity("b_training", {"p99_ttft_ms": 1.0})
