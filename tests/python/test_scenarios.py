"""Typed scenarios: the keys they have, what they mean, what they refuse."""

import dataclasses
import pickle
import re

import pytest
import ridgeline as rl

LAWS = {
    "arrivals": [rl.PoissonArrivals(2.0), rl.GammaArrivals(2.0, cv=2.0), rl.ConstantArrivals("120 /min"), rl.ClosedLoop(3, think_time=0.5)],
    "prompt_tokens": [rl.UniformLength(10, 90), rl.LognormalLength(120, 0.8, max=4096), 512],
}
TRACE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n"
FEW = rl.Scenario("chat_8b", workload=rl.GeneratedWorkload(requests=5))


def known_keys(scenario, at):
    """The keys that the program says it knows in a map of a scenario."""
    with pytest.raises(rl.ConfigError) as error:
        scenario.with_({f"{at}.qqqqqqqqqqqqqqqq": 1} if at else {"qqqqqqqqqqqqqqqq": 1}).resolved()
    return set(re.search(r"unknown key; known: (.*)$", str(error.value))[1].split(", "))


def fields(*classes):
    return {field.name for cls in classes for field in dataclasses.fields(cls)}


def test_an_engine_has_the_settings_that_the_program_knows():
    assert fields(rl.Engine) == known_keys(FEW.with_(engine=rl.Engine(scheduler="vllm_v0")), "engine")
    assert fields(rl.Engine) == known_keys(FEW, "engine")


def test_speculation_and_shared_prefixes_have_the_keys_that_the_program_knows():
    config = rl.SpeculativeConfig(model="llama3_8b", num_speculative_tokens=2, acceptance=0.5)
    both = FEW.with_(engine=rl.Engine(speculative_config=config), workload=rl.GeneratedWorkload(shared_prefix=rl.SharedPrefix(2, 64)))
    assert fields(rl.SpeculativeConfig) == known_keys(both, "engine.speculative_config")
    assert fields(rl.SharedPrefix) == known_keys(both, "workload.shared_prefix")
    whole = both.resolved()
    assert whole.engine.speculative_config.acceptance == 0.5 and whole.workload.shared_prefix == rl.SharedPrefix(2, 64)
    assert rl.run(whole).result == rl.run(both).result
    assert rl.run(both).requests.cached_tokens.max() == 64


def test_a_scenario_has_the_parts_that_the_program_knows():
    assert fields(rl.Scenario) - {"base", "overrides"} == known_keys(FEW, "")


@pytest.mark.parametrize("key, law", [(key, law) for key, laws in LAWS.items() for law in laws if not isinstance(law, int)])
def test_a_law_has_the_parameters_that_the_program_knows(key, law):
    scenario = FEW.with_(workload=rl.GeneratedWorkload(**{key: law}))
    assert fields(type(law)) == known_keys(scenario, f"workload.{key}.{law._law}")


def test_workloads_have_the_keys_that_the_program_knows(tmp_path):
    (tmp_path / "t.csv").write_text(TRACE)
    trace = FEW.with_(workload=rl.TraceWorkload(tmp_path / "t.csv"))
    assert known_keys(FEW, "workload") | known_keys(trace, "workload") == fields(rl.GeneratedWorkload, rl.TraceWorkload) | {"training"}
    training = rl.Scenario("b_training")
    assert known_keys(training, "workload.training") == fields(rl.TrainingWorkload)


@pytest.mark.parametrize("key, law", [(key, law) for key, laws in LAWS.items() for law in laws])
def test_laws_are_read_back_as_they_were_written(key, law):
    scenario = FEW.with_(workload=rl.GeneratedWorkload(**{key: law}))
    back = getattr(scenario.resolved().workload, key)
    assert type(back) is type(law)
    twice = scenario.resolved().resolved()
    assert getattr(twice.workload, key) == back


def test_typed_scenarios_mean_what_overrides_mean():
    engine, workload = rl.Engine(max_num_seqs=4, enforce_eager=True), rl.GeneratedWorkload(requests=5)
    typed = rl.Scenario("chat_8b", hw="mi325x", engine=engine, workload=workload, seed=3)
    said = {"hw": "mi325x", "engine.max_num_seqs": 4, "engine.enforce_eager": True, "workload.requests": 5, "seed": 3}
    assert rl.run(typed).result == rl.run("chat_8b", said).result
    assert rl.run(typed, {"seed": 4}).result == rl.run("chat_8b", said | {"seed": 4}).result


def test_a_resolved_scenario_runs_the_same_with_nothing_below_it(tmp_path):
    scenario = FEW.with_(hw={"base": "mi300x", "hbm": {"capacity": "100 GB"}}, engine=rl.Engine(cudagraph_capture_sizes=[1, 2, 8]))
    whole = scenario.resolved()
    assert whole.base is None and whole.hw["hbm"]["capacity"] == "100 GB" and whole.engine.cudagraph_capture_sizes == [1, 2, 8]
    (tmp_path / "s.yaml").write_text(scenario.to_yaml())
    expected = rl.run(scenario)
    assert rl.run(whole).result == rl.run(tmp_path / "s.yaml").result == expected.result
    assert whole.resolved() == whole and scenario.to_yaml() == expected.scenario_yaml


def test_a_workload_of_another_kind_replaces_the_one_below(tmp_path):
    (tmp_path / "t.csv").write_text(TRACE)
    replay = rl.Scenario("chat_8b", workload=rl.TraceWorkload(tmp_path / "t.csv", time_scale=0.5))
    assert rl.run(replay).metrics.num_prompts == 2
    back = replay.with_(workload=rl.GeneratedWorkload(requests=3, arrivals=rl.ClosedLoop(1), prompt_tokens=10, output_tokens=2))
    path = tmp_path / "replay.yaml"
    path.write_text(replay.to_yaml())
    for scenario in (back, rl.Scenario(path, workload=back.workload)):
        assert rl.run(scenario).requests.prompt_tokens.tolist() == [10, 10, 10]
    training = rl.Scenario("chat_8b", workload=rl.TrainingWorkload(microbatch=1, sequence=128))
    assert rl.run(training).metrics.num_prompts == 0


def test_lengths_follow_quantiles_and_requests_are_gathered():
    workload = rl.GeneratedWorkload(
        requests=40, arrivals=rl.ConstantArrivals(100), prompt_tokens=rl.QuantileLength([10, 20, 30]), gather=rl.Gather("100 ms", 8)
    )
    run = rl.run(FEW.with_(workload=workload))
    assert 10 <= run.requests.prompt_tokens.min() and run.requests.prompt_tokens.max() <= 30
    assert run.steps.prefill_sequences.max() == 8  # 100 a second are 10 in 100 ms; 8 fill a batch
    whole = FEW.with_(workload=workload).resolved()
    assert whole.workload.prompt_tokens == rl.QuantileLength([10, 20, 30]) and whole.workload.gather == rl.Gather("100 ms", 8)
    assert rl.run(whole).result == run.result
    assert fields(rl.Gather) == known_keys(FEW.with_(workload=workload), "workload.gather")


def test_lengths_are_drawn_from_a_trace(tmp_path):
    (tmp_path / "t.csv").write_text(TRACE)
    run = rl.run(FEW.with_(workload=rl.GeneratedWorkload(prompt_tokens=rl.EmpiricalLength(tmp_path / "t.csv"))))
    assert set(run.requests.prompt_tokens) <= {374, 396}


def test_with_adds_to_an_engine_and_leaves_the_first_scenario_alone():
    first = rl.Scenario("chat_8b", engine=rl.Engine(max_num_seqs=4), overrides={"seed": 1})
    second = first.with_({"model.quantization": "fp8"}, engine=rl.Engine(block_size=32), hw="h200")
    assert second.engine == rl.Engine(max_num_seqs=4, block_size=32)
    assert second.overrides == {"seed": 1, "model.quantization": "fp8"}
    assert (first.hw, first.engine, first.overrides) == (None, rl.Engine(max_num_seqs=4), {"seed": 1})
    assert pickle.loads(pickle.dumps(second)) == second
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.seed = 2


def test_another_machine_has_another_price():
    first = FEW.with_(usd_per_gpu_hour=9.0)
    assert rl.Scenario(**vars(first)).resolved().usd_per_gpu_hour == 9.0
    assert first.with_(hw="h200").usd_per_gpu_hour is None
    assert first.with_(hw="h200", usd_per_gpu_hour=5.0).resolved().usd_per_gpu_hour == 5.0


def test_what_is_said_later_wins():
    four = FEW.with_({"engine.max_num_seqs": 4, "engine.block_size": 32})
    assert four.with_(engine=rl.Engine(max_num_seqs=8)).overrides == {"engine.block_size": 32}
    assert four.with_(engine=rl.Engine(max_num_seqs=8)).resolved().engine.max_num_seqs == 8
    assert four.with_({"engine.max_num_seqs": 2}, engine=rl.Engine(max_num_seqs=8)).resolved().engine.max_num_seqs == 2
    machine = FEW.with_({"hw": "mi300x", "hw.hbm.capacity": "100 GB", "usd_per_gpu_hour": 9.0})
    assert machine.with_(hw="h200").overrides == {}
    assert machine.with_(hw="h200").resolved().hw["name"] == "NVIDIA H200 SXM"
    whole = FEW.with_({"engine": {"max_num_seqs": 4, "block_size": 32}}).with_(engine=rl.Engine(max_num_seqs=8)).resolved().engine
    assert (whole.max_num_seqs, whole.block_size) == (8, 32)


@pytest.mark.parametrize("name", ["run #1", "a: b", "[x", "- y", "*z", "null", "\U0001f600", 'he said "no"', "back\\slash", "two\nlines"])
def test_text_of_a_field_means_itself(name):
    assert FEW.with_(name=name).resolved().name == name


def test_paths_may_have_any_name(tmp_path):
    path = tmp_path / "h200 #2: \U0001f600.yaml"
    path.write_text("base: h200\nname: the second\n")
    assert FEW.with_(hw=path).resolved().hw["name"] == "the second"
    assert FEW.with_(hw=str(path)).resolved().hw["name"] == "the second"
    assert FEW.with_(hw={"base": path, "name": "third #3"}).resolved().hw["name"] == "third #3"


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: rl.Engine(max_num_seq=5), "engine.max_num_seq: unknown key; did you mean 'max_num_seqs'?"),
        (lambda: rl.Scenario("chat_8b", engin=1), "engin: unknown key; did you mean 'engine'?"),
        (lambda: rl.PoissonArrivals(rat=1.0), "workload.arrivals.poisson.rat: unknown key; did you mean 'rate'?"),
        (lambda: FEW.with_(model="llama3_8c").resolved(), "model: unknown name 'llama3_8c'; did you mean 'llama3_8b'?"),
        (lambda: FEW.with_(engine={"max_num_seq": 5}).resolved(), "engine.max_num_seq: unknown key; did you mean 'max_num_seqs'?"),
        (lambda: FEW.with_(hw={"base": "mi300x", "hbmm": {}}).resolved(), "hw.hbmm: unknown key; did you mean 'hbm'?"),
        (lambda: FEW.with_(engine=rl.Engine(max_num_seqs="many")).resolved(), "engine.max_num_seqs: expected a whole number"),
        (lambda: rl.Scenario(model="llama3_8b").resolved(), "hw: expected a name, a path or a map"),
        (lambda: rl.names("gpus"), "unknown kind 'gpus'"),
    ],
)
def test_what_is_wrong_is_said_in_the_programs_words(make, words):
    with pytest.raises(rl.ConfigError) as error:
        make()
    assert words in str(error.value)


def test_values_may_be_numpys():
    numpy = pytest.importorskip("numpy")
    few = FEW.with_({"engine.max_num_seqs": numpy.int64(4), "engine.cudagraph_capture_sizes": numpy.array([1, 2])})
    assert few.resolved().engine.cudagraph_capture_sizes == [1, 2]
