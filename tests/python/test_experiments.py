"""What-ifs from Python. PYTHONPATH holds the package as built."""

import pytest
import ridgeline as rl

FEW = {"workload.requests": 24}


def test_variants_stand_side_by_side():
    experiment = rl.whatif("chat_8b", "quantize:int4", "gpu:h200", each=True, overrides=FEW)
    assert [v.name for v in experiment.variants] == ["before", "quantize:int4", "gpu:h200", "quantize:int4 gpu:h200"]
    assert experiment["quantize:int4"].overrides == {"model.quantization": "awq"}
    # One of them is as if it had been run alone.
    alone = rl.run("chat_8b", {**FEW, "hw": "h200"})
    assert experiment["gpu:h200"].figures["output_throughput"] == pytest.approx(alone.metrics.output_throughput, rel=1e-12)
    assert alone.diagnosis is not None
    assert experiment["gpu:h200"].diagnosis["regime"] == alone.diagnosis["regime"]


def test_frames_hold_what_the_variants_do():
    experiment = rl.whatif("chat_8b", "quantize:fp8", overrides=FEW)
    figures, ledger = experiment.to_frame(), experiment.ledger_frame()
    assert list(figures.columns) == list(ledger.columns) == ["before", "quantize:fp8"]
    assert figures.loc["median_tpot_ms", "before"] == experiment["before"].figures["median_tpot_ms"]
    # 8 and 16 bit: half of the weights' bytes.
    assert figures.loc["weight_bytes", "quantize:fp8"] / figures.loc["weight_bytes", "before"] == pytest.approx(0.5, abs=0.07)
    assert (ledger >= 0).all().all()


def test_what_does_not_fit_is_a_variant_with_the_reason():
    experiment = rl.whatif("chat_8b", "model:llama3_405b", overrides=FEW)
    assert "does not fit" in experiment.variants[1].cannot_run
    assert list(experiment.to_frame().columns) == ["before"]
    assert "does not fit" in experiment._repr_html_()


def test_a_change_that_nobody_knows_is_an_error_with_the_nearest_name():
    with pytest.raises(rl.ConfigError, match="did you mean 'quantize'"):
        rl.whatif("chat_8b", "quantise:int4")


def test_changes_in_a_list_are_refused_with_how_to_write_them():
    with pytest.raises(TypeError, match='each its own argument: whatif.scenario, "quantize:int4", "graphs:on".; got a list'):
        rl.whatif("chat_8b", ["quantize:int4"])


def test_a_diagnosis_is_verified_by_running_its_fixes():
    experiment = rl.verify_diagnosis("e_gaps")
    first = experiment.predictions[0]
    assert (first.fix, first.place) == ("graph_capture", "first fix")
    # 450 launches of 8 to 15 us of gaps and more are gone: 1.2 to 1.3x.
    assert first.measured == pytest.approx(1.25, abs=0.06)
    assert "graph_capture" in repr(experiment) and "<table>" in experiment._repr_html_()


def test_the_changes_there_are_can_be_listed():
    known = rl.changes()
    assert "tensor_parallel" not in known and known["tp:N"] == "every matrix over N GPUs"
    assert "graph_capture" in known
