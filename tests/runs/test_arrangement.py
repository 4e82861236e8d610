"""Files of folders as frameworks write them: which run, worker and span each becomes."""

from __future__ import annotations

from torch_tb_profiler.runs.entries import Arrangement, Entry, arrange
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place

NS = "1752829956515000000"


def arranged(*paths: str) -> Arrangement:
    entries = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        entry = Entry("", Place("logs"), ListedFile(Place(f"logs/{path}"), folder, name, 1, 0, "0"))
        entry.judged = True
        entries.append(entry)
    return arrange(entries)


def shape(found: Arrangement) -> dict[str, dict[str, tuple[int | None, list[str]]]]:
    """Rank and labels of the spans, by run and worker."""
    return {
        run.name: {w.name: (w.rank, [span.label for span in w.spans]) for w in run.workers}
        for run in found.runs
    }


def test_iterations_of_a_rank_are_its_spans() -> None:
    paths = [f"traces/iteration_{n}/rank{rank}_trace.json.gz" for n in (100, 20) for rank in (0, 1)]
    spans = ["1 · iteration_20", "2 · iteration_100"]
    assert shape(arranged(*paths)) == {
        "traces": {"rank0_trace": (0, spans), "rank1_trace": (1, spans)}
    }


def test_the_run_of_an_iteration_in_the_logdir_is_the_logdir() -> None:
    assert shape(arranged("step_1/rank0.json", "step_2/rank0.json")) == {
        "logs": {"rank0": (0, ["1 · step_1", "2 · step_2"])}
    }


def test_stages_of_a_server_are_spans_and_its_front_end_is_no_rank() -> None:
    stages = [f"1758012345.5-TP-{tp}-{stage}.trace.json.gz" for tp in (0, 1) for stage in "DE"]
    found = arranged(*stages, f"host_7.async_llm.{NS}.pt.trace.json.gz")
    times = [f"{n} · {stage} · 16 September 2025 08:45" for n, stage in ((1, "D"), (2, "E"))]
    workers = shape(found)["logs"]
    assert workers.pop("host_7.async_llm")[0] is None
    assert workers == {"TP-0": (0, times), "TP-1": (1, times)}
    places = {worker.name: worker.places for worker in found.runs[0].workers}
    assert places == {"TP-0": (("TP", 0),), "TP-1": (("TP", 1),), "host_7.async_llm": ()}


def test_a_folder_named_after_a_rank_is_a_worker() -> None:
    found = arranged(*(f"t/rank_{rank}/host_{rank + 40}.{NS}.pt.trace.json" for rank in (0, 1)))
    assert {name: rank for name, (rank, _) in shape(found)["t"].items()} == {
        "rank_0": 0,
        "rank_1": 1,
    }
