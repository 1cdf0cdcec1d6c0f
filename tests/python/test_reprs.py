"""What objects say of themselves, as text and in a notebook."""

from html.parser import HTMLParser

import pytest
import ridgeline as rl


@pytest.fixture(scope="module")
def run():
    return rl.run("chat_8b", {"workload.requests": 20})


class Checker(HTMLParser):
    """Every element is closed, in order; collects the text."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tables = [], [], 0

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tables += tag == "table"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def shown(thing):
    checker = Checker()
    checker.feed(thing._repr_html_())
    checker.close()
    assert checker.open == []
    return " ".join(checker.text), checker.tables


def test_a_run_shows_metrics_ledger_and_diagnosis(run):
    text, tables = shown(run)
    assert tables >= 4
    for words in ("chat_8b", "AMD Instinct MI300X", "TTFT", "20 of 20", "where the time went", "Binds: bandwidth_bound / decode"):
        assert words in text
    assert repr(run).startswith("Run(chat_8b: ") and "output tokens/s" in repr(run) and "Ledger(" in repr(run)


def test_a_scenario_shows_what_it_resolves_to_or_what_is_wrong_with_it():
    scenario = rl.Scenario("chat_8b", hw="h200", engine=rl.Engine(max_num_seqs=64))
    assert repr(scenario) == "Scenario('chat_8b', hw='h200', engine=Engine(max_num_seqs=64))"
    text, _ = shown(scenario)
    assert "NVIDIA H200" in text and "engine.max_num_seqs" in text and "GammaArrivals(rate='5.53 /s', cv=1.09)" in text
    assert len(repr(scenario.resolved())) < 1000
    text, tables = shown(rl.Scenario("chat_8c"))
    assert "did you mean 'chat_8b'" in text and tables == 0


def test_tables_show_their_first_rows_and_say_how_many_there_are(run):
    text, _ = shown(run.requests)
    assert "20 rows" in text and "finished" in text
    assert repr(run.requests).startswith("Requests: 20 rows of id, status, ")
    text, tables = shown(run.timeline((None, 1.0)))
    assert tables == 1 and "gemm" in text


def test_a_trace_shows_its_classes(run, tmp_path):
    run.write_trace(tmp_path / "<t>.json", window=(None, run.steps.start_ns[5] * 1e-9))
    trace = rl.read_trace(tmp_path / "<t>.json")
    text, tables = shown(trace)
    assert "<t>.json" in text and "attention" in text and tables == 1
    assert "kernels in" in repr(trace)


def test_a_case_shows_its_numbers():
    text, _ = shown(rl.cases("E")[0])
    assert "Case E" in text and "overhead_bound" in text


def test_frames_have_every_column_and_texts_as_categories(run):
    pandas = pytest.importorskip("pandas")
    frame = run.requests.to_frame()
    assert list(frame.columns) == list(run.requests.names) and len(frame) == 20
    assert isinstance(frame["status"].dtype, pandas.CategoricalDtype) and set(frame["status"]) == {"finished"}
    kernels = run.kernels((None, 1.0)).to_frame()
    assert kernels.groupby("kernel_class", observed=True)["duration_ns"].sum()["gemm"] > 0
