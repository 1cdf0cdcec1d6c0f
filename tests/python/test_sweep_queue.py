"""What is read from the requests of one run: whether a server keeps up, and what its clients see."""

import pytest

np = pytest.importorskip("numpy")

from ridgeline.sweeps.queue import Observed, service_rate  # noqa: E402


def served(rate, service, n=1000):
    """n requests at equal gaps to a server of one place that takes `service` seconds for each."""
    arrival = np.arange(1, n + 1) / rate
    left = np.empty(n)
    free = 0.0
    for i, t in enumerate(arrival):
        free = max(free, t) + service
        left[i] = free
    return Observed.of({"arrival": arrival, "e2el": left - arrival, "ttft": left - arrival, "tpot": np.full(n, 0.01), "queue": left - arrival - service})


def test_a_server_that_is_faster_than_its_arrivals_keeps_up():
    calm = served(rate=0.9, service=1.0)
    assert calm.staying == 0.0
    assert calm.keeps_up
    assert calm.statistic("p99_queue_ms") == pytest.approx(0.0, abs=1e-6)


def test_of_a_load_that_is_a_tenth_too_high_one_request_in_eleven_stays():
    flooded = served(rate=1.1, service=1.0)
    assert flooded.staying == pytest.approx(1.0 - 1.0 / 1.1, abs=2e-3)
    assert not flooded.keeps_up


def test_that_does_not_depend_on_how_long_the_run_is():
    # The latencies of the short run look fine: at most 100 requests x (1 s - 1/1.1 s) = 9.1 s of queue.
    short = served(rate=1.1, service=1.0, n=100)
    assert short.statistic("p99_queue_ms") < 9_100
    assert not short.keeps_up


def test_a_steady_queue_is_no_growing_one():
    # Every request finds 50 others, from the first quarter on.
    arrival = np.arange(1, 1001) / 10.0
    waiting = Observed.of({name: np.full(1000, 5.0) for name in ("e2el", "ttft", "tpot", "queue")} | {"arrival": arrival})
    assert waiting.staying == pytest.approx(0.0, abs=1e-9)
    assert waiting.keeps_up


def test_a_server_that_is_still_filling_has_not_settled():
    # In 50 s requests stay longer and longer, up to 10 s: those in the server still grow by a third from the second quarter to the last.
    arrival = np.arange(1, 1001) / 20.0
    stay = np.minimum(10.0, arrival / 4)
    filling = Observed.of({name: stay for name in ("e2el", "ttft", "tpot", "queue")} | {"arrival": arrival})
    assert not filling.settled
    assert served(rate=0.9, service=1.0).settled
    assert not served(rate=1.1, service=1.0).settled


def test_requests_past_the_queue_are_running():
    assert served(rate=2.0, service=1.0).peak_running == 1  # one place
    at_once = {name: np.full(100, 5.0) for name in ("e2el", "ttft", "tpot")} | {"arrival": np.arange(100) * 1.0, "queue": np.zeros(100)}
    assert Observed.of(at_once).peak_running == 5  # one a second, each for 5 s


def test_statistics_leave_out_the_fifth_that_comes_while_the_server_fills():
    n = 1000
    ttft = np.where(np.arange(n) < 200, 9.0, np.arange(n) / 1000.0)
    seen = Observed.of({"arrival": np.arange(n) * 1.0, "ttft": ttft, "tpot": np.full(n, np.nan), "e2el": ttft, "queue": ttft})
    assert seen.statistic("mean_ttft_ms") == pytest.approx(599.5)  # 200 ... 999
    assert seen.statistic("p95_ttft_ms") == pytest.approx(200 + 0.95 * 799)
    assert seen.statistic("median_ttft_ms") == pytest.approx(599.5)
    assert seen.statistic("mean_tpot_ms") == 0.0  # answers of one token have none


def test_a_request_is_good_when_it_is_within_every_limit():
    n = 1000
    ramp = np.arange(n) / 1000.0  # of the 800 that count: 0.2 s to 0.999 s
    seen = Observed.of({"arrival": np.arange(n) * 1.0, "ttft": ramp, "tpot": ramp[::-1] / 10, "e2el": ramp, "queue": ramp})
    assert seen.good_share({"p99_ttft_ms": 599.0}) == pytest.approx(400 / 800)  # 200 ... 599
    assert seen.good_share({"p99_ttft_ms": 599.0, "mean_tpot_ms": 59.95}) == pytest.approx(200 / 800)  # and (999 - i) / 10 <= 59.95: from 400 on


def test_unfinished_requests_are_left_out():
    columns = {name: np.array([1.0, np.nan, 2.0]) for name in ("arrival", "ttft", "tpot", "e2el", "queue")}
    assert len(Observed.of(columns).arrival) == 2


def test_the_service_rate_is_that_of_the_middle_of_a_flood():
    everything_at_once = served(rate=1e9, service=0.25)
    assert service_rate(everything_at_once) == pytest.approx(4.0)
