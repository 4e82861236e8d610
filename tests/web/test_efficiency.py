"""The route of the Efficiency view: whole payloads, the user's own peaks, limits, and what cannot
be said.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.efficiency.cases import ARGUMENTS, H100, NAMES, inputs
from tests.builders.drawn import draw
from tests.web.served import WHERE, WrittenCatalogue, answer, body, catalogue_of, client, error_of

DRAWING = """
main   [ProfilerStep#1           ][ProfilerStep#2           ]
main     [mm     ] [add    ]        [mm     ] [other  ]
main      <L #1>    <L #4>           <L #2>    <L #3>
gpu 7       {gemm #1} {plus #4}         {gemm #2} {plus #3}
"""
FLOPS = 2 * 64 * 128 * 256


def _catalogue(drawing: str = DRAWING, arguments: bool = True, **header: Any) -> WrittenCatalogue:
    trace = draw(drawing, NAMES, ARGUMENTS if arguments else None, **header)
    return catalogue_of(trace)


def _asked(
    query: str = "", catalogue: WrittenCatalogue | None = None, **settings: Any
) -> dict[str, Any]:
    asked = client(catalogue or _catalogue(**H100), **settings)
    return answer(asked, f"/efficiency?{WHERE}{query}")


def test_operators() -> None:
    found = _asked()
    rows = found["rows"]
    assert len({len(column) for column in rows.values()}) == 1
    assert rows["name"] == ["aten::mm", "aten::add", "mine::thing"]
    assert sum(rows["time_ns"]) == found["time_ns"] == 36_000
    assert (rows["calls"], rows["flops"][:2], rows["family"]) == (
        [2, 1, 1],
        [FLOPS, 64 * 256],
        ["gemm", "elementwise", None],
    )
    assert rows["flops_rate"][0] == pytest.approx(2 * FLOPS / 18e-6)
    assert rows["peak"][0] == 989.4e12
    assert rows["flops_share"][0] == pytest.approx(2 * FLOPS / 18e-6 / 989.4e12)
    assert (rows["unit"], rows["precision"]) == (["matrix", "vector", None], ["bf16", "fp32", None])
    assert rows["bound"] == ["latency", "latency", "unknown"]
    assert rows["recoverable_ns"][0] == rows["time_ns"][0] - rows["ideal_ns"][0]
    assert rows["recoverable_ns"][2] is None
    assert (found["missing"], found["notes"], found["pooled"]) == ([], [], 0)
    assert found["device"]["entry"] == "NVIDIA H100 SXM"
    assert found["device"]["name"] == "NVIDIA H100 80GB HBM3"
    assert {(peak["unit"], peak["precision"]) for peak in found["device"]["peaks"]} >= {
        ("matrix", "bf16"),
        ("vector", "fp32"),
    }
    assert all("https://" in peak["source"] for peak in found["device"]["peaks"])


def test_kernels() -> None:
    found = _asked("&group=kernel")
    rows = found["rows"]
    assert sum(rows["time_ns"]) == found["time_ns"]
    assert (rows["kernel"][0], rows["calls"][0]) == (NAMES["gemm"], 2)
    assert rows["short_name"][1] == "vectorized_elementwise_kernel"
    of_kernel, of_family = found["kernels_together"], found["families_together"]
    assert of_kernel["name"][0] == NAMES["gemm"]
    assert of_family["name"] == ["gemm", "elementwise", None]
    for pooled in (of_kernel, of_family):
        assert sum(pooled["time_ns"]) == found["time_ns"]
        assert sum(pooled["calls"]) == sum(rows["calls"])
    assert (of_family["matrix"][:2], of_family["no_roof"][2]) == ([1, 0], "not modelled")
    assert of_family["of_roof"][0] == pytest.approx(rows["of_roof"][0])
    assert _asked()["families_together"]["name"] == []


def test_steps() -> None:
    found = _asked()
    assert [step["flops"] for step in found["steps"]] == [FLOPS, FLOPS]
    for step in found["steps"]:
        assert step["mfu"] == pytest.approx(FLOPS / 989.4e12 / (step["wall_ns"] / 1e9))
    assert found["mfu"] == pytest.approx(
        2 * FLOPS / 989.4e12 / (sum(step["wall_ns"] for step in found["steps"]) / 1e9)
    )
    assert len(_asked("&steps=1")["steps"]) == 1


def test_beyond_the_limit_rows_are_pooled() -> None:
    found = _asked(max_table_rows=1)
    assert (found["rows"]["name"], found["rows"]["calls"], found["pooled"]) == (
        ["aten::mm", "other"],
        [2, 2],
        2,
    )
    assert sum(found["rows"]["time_ns"]) == found["time_ns"]
    assert len({len(column) for column in found["rows"].values()}) == 1


def test_the_users_own_peaks_count_as_they_are_now(tmp_path: Path) -> None:
    file = tmp_path / "peaks.json"
    file.write_text(
        json.dumps({"NVIDIA H100*": {"peaks": {"matrix_bf16": 500}, "source": "measured"}}),
        encoding="utf-8",
    )
    catalogue = _catalogue(**H100)
    asked = client(catalogue, peaks=str(file))

    def peak() -> tuple[float, str]:
        found = json.loads(body(asked.get(f"/efficiency?{WHERE}")))
        [own] = [
            entry
            for entry in found["device"]["peaks"]
            if (entry["unit"], entry["precision"]) == ("matrix", "bf16")
        ]
        assert found["rows"]["peak"][0] == own["rate"]
        return own["rate"], own["source"]

    assert peak() == (500e12, "measured")
    file.write_text(json.dumps({"*": {"peaks": {"matrix_bf16": 250.5}}}), encoding="utf-8")
    assert peak() == (250.5e12, "peaks.json, *")


@pytest.mark.parametrize("content", ["{", '{"*": {"speed": 3}}'])
def test_a_wrong_file_of_peaks_is_one_clear_error(tmp_path: Path, content: str) -> None:
    file = tmp_path / "peaks.json"
    file.write_text(content, encoding="utf-8")
    response = client(_catalogue(**H100), peaks=str(file)).get(f"/efficiency?{WHERE}")
    assert response.status_code == 502
    assert "peaks.json" in error_of(response).error.message
    assert str(tmp_path).encode() not in body(response)


def test_an_unknown_device_is_said_to_be_unknown() -> None:
    found = _asked(
        catalogue=_catalogue(
            deviceProperties=[
                {"id": 0, "name": "NVIDIA Something New", "computeMajor": 9, "computeMinor": 9}
            ]
        )
    )
    assert found["device"]["entry"] is None
    assert found["device"]["name"] == "NVIDIA Something New"
    assert "NVIDIA Something New" in found["notes"][0]
    assert "TORCH_TB_PROFILER_PEAKS" in found["notes"][0]
    assert found["rows"]["flops_rate"][0] > 0
    assert found["rows"]["flops_share"] == [None, None, None]
    assert found["mfu"] is None


def test_without_shapes_it_is_said_how_to_record_them() -> None:
    found = _asked(catalogue=_catalogue(arguments=False, **H100))
    assert [entry["what"] for entry in found["missing"]] == ["Input shapes"]
    assert "record_shapes=True" in found["missing"][0]["call"]
    assert set(found["rows"]["flops"]) == {None}
    assert found["mfu"] is None


def test_without_a_device_host_time_counts() -> None:
    found = _asked(
        catalogue=_catalogue("""
    main   [ProfilerStep#1               ]
    main    [linear              ] [add  ]
    main     [addmm             ]
    """)
    )
    assert not found["has_device"]
    assert found["device"] == {
        "name": None,
        "entry": None,
        "bandwidth": None,
        "bandwidth_source": "",
        "peaks": [],
    }
    assert (found["rows"]["name"], found["rows"]["time_ns"]) == (
        ["aten::linear", "aten::add"],
        [22_000, 7_000],
    )
    assert found["notes"] == []


def test_rows_above_a_peak_are_shown_and_said(tmp_path: Path) -> None:
    file = tmp_path / "peaks.json"
    file.write_text(
        json.dumps({"*": {"bandwidth_gbps": 0.5, "peaks": {"matrix_bf16": 0.1}}}), encoding="utf-8"
    )
    found = _asked(peaks=str(file))
    assert found["rows"]["flops_share"][0] > 1
    assert found["rows"]["recoverable_ns"][0] == 0
    assert [note.split(" (")[0] for note in found["notes"]] == ["1 row reaches", "2 rows reach"]
    # Drawn durations are whole microseconds; the strides of what is drawn are recorded.
    assert "rates of the shortest kernels are rough" in found["notes"][1]
    assert "strides" not in found["notes"][1]


def test_products_without_a_model_are_said() -> None:
    """They make the share of the peak a lower bound."""
    drawing = """
    main   [ProfilerStep#1                         ]
    main     [mm     ] [bmm    ]
    main      <L #1>    <L #2>
    gpu 7       {gemm #1} {gemm #2}
    """
    found = _asked(catalogue=_catalogue(drawing.replace("[bmm    ]", "[aten::bmm]"), **H100))
    assert found["mfu"] is not None
    assert found["notes"][0].startswith("9.00 µs are matrix products")


def test_sizes_that_nothing_can_have(tmp_path: Path) -> None:
    """Figures that no column or reader could hold are unknown, not an error."""
    file = tmp_path / "peaks.json"
    file.write_text(
        json.dumps({"*": {"bandwidth_gbps": 1e-12, "peaks": {"matrix_bf16": 1e-12}}}),
        encoding="utf-8",
    )
    huge = inputs((1 << 20, 1 << 20), (1 << 20, 1 << 20))
    trace = draw(DRAWING, NAMES, ARGUMENTS | {"mm": huge}, **H100)
    catalogue = catalogue_of(trace)
    for group in ("operator", "kernel"):
        found = _asked(f"&group={group}", catalogue, peaks=str(file))
        assert found["rows"]["name"][0] == "aten::mm"
        assert found["rows"]["ideal_ns"][0] is None
    assert found["steps"][0]["flops"] == 2 << 60


def test_several_devices_could_have_worked_side_by_side() -> None:
    """The share of the peak is of all devices that the process used."""
    both: dict[str, Any] = {
        "deviceProperties": [H100["deviceProperties"][0], H100["deviceProperties"][0] | {"id": 1}]
    }
    drawing = """
    main    [ProfilerStep#1           ]
    main      [mm     ]  [mm     ]
    main       <L #1>     <L #2>
    gpu 0:7      {gemm #1}
    gpu 1:7                 {gemm #2}
    """
    found = _asked(catalogue=_catalogue(drawing, **both))
    [step] = found["steps"]
    assert step["flops"] == 2 * FLOPS
    assert step["mfu"] == pytest.approx(2 * FLOPS / (2 * 989.4e12) / (step["wall_ns"] / 1e9))
    assert found["mfu"] == pytest.approx(step["mfu"])
