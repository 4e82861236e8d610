"""Two figures of one name and one subject are equal, whichever route states them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from tests import public
from tests.web.served import body, client
from tests.web.test_real_traces import Loaded
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.wire import Subject, Wire
from torch_tb_profiler.web.route_table import ROUTES

pytestmark = pytest.mark.slow

SAMPLES = (
    "cnn_workers_0",
    "cnn_workers_2",
    "ddp_gloo",
    "inference",
    "transformer",
    "synthetic_ddp8",
)
MOST_ASKED = 2
"""Ranks of a run that are asked."""
STATES = ("step_ns", "mean_ns", "measured_ns", "median_ns", "average", "strips", "spreads")
"""What a reply calls the length of a step, or of several."""
OF_ONE_EVENT = ("/trace/event/path",)

Figure = tuple[str, tuple[str, ...], float]


def test_every_reply_that_tells_how_long_steps_are_says_whose_they_are() -> None:
    for path, route in ROUTES.items():
        if not issubclass(route.answers, Wire) or path in OF_ONE_EVENT:
            continue
        fields = get_type_hints(route.answers)
        if set(STATES) & set(fields):
            assert fields.get("subject") is Subject, path


def of(told: dict[str, str], **other: object) -> tuple[str, ...]:
    """A subject, or one like it; where there are steps its kind follows from them."""
    plain = told | {key: str(value) for key, value in other.items()}
    kind = "" if plain["steps"] else plain["kind"]
    return (*(plain[key] for key in ("job", "recording", "ranks", "steps")), kind)


def rows(name: str, told: dict[str, str], table: dict[str, Any], key: str) -> Iterator[Figure]:
    """Of each step its length; of very many steps a row is several."""
    for step, wall, many in zip(
        table["step"], table[key], table.get("steps", [1] * len(table["step"])), strict=True
    ):
        if many == 1 and wall is not None:
            yield name, of(told, steps=step), wall


def of_parts(path: dict[str, Any], steps: int) -> Iterator[Figure]:
    """What the parts of a path add up to: of all its ``steps`` their mean, else the length of the one that is drawn."""
    strips, total = path["strips"], sum(path["parts"]["path_ns"])
    if steps and len(strips) == steps:
        yield "mean", of(path["subject"]), total / steps
    elif len(strips) == 1:
        subject = of(path["subject"], steps=strips[0]["step"])
        yield "drawn", subject, strips[0]["end_ns"] - strips[0]["start_ns"]
        yield "drawn", subject, total


def figures(asked: dict[str, Any]) -> Iterator[Figure]:
    """What the replies of all routes of one trace say of the length of steps and of the use of devices."""
    page, found = asked["/overview?"], asked["/findings?"]
    for reply in (page, asked["/steps?"]):
        yield from rows("step", reply["subject"], reply["steps"], "wall_ns")
    if page["average"]:
        yield "mean", of(page["subject"]), page["average"]["wall_ns"]
    for device in page["devices"]:
        yield f"busy {device['id']}", of(page["subject"]), device["utilization"]
    if found["step_ns"]:
        if ", the median of " in found["about"]:
            yield "median", of(found["subject"]), found["step_ns"]
        yield "mean", of(found["subject"]), found["mean_ns"]
        if found["subject"]["steps"]:
            yield "step", of(found["subject"], steps=found["median"]), found["step_ns"]
    if (said := found["told"])["whole_ns"]:
        yield "step", of(said["subject"]), said["whole_ns"]
    changed = asked["/what_if?"]
    if changed["measured_ns"] is not None:
        yield "mean", of(changed["subject"]), changed["measured_ns"]
    path = asked["/critical_path?"]
    counted = len(path["steps"]["step"])
    if sum(path["steps"]["steps"]) == counted:
        yield from of_parts(path, counted)
    earlier = page["steps"]["earlier_ns"]
    for strip in path["strips"]:
        # A strip begins behind work from before the recording.
        if path["subject"]["steps"] and len(earlier) > strip["step"] and not earlier[strip["step"]]:
            yield (
                "step",
                of(path["subject"], steps=strip["step"]),
                strip["end_ns"] - strip["start_ns"],
            )
    own = asked["/critical_path/steps?ranks=own&"]
    yield from rows("step", own["subject"], own["steps"], "wall_ns")
    if own["median_ns"] >= 0:
        yield "step", of(own["subject"], steps=own["median"]), own["median_ns"]
    for side in "ab":
        told = asked["/diff?"][side]
        if told["mean_ns"] is not None:
            yield "mean", of(told["subject"]), told["mean_ns"]
    if "/distributed?" in asked:
        yield from job_figures(asked)


def job_figures(asked: dict[str, Any]) -> Iterator[Figure]:
    """Of the job's steps, and of those of the asked rank by its place among them."""
    page, ranks = asked["/distributed?"], asked["/distributed/map?measure=step&"]
    worker = next(
        row
        for row, one in enumerate(page["workers"])
        if one["worker"] == asked["/overview?"]["subject"]["ranks"]
    )
    for step, length in zip(page["own_steps"], ranks["values_ns"][worker], strict=False):
        if step >= 0 and length is not None and len(ranks["column_begin"]) == len(page["steps"]):
            yield "step", of(asked["/overview?"]["subject"], steps=step), length
    path = asked["/critical_path/ranks?"]
    yield from of_parts(path, path["steps"])
    for strip in path["strips"]:
        length = strip["end_ns"] - strip["start_ns"]
        yield "step", of(path["subject"], steps=strip["step"]), length
    every = asked["/critical_path/steps?ranks=all&"]
    yield from rows("step", every["subject"], every["steps"], "wall_ns")
    slow = asked["/stragglers?"]
    if slow["measured_ns"] is not None:
        yield "mean", of(slow["subject"]), slow["measured_ns"]
    for finding in asked["/findings?"]["findings"]:
        if finding["subject"]:
            length = finding["recoverable_ns"] / finding["share"]
            yield "step", of(finding["subject"]), length


def asked_of(opened: Opened, traces: list[Opened]) -> dict[str, Any]:
    where = f"run={opened.run.name}&worker={opened.worker.name}&span={opened.span.name}"
    second = (
        where.replace("run=", "run2=").replace("worker=", "worker2=").replace("span=", "span2=")
    )
    routes = [
        "/overview?",
        "/steps?",
        "/findings?",
        "/what_if?",
        "/critical_path?",
        "/critical_path/steps?ranks=own&",
    ]
    if len(opened.beside) > 1:
        routes += [
            "/distributed?",
            "/distributed/map?measure=step&",
            "/critical_path/ranks?",
            "/critical_path/steps?ranks=all&",
            "/stragglers?",
        ]
    server, replies = client(Loaded(traces)), {}  # type: ignore[arg-type]
    for route in (*routes, f"/diff?{second}&"):
        # On a busy machine an answer may take longer than a request waits for it.
        while (answer := server.get(f"{route}{where}")).status_code == 202:
            pass
        assert answer.status_code == 200, (route, answer.data[:300])
        replies[route.replace(f"{second}&", "")] = json.loads(body(answer))
    return replies


def agree(asked: dict[str, Any]) -> None:
    """Equal, but for what rounding to nanoseconds leaves."""
    known: dict[tuple[str, tuple[str, ...]], float] = {}
    # Means are over the same steps, whoever is asked.
    of_means = [asked[route]["subject"] for route in ("/overview?", "/critical_path?", "/what_if?")]
    assert of_means == of_means[:1] * 3
    for name, subject, value in figures(asked):
        before = known.setdefault((name, subject), value)
        assert value == pytest.approx(before, rel=1e-5, abs=1), (name, subject)


@pytest.mark.parametrize("run", SAMPLES)
def test_of_samples(samples: Path, run: str) -> None:
    traces = [t for t in load_all(str(samples / run), Settings()) if isinstance(t, Opened)]
    for opened in traces[:MOST_ASKED]:
        agree(asked_of(opened, traces))


@pytest.mark.parametrize("run", public.asked(public.FOLDERS))
def test_of_public_traces(real_traces: Path, run: Path) -> None:
    traces = [t for t in load_all(str(run), Settings()) if isinstance(t, Opened)]
    for opened in traces[:MOST_ASKED]:
        agree(asked_of(opened, traces))
