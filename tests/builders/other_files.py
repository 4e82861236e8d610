"""Files of other tools that lie beside traces, small and as their tools lay them out, drawn by hypothesis."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.builders.perfetto import field

_WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12)
_NUMBERS = st.integers(0, 1 << 40)


def _json(values: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    """The text of a value in some layout, its keys in the order of the tool or sorted."""
    return st.builds(
        lambda value, indent, sort_keys: json.dumps(
            value, indent=indent, sort_keys=sort_keys
        ).encode(),
        values,
        st.sampled_from([None, 0, 2]),
        st.booleans(),
    )


def plane(
    number: int | None, name: str, lines: int = 1, *more: bytes, name_field: bool = True
) -> bytes:
    """A plane of an XSpace, with its field's tag."""
    line = field(3, field(1, 7) + field(2, "line") + field(4, field(1, 3) + field(2, 99)))
    metadata = field(4, field(1, 1) + field(2, field(1, 1) + field(2, "fusion")))
    named = field(2, name) if name_field else b""
    return field(1, field(1, number) + named + line * lines + metadata + b"".join(more))


_PLANES = ["/host:CPU", "/device:GPU:0", "/device:TPU:15", "Task Environment", "/host:metadata"]
xplanes = st.builds(
    lambda planes, hosts: b"".join(planes) + field(4, hosts),
    st.lists(
        st.builds(plane, st.none() | _NUMBERS, st.sampled_from(_PLANES), st.integers(0, 40)),
        min_size=1,
        max_size=4,
    ),
    st.none() | _WORDS,
)

_nodes = st.lists(
    st.fixed_dictionaries(
        {
            "id": _NUMBERS,
            "name": _WORDS,
            "ctrl_deps": _NUMBERS,
            "inputs": st.just({"values": [], "shapes": [], "types": []}),
            "attrs": st.just([{"name": "rf_id", "type": "uint64", "value": 0}]),
        }
    ),
    max_size=20,
)
execution_traces = _json(
    st.fixed_dictionaries(
        {
            "schema": st.sampled_from(["1.0.1", "1.1.1", "1.1.1-chakra.0.0.4"]),
            "pid": _NUMBERS,
            "time": _WORDS,
            "start_ts": _NUMBERS,
            "nodes": _nodes,
            "finish_ts": _NUMBERS,
        }
    )
)


def flight_recorder(ranks: int, entries: int, name: str, version: str) -> dict[str, Any]:
    """A dump of one rank; ``name``: of a frame."""
    return {
        "version": version,
        "comm_lib_version": "2.27.5",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))}},
        "pg_status": {"0": {"last_enqueued_collective": entries}},
        "entries": [
            {
                "record_id": k,
                "pg_id": 0,
                "process_group": ["0", "default_pg"],
                "collective_seq_id": k,
                "profiling_name": "nccl:all_reduce",
                "state": "completed",
                "frames": [{"name": name, "filename": "a.py", "line": k}],
            }
            for k in range(entries)
        ],
    }


_dumps = st.builds(
    flight_recorder,
    st.integers(1, 64),
    st.integers(0, 20),
    st.sampled_from(["train", "segments", "device_traces", "traceEvents"]),
    st.sampled_from(["2.3", "2.10"]),
)
flight_recorder_files = _json(_dumps) | st.builds(
    pickle.dumps, _dumps, protocol=st.integers(2, pickle.HIGHEST_PROTOCOL)
)

speedscope = _json(
    st.builds(
        lambda name, frames: {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "profiles": [
                {
                    "type": "sampled",
                    "name": name,
                    "unit": "seconds",
                    "samples": [[0]],
                    "weights": [1],
                }
            ],
            "shared": {"frames": [{"name": each} for each in frames]},
            "exporter": "py-spy",
        },
        _WORDS,
        st.lists(_WORDS, max_size=9),
    )
)


def call_tree(names: list[str]) -> list[dict[str, Any]]:
    """A tree as Proton writes it for Hatchet: each name calls the next one."""
    tree: list[dict[str, Any]] = []
    for name in reversed(names):
        tree = [
            {
                "children": tree,
                "frame": {"name": name, "type": "function"},
                "metrics": {"count": 1, "time (ns)": 100},
            }
        ]
    return [*tree, {"CUDA": {"0": {"arch": "90"}}}]


hatchet = _json(st.builds(call_tree, st.lists(_WORDS, min_size=1, max_size=30)))
server_arguments = _json(
    st.builds(lambda path, tp, more: {"model_path": path, "tp_size": tp, **more}, _WORDS, _NUMBERS,
              st.dictionaries(st.sampled_from(["port", "dtype", "seed"]), _WORDS))
)  # fmt: skip
benchmarks = _json(
    st.builds(lambda rate: {"date": "x", "backend": "vllm", "request_throughput": rate}, _NUMBERS)
)
layer_wise = _json(
    st.builds(
        lambda name: {
            "context": {"model": name},
            "prefill": {
                "metadata": {"num_running_seqs": 1},
                "summary_stats": [{"entry": {"name": name}, "children": []}],
                "model_stats": [],
            },
        },
        _WORDS,
    )
)
flame_graphs = st.builds(
    lambda head, title: f'{head}<svg version="1.1"><title>{title}</title></svg>'.encode(),
    st.sampled_from(
        [
            "",
            '<?xml version="1.0" standalone="no"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">',
        ]
    ),
    st.sampled_from(["py-spy record", "Flame Graph"]),
)
averages = st.builds(
    lambda width: (f"{'-' * width}  {'-' * 12}  \n{'Name':>{width}}    Self CPU %\n").encode(),
    st.integers(4, 60),
)

_HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)
git_lfs = st.builds(
    lambda digest, size: (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n".encode()
    ),
    _HASHES,
    _NUMBERS,
)
git_annex = st.builds(
    lambda up, digest: f"{up}.git/annex/objects/Xk/0G/SHA256E-s5--{digest}.json".encode(),
    st.sampled_from(["", "../", "../../"]),
    _HASHES,
)
dvc = st.builds(
    lambda digest, size: f"outs:\n- md5: {digest[:32]}\n  size: {size}\n  path: a.json\n".encode(),
    _HASHES,
    _NUMBERS,
)
conflicts = st.builds(
    lambda ours, theirs: (
        f'<<<<<<< HEAD\n{{"a": "{ours}"}}\n=======\n{{"b": "{theirs}"}}\n>>>>>>> x\n'.encode()
    ),
    st.sampled_from(["", "x" * 300]),
    st.sampled_from(["", "y"]),
)
timeline_pages = st.builds(
    lambda begin, title, picture: (
        f"{begin}<html>\n<head><meta charset='utf-8' />{title}</head>\n<body>\n  <h2>Memory Timeline</h2>"
        f"\n  <img src='data:image/png;base64,{picture}'>\n</body>\n</html>".encode()
    ),
    st.sampled_from(["", "<!DOCTYPE html>\n"]),
    st.sampled_from(["", "<title>GPU Memory Timeline HTML</title>"]),
    st.sampled_from(["iVBORw0KGgo=", "A" * 200_000]),
)
storage_errors = st.builds(
    lambda begin, code: f"{begin}<Error><Code>{code}</Code><Message>x</Message></Error>".encode(),
    st.sampled_from(["", '<?xml version="1.0" encoding="UTF-8"?>\n']),
    st.sampled_from(["NoSuchKey", "AccessDenied", "ExpiredToken"]),
)
server_errors = _json(
    st.sampled_from(
        [
            {"message": "Not Found", "documentation_url": "https://x", "status": "404"},
            {"error": {"code": 403, "message": "denied", "errors": []}},
        ]
    )
)
notebooks = _json(
    st.builds(
        lambda cells: {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
        st.lists(st.just({"cell_type": "code", "source": [], "outputs": []}), max_size=3),
    )
)

OTHER_FILES: dict[str, tuple[st.SearchStrategy[bytes], str]] = {
    "xplane": (xplanes, "XPlane"),
    "execution_trace": (execution_traces, "execution trace"),
    "flight_recorder": (flight_recorder_files, "Flight Recorder"),
    "speedscope": (speedscope, "speedscope"),
    "hatchet": (hatchet, "Hatchet"),
    "server_arguments": (server_arguments, "arguments of an inference server"),
    "benchmark": (benchmarks, "serving benchmark"),
    "layer_wise": (layer_wise, "layer-wise"),
    "flame_graph": (flame_graphs, "flame graph"),
    "averages": (averages, "key_averages"),
    "git_lfs": (git_lfs, "Git LFS pointer"),
    "git_annex": (git_annex, "git annex get"),
    "dvc": (dvc, "dvc pull"),
    "conflict": (conflicts, "marks of a conflict"),
    "memory_timeline_page": (timeline_pages, "memory timeline as a picture"),
    "storage_error": (storage_errors, "error of a storage server"),
    "server_error": (server_errors, "answer about an error"),
    "notebook": (notebooks, "a notebook"),
}
"""Kind → files of it, and the words that tell it in the sentence."""
Packer = Callable[[bytes], bytes]
