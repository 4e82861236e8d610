"""Event values as real and foreign writers put them: their meaning, and what is counted as a
defect.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.reading import Stream, defects, lost, names, read, span, trace
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.roles import Role


@pytest.mark.parametrize(
    ("ts", "ns"),
    [
        ("1419116105356.59", 1419116105356590),
        ('"1419116105356.590"', 1419116105356590),
        ("-12.001", -12001),
        ("0.0005", 1),
    ],
)
def test_timestamps(ts: str, ns: int) -> None:
    imported = read(trace(span(0, ts=...).replace("}", f', "ts": {ts}}}')))
    assert (imported.origin_ns, imported["spans"]["start"].tolist(), defects(imported)) == (
        ns,
        [0],
        {},
    )


@pytest.mark.parametrize(
    "ts", ["null", '"soon"', "NaN", "Infinity", "N/A", "1e400", "9" * 30, "true", "{}", '""']
)
def test_no_usable_timestamp(ts: str) -> None:
    imported = read(trace(span(0), span(1, ts=...).replace("}", f', "ts": {ts}}}'), span(2)))
    assert names(imported) == ["op0", "op2"]
    assert (imported.entries, lost(imported), imported.defects[d.NO_TIME]) == (3, 1, 1)


def test_integers_beyond_int64() -> None:
    imported = read(
        trace(span(0, '"args": {"External id": 18446744073709551617, "correlation": 7}'), span(1))
    )
    assert imported["spans"]["external"].tolist() == [-1, -1]
    assert imported["spans"]["correlation"].tolist() == [7, -1]
    assert defects(imported) == {d.BIG_INTEGER: 1}


def test_integers_beyond_the_column_count_as_unknown() -> None:
    imported = read(
        trace(
            span(
                0,
                '"args": {"device": 4294967297, "registers per thread": 3000000000, "stream": 7}',
                cat="kernel",
            )
        )
    )
    device = imported["device_args"]
    assert (device["device"][0], device["registers"][0], device["stream"][0]) == (-1, -1, 7)
    assert defects(imported) == {d.BIG_INTEGER: 2}


@given(st.lists(st.integers(-(1 << 33), 1 << 33) | st.integers(-3, 3), min_size=1, max_size=8))
def test_ids_of_frames_are_kept_where_four_bytes_hold_them(ids: list[int]) -> None:
    frames = [
        span(
            row, f'"args": {{"Python id": {id_}, "Python parent id": {row}}}', cat="python_function"
        )
        for row, id_ in enumerate(ids)
    ]
    imported = read(trace(*frames))
    fits = [-(1 << 31) <= id_ < 1 << 31 for id_ in ids]
    told = [id_ if fit else -1 for id_, fit in zip(ids, fits, strict=True)]
    assert imported["python_args"]["id"].tolist() == told
    assert imported["python_args"]["parent"].tolist() == list(range(len(ids)))
    assert imported.defects[d.BIG_INTEGER] == fits.count(False)


def test_extreme_times_do_not_overflow() -> None:
    imported = read(
        trace(
            span(0, ts=-(10**18), dur=10**30),
            span(1, ts=29 * 10**14, dur=29 * 10**14),
            span(2, ts=-29 * 10**14),
            span(3, ts=29 * 10**14, dur=(1 << 53) // 1000),
        )
    )
    # Nothing is recorded for two centuries, so the one event before them is of no recording.
    assert imported["spans"]["start"].tolist() == [0, 0]
    # Of durations of a hundred days a thousand can be summed; longer ones are none.
    assert imported["spans"]["dur"].tolist() == [(1 << 53) // 1000 * 1000, 0]
    assert imported.defects[d.NO_DURATION] == 1
    assert imported.defects[d.UNREAL_TIME] == 1
    assert (imported.entries, lost(imported)) == (4, 2)


@pytest.mark.parametrize(
    ("word", "kind"),
    [("NaN", d.REPAIRED), ("-Infinity", d.REPAIRED), ("N/A", d.REPAIRED), ("Infinity", d.REPAIRED)],
)
def test_bare_words(word: str, kind: str) -> None:
    imported = read(
        trace(
            span(0),
            span(1, '"args": {"blocks per SM": ' + word + ', "stream": 7}', cat="kernel"),
            span(2),
        )
    )
    assert names(imported) == ["op0", "op1", "op2"]
    assert imported["device_args"]["stream"].tolist() == [7]
    assert np.isnan(imported["device_args"]["blocks_per_sm"][0])
    assert defects(imported) == {kind: 1}


@pytest.mark.parametrize(
    ("missing", "kind"),
    [
        ("cat", d.NO_CATEGORY),
        ("dur", d.NO_DURATION),
        ("name", d.NO_NAME),
        ("pid", None),
        ("tid", None),
    ],
)
def test_event_without(missing: str, kind: str | None) -> None:
    imported = read(trace(span(0), span(1, "", **{missing: ...}), span(2)))
    assert imported["spans"].n == 3
    assert defects(imported) == ({kind: 1} if kind else {})


def test_event_without_ts_or_phase() -> None:
    imported = read(
        trace(span(0), span(1, ts=...), span(2, ph=...), span(3, ph="XX"), span(4, ph="é"))
    )
    assert names(imported) == ["op0"]
    assert (imported.entries, imported.defects[d.NO_TIME], imported.defects[d.UNKNOWN_PHASE]) == (
        5,
        1,
        3,
    )


def test_negative_duration() -> None:
    imported = read(trace(span(0, dur=-3)))
    assert imported["spans"]["dur"].tolist() == [0]
    assert defects(imported) == {d.NEGATIVE_DURATION: 1}


@pytest.mark.parametrize("args", ["null", "[]", '"text"', "[1, {}]", "17", "true", "{}"])
def test_arguments_that_are_no_object(args: str) -> None:
    imported = read(trace(span(0), span(1, '"args": ' + args), span(2)))
    assert names(imported) == ["op0", "op1", "op2"]
    assert set(defects(imported)) <= {d.WRONG_TYPE}


@pytest.mark.parametrize(
    ("value", "number", "kind"),
    [
        ('"12"', 12, None),
        ("12.0", 12, None),
        ("true", -1, d.WRONG_TYPE),
        ("[1]", -1, d.WRONG_TYPE),
        ('"a"', -1, d.WRONG_TYPE),
        ("null", -1, None),
    ],
)
def test_arguments_of_wrong_types(value: str, number: int, kind: str | None) -> None:
    imported = read(
        trace(
            span(0),
            span(1, '"args": {"External id": ' + value + ', "Sequence number": 3}'),
            span(2),
        )
    )
    assert imported["spans"]["external"].tolist() == [-1, number, -1]
    assert 3 in imported["operator_args"]["sequence"].tolist()
    assert defects(imported) == ({kind: 1} if kind else {})


def test_threads_named_by_text_or_number_are_the_same() -> None:
    imported = read(
        trace(
            span(0, pid="Spans", tid="stream 7"),
            span(1, pid="1", tid="7"),
            span(2, pid=1, tid=7),
            span(3, pid=1.0, tid=7.0),
        )
    )
    tracks = [
        (imported.strings[int(p)], imported.strings[int(t)])
        for p, t in zip(imported["tracks"]["pid"], imported["tracks"]["tid"], strict=True)
    ]
    assert sorted(tracks) == [("1", "7"), ("Spans", "stream 7")]
    assert len(set(imported["spans"]["track"].tolist()[1:])) == 1


def _mark(phase: str, name: str, ts: float, tid: Any = 1) -> str:
    return json.dumps({"ph": phase, "name": name, "cat": "cpu_op", "pid": 1, "tid": tid, "ts": ts})


def test_spans_nested_5000_deep() -> None:
    deep = [span(i, ts=100 + i, dur=20_000 - 2 * i) for i in range(5000)]
    imported = read(trace(*deep))
    assert names(imported) == [f"op{i}" for i in range(5000)]
    begin_end = [_mark("B", f"b{i}", i) for i in range(5000)] + [
        _mark("E", "", 5000 + i) for i in range(5000)
    ]
    assert read(trace(*begin_end))["spans"]["dur"].tolist() == [
        (9999 - 2 * i) * 1000 for i in range(5000)
    ]


@pytest.mark.parametrize("deep", ["[" * 5000 + "]" * 5000, '{"a": ' * 5000 + "1" + "}" * 5000])
@pytest.mark.parametrize("chunk", [1000, 2 << 20])
def test_arguments_nested_5000_deep(deep: str, chunk: int) -> None:
    imported = read(
        trace(span(0), span(1, '"args": {"External id": 5, "deep": ' + deep + "}"), span(2)), chunk
    )
    assert names(imported) == ["op0", "op1", "op2"]
    assert imported["spans"]["external"].tolist() == [-1, 5, -1]
    # From Python 3.12 on the decoder may go deep enough to need no repair.
    assert defects(imported) in ({d.REPAIRED: 1}, {})


def test_duplicates_are_stored_once_also_when_interleaved() -> None:
    a, b = (
        span(1, '"args": {"correlation": 1}', name="a"),
        span(1, '"args": {"correlation": 2}', name="b"),
    )
    imported = read(trace(a, b, a, b, a))
    assert sorted(names(imported)) == ["a", "b"]
    assert (imported.entries, defects(imported)) == (5, {d.DUPLICATE: 3})


def test_equal_events_without_ids_may_both_have_happened() -> None:
    assert read(trace(span(1), span(1)))["spans"].n == 2


def _point(phase: str, name: str, ts: float, **args: Any) -> str:
    return json.dumps(
        {
            "ph": phase,
            "name": name,
            "cat": "c",
            "pid": 1,
            "tid": 1,
            "ts": ts,
            "args": args,
            "s": "t",
        }
    )


@pytest.mark.parametrize(
    "neighbour",
    [
        span(0),
        span(0, '"args": {"External id": "1"}'),
        '{"ph": "X", "name": "a"b", "ts": 1}',
        '{"ph": 5}',
    ],
)
def test_counters_and_instants_keep_their_arguments(neighbour: str) -> None:
    imported = read(
        trace(
            neighbour,
            _point("C", "memory", 101, used=5, l=[{"a": 1}, {"b": 2}]),
            _point("i", "mark", 102, text="},{"),
            span(1),
        )
    )
    assert names(imported, "instants") == ["memory", "mark"]
    assert imported.strings.many(imported["instants"]["args"].tolist()) == [
        '{"used":5,"l":[{"a":1},{"b":2}]}',
        '{"text":"},{"}',
    ]
    assert bytes(imported["instants"]["phase"].tolist()) == b"Ci"


def test_memory_records() -> None:
    args = {
        "Addr": 2**63 + 5,
        "Bytes": -512,
        "Device Type": 1,
        "Device Id": 0,
        "Total Allocated": 10,
        "Total Reserved": 20,
    }
    imported = read(
        trace(span(0), _point("i", "[memory]", 103, **args), _point("i", "[memory]", 104, Bytes=7))
    )
    memory = imported["memory"]
    assert memory["address"].tolist() == [2**63 + 5, 0]
    assert memory["bytes"].tolist() == [-512, 7]
    assert memory["device_type"].tolist() == [1, -1]
    assert memory["reserved"].tolist() == [20, -1]
    assert imported["instants"].n == 0


def test_flows_with_numbers_and_texts_as_ids() -> None:
    events = [
        json.dumps({"ph": p, "id": i, "pid": 1, "tid": 1, "ts": 101, "cat": "ac2g", "name": "ac2g"})
        for p in "sf"
        for i in (7, "7", "0x1f", "abc")
    ]
    flows = read(trace(span(0), *events))["flows"]
    ids = flows["id"].tolist()
    assert ids[:4] == ids[4:]
    assert (ids[0], ids[1], ids[2]) == (7, 7, 31)
    assert ids[3] > 1 << 61


def test_metadata_names_processes_and_threads() -> None:
    def named(what: str, **args: Any) -> str:
        return json.dumps({"ph": "M", "name": what, "pid": 1, "tid": 2, "ts": 0, "args": args})

    process = named("process_name", name="python"), named("process_labels", labels="GPU 0")
    imported = read(
        trace(
            *process,
            named("thread_name", name="main é"),
            named("thread_sort_index", sort_index=3),
            span(0),
        )
    )
    tracks = imported["tracks"]
    assert [
        imported.strings[int(tracks[c][0])]
        for c in ("process_name", "process_label", "thread_name")
    ] == ["python", "GPU 0", "main é"]
    assert tracks["thread_sort"].tolist() == [3]


def test_far_away_instants_are_left_out_and_counted() -> None:
    imported = read(
        trace(span(0), _point("i", "Record Window End", 1.7e15), _point("i", "near", 300))
    )
    assert names(imported, "instants") == ["near"]
    assert defects(imported) == {d.FAR_EVENT: 1}


@pytest.mark.parametrize(
    "name", ["aten::größe", "核函数", 'tab\tquote"back\\slash', "😀", "},{", "", " "]
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_names_in_any_script(name: str, ascii_only: bool) -> None:
    event = json.dumps({**json.loads(span(0)), "name": name}, ensure_ascii=ascii_only)
    assert names(read(trace(event))) == [name]


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    imported = read(
        trace(span(0), span(1, name="a\udc80b"), span(2, name="c\ud800"), span(3, name="😀"))
    )
    assert names(imported) == ["op0", "a\ufffdb", "c\ufffd", "😀"]
    assert defects(imported) == {d.REPAIRED: 2}


def test_roles_come_from_categories() -> None:
    imported = read(
        trace(
            span(0, cat="Kernel"),
            span(1, cat="foo_runtime"),
            span(2, cat="never seen"),
            span(3, cat="python_function"),
        )
    )
    assert imported["spans"]["role"].tolist() == [
        Role.KERNEL,
        Role.RUNTIME,
        Role.OTHER,
        Role.PYTHON,
    ]
    assert defects(imported) == {d.UNKNOWN_CATEGORY: 1}


def test_a_user_tells_the_role_of_a_category() -> None:
    data = trace(span(0, cat="npu_kernel"), span(1, cat="NPU_Call"), span(2, cat="cpu_op")).encode()
    imported = read_trace(
        Stream(data, 1 << 30),
        Settings(categories="npu_kernel=kernel, npu_call = Runtime, cpu_op=annotation"),
    )
    assert imported["spans"]["role"].tolist() == [Role.KERNEL, Role.RUNTIME, Role.ANNOTATION]
    assert not defects(imported)
    for wrong in ("npu_kernel", "npu_kernel=gpu", "=kernel"):
        with pytest.raises(BadRequest, match="category=role"):
            read_trace(Stream(data, 1 << 30), Settings(categories=wrong))


def test_a_flow_id_of_any_type() -> None:
    flows = [
        json.dumps({"ph": "s", "cat": "ac2g", "pid": 1, "tid": 2, "ts": 1, "id": value})
        for value in (True, 7, 2.0, 2.5, "0x1f", None)
    ]
    assert read(trace(span(0), *flows))["flows"]["id"].tolist() == [1, 7, 2, -1, 31, -1]


def test_instants_that_were_given_a_length() -> None:
    """As ``export_chrome_trace(..., use_python_export=True)`` of PyTorch writes them."""
    record = {"ph": "X", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "ts": 5, "dur": 95}
    sized = {
        **record,
        "name": "[memory]",
        "args": {"Device Type": 0, "Device Id": -1, "Bytes": 24, "Addr": 7},
    }
    imported = read(
        trace(span(0), json.dumps(sized), json.dumps({**record, "name": "[OutOfMemory]"}), span(1))
    )
    assert (names(imported), defects(imported)) == (["op0", "op1"], {})
    assert (
        imported["memory"]["bytes"].tolist(),
        imported.strings.many(imported["instants"]["name"]),
    ) == (
        [24],
        ["[OutOfMemory]"],
    )
    assert imported["instants"]["phase"].tolist() == [ord("i")]


def test_phases_of_no_and_of_odd_letters() -> None:
    """Joined by line feeds, these are as long as single letters."""
    phases = ["i", "a\nC", "", "", "i"]  # the last is a batch of its own
    imported = read(trace(*(span(n, ph=phase) for n, phase in enumerate(phases))))
    assert names(imported, "instants") == ["op0", "op4"]
    assert imported.defects[d.UNKNOWN_PHASE] == 3
