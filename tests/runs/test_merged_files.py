"""A server's catalogue of files that several ranks were merged into."""

from __future__ import annotations

import json
from pathlib import Path

from tests.builders.loop import document
from tests.builders.merged import Variant, merged_file, rank_files
from tests.runs.conftest import Start, until, write
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.model import State
from torch_tb_profiler.runs.whole_logdir import make_all
from torch_tb_profiler.settings import Settings

IMPORT = "torch_tb_profiler.runs.import_job:run_import"
TWO = Variant(ranks=2, steps=3, label=0, alike=False, seed=7)


def workers(catalogue: Catalogue) -> list[tuple[str, int | None, str]]:
    """Name, rank and state of every worker's only span."""
    runs = catalogue.snapshot().runs
    return [(w.name, w.rank, w.spans[0].state.value) for run in runs for w in run.workers]


READY = [("TP00", 0, "ready"), ("TP01", 1, "ready")]


def test_each_rank_is_a_worker_and_goes_with_the_file(logdir: Path, start: Start) -> None:
    path = write(logdir / "run" / "merged-1.trace.json", json.dumps(merged_file(TWO)))
    catalogue = start(logdir, maker=IMPORT)
    until(lambda: workers(catalogue) == READY)
    for number, events in enumerate(rank_files(TWO)):
        opened = catalogue.open("run", f"TP0{number}", "merged-1.trace")
        kernels = [event for event in events if event["cat"] == "kernel"]
        assert opened.facts.summary.work[0] == len(kernels)
        # The whole event, from the file that it shares with the others.
        row = int((opened.trace["spans"]["correlation"] > 0).argmax())
        event = json.loads(EventTexts().read(opened, row))
        assert event["pid"] == f"[TP0{number}] {events[0]['pid']}"
    # Somebody else finds what was made.
    again = start(logdir, maker="tests.runs.targets:obey")
    until(lambda: workers(again) == READY)
    path.unlink()
    until(lambda: not workers(catalogue) and not workers(again))


def test_a_copy_is_set_aside_when_the_ranks_files_arrive(logdir: Path, start: Start) -> None:
    write(logdir / "run" / "everything.json", json.dumps(merged_file(TWO)))
    catalogue = start(logdir, maker=IMPORT)
    until(lambda: workers(catalogue) == READY)
    for number, events in enumerate(rank_files(TWO)):
        content = document(events, rank=number, world=2)
        write(logdir / "run" / f"rank{number}.json", json.dumps(content))
    until(
        lambda: workers(catalogue) == [("rank0", 0, "ready"), ("rank1", 1, "ready")],
        str(workers(catalogue)),
    )
    (aside,) = (f for f in catalogue.snapshot().files if f.state is State.REJECTED)
    assert aside.path == "run/everything.json"
    assert aside.reason.startswith("A merged copy")


def test_all_ranks_of_a_file_are_made_ahead(logdir: Path, settings: Settings) -> None:
    write(logdir / "run" / "merged-1.trace.json", json.dumps(merged_file(TWO)))
    for made in (True, False):
        found = make_all(str(logdir), settings)
        assert [(trace.worker, trace.state, trace.made) for trace in found] == [
            ("TP00", "ready", made),
            ("TP01", "ready", made),
        ]
