"""Files of other tools are refused by their own names, whatever they are packed in, and traces never are."""

from __future__ import annotations

import gzip
import json
import pickle
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.loop import document, loop
from tests.builders.other_files import OTHER_FILES, plane
from tests.builders.perfetto import from_chrome
from tests.builders.rocprofv3 import pftrace, results, three_launches
from torch_tb_profiler.sources import kinds, sniff
from torch_tb_profiler.sources.inflate import Inflated, inflate
from torch_tb_profiler.sources.packets import is_perfetto, is_xplane
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.units import format_rate

Packer = Callable[[bytes], bytes]
PACKERS: list[Packer] = [bytes, gzip.compress, zstandard.compress, zlib.compress]
BINARY = {"xplane", "flight_recorder"}
TRACES = {
    "chrome": json.dumps(document(loop())).encode(),
    "chrome_events": json.dumps(loop()).encode(),
    "perfetto": from_chrome(document(loop())),
    "rocprofv3_perfetto": pftrace(three_launches()),
    "rocprofv3": json.dumps({"rocprofiler-sdk-tool": [results(three_launches())]}).encode(),
    "snapshot": pickle.dumps({"segments": [], "device_traces": [[]]}),
    "stacks": b"a;b;c 100\na;d 50\n",
    "memory_timeline": b"[[1, 2, 3, 4]]",
    "with_metadata_of_a_server": json.dumps(
        {"schemaVersion": 1, "model_path": "x", "tp_size": 2, "nodes": [], "schema": "", "traceEvents": []}
    ).encode(),
}  # fmt: skip


def judged(data: bytes) -> str | None:
    state = Inflated()
    text = b"".join(inflate(iter([data]), state))
    return sniff.judge(sniff.Head(text[: sniff.HEAD_BYTES], len(text) <= sniff.HEAD_BYTES, None))


@pytest.mark.parametrize("kind", OTHER_FILES)
@given(st.data(), st.lists(st.sampled_from(PACKERS), max_size=2))
def test_every_kind_is_told(kind: str, data: st.DataObject, packers: list[Packer]) -> None:
    files, words = OTHER_FILES[kind]
    content = data.draw(files)
    if kind not in BINARY:
        content = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf", b" \n", b"\r\n\t"])) + content
    for packer in packers:
        content = packer(content)
    reason = judged(content)
    assert reason is not None
    assert reason.startswith("Not a trace: ")
    assert words in reason


@pytest.mark.parametrize("kind", OTHER_FILES)
@given(st.data(), st.floats(0, 1))
def test_a_truncated_file_is_never_another_kind(
    kind: str, data: st.DataObject, share: float
) -> None:
    files, words = OTHER_FILES[kind]
    content = data.draw(files)
    reason = judged(content[: int(share * len(content))]) or ""
    others = [other for _, other in OTHER_FILES.values() if other != words]
    assert not any(other in reason for other in others)


@pytest.mark.parametrize("kind", TRACES)
@given(st.floats(0, 1), st.lists(st.sampled_from(PACKERS), max_size=2))
def test_traces_are_none_of_them(kind: str, share: float, packers: list[Packer]) -> None:
    content = TRACES[kind]
    content = content[: max(1, int(share * len(content)))]
    for packer in packers:
        content = packer(content)
    reason = judged(content) or ""
    assert not any(words in reason for _, words in OTHER_FILES.values())
    if share == 1:
        assert not reason


def test_sentences_are_short() -> None:
    listed = [*kinds._OBJECTS, *kinds._ARRAYS]
    every = [row.kind for row in listed] + [kind for _, kind in kinds._TEXTS]
    every += [value for value in vars(kinds).values() if isinstance(value, kinds.Kind)]
    for kind in every:
        sentence = kind.sentence()
        assert len(sentence) <= 90, sentence
        assert re.fullmatch(
            r"Not a trace: (?:an?|the|vLLM's|PyTorch's|statistics|what) .*[a-z0-9)]\.", sentence
        )


def test_a_long_file_is_told_by_its_head() -> None:
    node = {"id": 1, "name": "aten::mm", "ctrl_deps": 1, "inputs": {"values": [1] * 50}}
    for document_ in ({"schema": "1.1.1", "nodes": [node] * 900}, {"nodes": [node] * 900}):
        assert "execution trace" in (judged(json.dumps(document_).encode()) or "")
    lines = plane(1, "/device:TPU:0", 20_000)
    assert len(lines) > 2 * sniff.HEAD_BYTES
    assert "XPlane" in (judged(lines) or "")


def test_planes_and_packets() -> None:
    nameless = plane(3, "", 2, name_field=False)
    assert is_xplane(nameless)
    assert not is_perfetto(nameless)
    assert not is_xplane(TRACES["perfetto"])
    # A process tree, field 2 of a packet, holds messages; its first byte is that of a tag.
    assert not is_xplane(b"\x0a\x0a\x12\x08\x0a\x06\x08\x01\x1a\x02sh")


@given(st.integers(0, 10**13), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_pointer_says_how_large_its_file_is(size: int, line: str, extended: bool) -> None:
    lines = ["version https://git-lfs.github.com/spec/v1", *["ext-0-x sha256:00"] * extended]
    lines += [f"oid sha256:{'0a' * 32}", f"size {size}", ""]
    shown = f"a Git LFS pointer ({format_rate(size, 'B')}): git lfs pull"
    assert shown in (judged(line.join(lines).encode()) or "")
    assert "pointer" not in (judged(line.join(lines[:-2]).encode()) or "")


def test_names_tell_what_content_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "profile" / "2026_01_01_00_00_00"
    folder.mkdir(parents=True)
    for name, content, words in (
        ("host.xplane.pb", b"", "XPlane"),
        ("host.xplane.pb", b"\x22\x04host", "XPlane"),
        ("ALL_HOSTS.op_stats.pb", b"\x08\x01\x12\x04abcd", "XLA"),
        ("kernels.ncu-rep", b"NVR\0", "Nsight Compute"),
    ):
        (folder / name).write_bytes(content)
        assert words in (sniff.rejection(Place(str(folder / name))) or "taken")


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    class Harm:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "harm",))  # type: ignore[return-value]

    data = pickle.dumps({"version": "2.10", "pg_config": Harm(), "pg_status": {}})
    assert kinds.of_pickle(data) is kinds.FLIGHT_RECORDER
    assert kinds.of_pickle(data[:20]) is None
    assert not (tmp_path / "harm").exists()


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=20))  # fmt: skip
def test_paths_of_keys(value: object) -> None:
    def expected(part: object, above: tuple[str, ...]) -> set[str]:
        if isinstance(part, list):
            return set().union(*(expected(each, above) for each in part))
        found: set[str] = set()
        for key, each in part.items() if isinstance(part, dict) else ():
            text = json.dumps(key)[1:-1]
            deeper = (*above, text) if len(above) < 3 else above
            found |= {f"*.{text}"} | ({".".join(deeper)} if len(above) < 3 else set())
            found |= expected(each, deeper)
        return found

    assert kinds.key_paths(json.dumps(value).encode()) == expected(value, ())
