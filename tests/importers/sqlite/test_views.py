"""Every route on files of both profilers, imported by a live catalogue."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tests.builders import nvprof
from tests.importers.sqlite.asked import TRAININGS, spans
from tests.importers.sqlite.test_recorded import RECORDED, recorded
from tests.loading import load
from tests.web import live
from tests.web.served import body
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.streams import TextInMemory
from torch_tb_profiler.views.steps import step_objects

pytestmark = pytest.mark.processes

STEPPED = (
    "/steps",
    "/overview",
    "/operator",
    "/kernel",
    "/trace",
    "/module",
    "/module/flame",
    "/efficiency",
    "/distributed",
    "/findings",
    "/memory",
)
KINDS = {"nsight": "rank0.sqlite", "nvprof": "rank0.nvprof"}


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Client, dict[str, dict[str, str]], Path]]:
    """A client, the query of each file, and the logdir."""
    logdir = tmp_path_factory.mktemp("logdir")
    for kind, name in KINDS.items():
        (logdir / kind).mkdir()
        TRAININGS[kind](logdir / kind / name)
    for version in RECORDED:
        (logdir / version).mkdir()
        shutil.copy(recorded(version), logdir / version)
    with live.live(logdir, tmp_path_factory.mktemp("cache")) as (catalogue, client):
        yield client, {address["run"]: address for address in live.places(catalogue)}, logdir


Asked = tuple[Client, dict[str, dict[str, str]], Path]


def answer(asked: Asked, kind: str, route: str, **more: str) -> Any:
    client, places, _ = asked
    return live.json_of(live.patiently(client, route, {**places[kind], **more}))


@pytest.mark.parametrize("kind", [*KINDS, *RECORDED])
@pytest.mark.parametrize("route", STEPPED)
def test_every_view_answers(asked: Asked, kind: str, route: str) -> None:
    assert answer(asked, kind, route)


@pytest.mark.parametrize(
    ("kind", "kernel", "communication", "copy"),
    [("nsight", 225_000, 90_000, 10_000), ("nvprof", 190_000, 90_000, 10_000)],
)
def test_overview(asked: Asked, kind: str, kernel: int, communication: int, copy: int) -> None:
    steps = step_objects(answer(asked, kind, "/overview")["steps"])
    assert len(steps) == 3
    for step in steps:
        categories = step["categories_ns"]
        assert (
            categories["kernel"],
            categories["communication"],
            categories["memcpy"],
            categories["memset"],
        ) == (
            kernel,
            communication,
            copy,
            2000,
        )
        assert sum(categories.values()) == step["wall_ns"] == 899_000


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (
            "nsight",
            {
                "aten::addmm": 70_000,
                "aten::relu": 20_000,
                "aten::mm": 50_000,
                "aten::threshold_backward": 50_000,
                "aten::copy_": 10_000,
            },
        ),
        (
            "nvprof",
            {"linear": 70_000, "relu": 15_000, "ReluBackward0": 30_000, "AddmmBackward": 75_000},
        ),
    ],
)
def test_operators(asked: Asked, kind: str, rows: dict[str, int]) -> None:
    payload = answer(asked, kind, "/operator")["rows"]
    times = dict(zip(payload["name"], payload["device_self_ns"], strict=True))
    assert {name: times[name] for name in rows} == {name: 3 * time for name, time in rows.items()}


@pytest.mark.parametrize(
    ("kind", "name", "operator"),
    [
        ("nsight", "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn", "aten::addmm"),
        ("nvprof", nvprof.GEMM, "linear"),
    ],
)
def test_kernels(asked: Asked, kind: str, name: str, operator: str) -> None:
    payload = answer(asked, kind, "/kernel", group="properties")["rows"]
    row = payload["name"].index(name)
    assert (payload["operator"][row], payload["calls"][row], payload["total_ns"][row]) == (
        operator,
        3,
        210_000,
    )


def test_devices_have_their_names(asked: Asked) -> None:
    for kind, name, count in (
        ("nsight", "NVIDIA A100-SXM4-40GB", 108),
        ("nvprof", "Tesla V100-SXM2-16GB", 80),
    ):
        (device,) = answer(asked, kind, "/overview")["devices"]
        assert device["details"].startswith(f"{name} · ")
        assert f" · {count} SMs" in device["details"]


def test_samples_of_gpu_metrics_are_curves_of_the_timeline(asked: Asked) -> None:
    named = {series["name"] for series in answer(asked, "nsight", "/trace/timeline")["counters"]}
    assert {
        "GPU metrics: SMs Active [Throughput %]",
        "GPU metrics: DRAM Read Bandwidth [Throughput %]",
    } <= named


@pytest.mark.parametrize(
    ("kind", "column", "value"), [("nsight", "launchType", "null"), ("nvprof", "completed", "0")]
)
def test_an_event_shows_its_row(asked: Asked, kind: str, column: str, value: str) -> None:
    _, _, logdir = asked
    trace = load(str(logdir / kind / KINDS[kind]), Settings(use_cache=False)).trace
    event = next(
        row for row, (_, category) in enumerate(spans(trace, "category")) if category == "kernel"
    )
    identity = answer(asked, kind, "/trace/timeline")["id"]
    assert (
        answer(asked, kind, "/trace/event", event=str(event), id=identity)["category"] == "kernel"
    )
    payload = answer(asked, kind, "/trace/event/args", event=str(event), id=identity)
    assert {"name": column, "value": value} in payload["arguments"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_is_a_chrome_trace_and_the_file_itself_the_database(
    asked: Asked, kind: str
) -> None:
    client, places, logdir = asked
    path = logdir / kind / KINDS[kind]
    whole = client.get("/trace/file", query_string=places[kind])
    assert (whole.data, whole.content_type) == (path.read_bytes(), "application/vnd.sqlite3")
    opened = load(str(path), Settings(use_cache=False)).trace
    cut = client.get("/trace/file", query_string={**places[kind], "t0": "0", "t1": "10000000"})
    text = gzip.decompress(cut.data)
    reread = read_trace(TextInMemory(text), Settings())
    assert json.loads(text)["deviceProperties"] == opened.header["deviceProperties"]
    columns = ("start", "dur", "category", "correlation", "external", "track")
    assert spans(reread, *columns) == spans(opened, *columns)
    for table in ("operator_args", "device_args"):
        assert [
            opened.strings.many(opened[table][c])
            for c in ("dims", "types", "stack")
            if c in opened[table]
        ] == [
            reread.strings.many(reread[table][c])
            for c in ("dims", "types", "stack")
            if c in reread[table]
        ]
    assert reread["device_args"]["bytes"].tolist() == opened["device_args"]["bytes"].tolist()
    small = client.get("/trace/file", query_string={**places[kind], "t0": "0", "t1": "30000"})
    assert (
        0
        < read_trace(TextInMemory(gzip.decompress(small.data)), Settings())["spans"].n
        < opened["spans"].n / 3
    )


def test_what_is_missing_is_said_in_the_other_profilers_words(asked: Asked) -> None:
    (missing,) = answer(asked, "nsight", "/memory")["missing"]
    assert "do not see PyTorch's allocator" in missing["why"]
    found = {item["what"]: item for item in answer(asked, "nvprof", "/findings")["missing"]}
    assert set(found) == {"Memory records"}
    found = {item["what"]: item for item in answer(asked, "nsight", "/findings")["missing"]}
    assert set(found) == {"Call stacks", "Memory records"}
    assert "was off" not in found["Call stacks"]["why"]


def test_efficiency_says_why_shapes_alone_give_no_share(asked: Asked) -> None:
    (said,) = [
        note for note in answer(asked, "nsight", "/efficiency")["notes"] if "element types" in note
    ]
    assert said.startswith("270 µs are operators")
    assert not [
        note for note in answer(asked, "nvprof", "/efficiency")["notes"] if "element types" in note
    ]


def test_diff_of_both(asked: Asked) -> None:
    _, places, _ = asked
    other = {f"{key}2": value for key, value in places["nvprof"].items()}
    assert answer(asked, "nsight", "/diff", **other)


def test_nothing_is_wrong_with_either(asked: Asked) -> None:
    client, _, _ = asked
    diagnosis = json.loads(body(client.get("/diagnosis")))
    assert set(diagnosis["files"]["state"]) == {"ready"}
