"""Files of other tools that lie beside traces: what they are, by their first bytes, and what opens them.

::

    0a 2e 08 02 12 0d "/device:TPU:0" …            XPlane         the name of a plane where Perfetto has a message
    80 02 7d … "version" … "pg_config" …           pickle         read as a list of texts, never loaded
    {"schema": "1.1.1", "nodes": [{"ctrl_deps":     JSON           by its keys, and those of the objects within

A row of ``_OBJECTS`` or ``_ARRAYS`` is a kind of JSON. Nothing of a file is repeated: a link may lead to one that those who
see the page may not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.units import format_rate


class Kind(msgspec.Struct, frozen=True):
    """A kind of file: what it is, with an article, and what opens it or what to do, as a clause."""

    what: str
    instead: str = ""

    def sentence(self) -> str:
        """Why no trace is read from it, and where to go with it."""
        return f"Not a trace: {'; '.join(filter(None, (self.what, self.instead)))}."


class _Json(msgspec.Struct, frozen=True):
    """A kind of JSON and the sets of keys that tell it: one is enough. ``a.b`` is a key ``b`` of an object, or of the objects of
    a list, at the key ``a``; ``*.b`` is one at any depth.
    """

    kind: Kind
    keys: tuple[frozenset[str], ...] = msgspec.field(default=())


def _told_by(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(text.split()) for text in sets)


XPLANE = Kind("an XPlane profile of XLA", "XProf, TensorBoard's profile plugin, opens it")
_OF_XLA = Kind("a table of XLA's profiler", "XProf, TensorBoard's profile plugin, opens it")
_XLA_FOLDER = regex(r"(?:^|/)plugins/profile/[^/]+/[^/]+\.pb$")
_OF_TORCH_NPU = Kind("what torch_npu notes beside its trace (trace_view.json)")
_ASCEND_FOLDER = regex(
    r"_ascend_pt/(?:profiler_(?:info|metadata)[^/]*|ASCEND_PROFILER_OUTPUT/(?!trace_view)[^/]+)\.(?:json|db)$"
)
_OF_NSIGHT_COMPUTE = Kind("a report of Nsight Compute", "ncu-ui opens it")
FLIGHT_RECORDER = Kind("a Flight Recorder dump of one rank's collectives", "torchfrtrace opens it")
_OBJECTS = (
    _Json(
        Kind(
            "an execution trace without times",
            "Chakra or PARAM replay it",
        ),
        _told_by("schema nodes", "nodes.ctrl_deps", "nodes.rf_id", "nodes.fw_parent"),
    ),
    _Json(
        FLIGHT_RECORDER,
        _told_by(
            "pg_config pg_status",
            "pg_config version",
            "entries.collective_seq_id",
            "entries.record_id entries.profiling_name",
        ),
    ),
    _Json(
        Kind("a speedscope profile, as py-spy writes it", "speedscope.app opens it"),
        _told_by("$schema profiles", "shared.frames", "profiles.weights"),
    ),
    _Json(
        Kind("a Firefox profile, as samply writes it", "profiler.firefox.com opens it"),
        _told_by("meta.interval meta.processType", "meta.interval libs"),
    ),
    _Json(
        Kind("a CPU profile of V8", "speedscope.app opens it"),
        _told_by("nodes timeDeltas", "nodes.callFrame"),
    ),
    _Json(
        Kind("vLLM's layer-wise profile", "its print_layerwise_table.py opens it"),
        _told_by("*.summary_stats *.model_stats", "*.summary_stats context"),
    ),
    _Json(
        Kind("the result of a serving benchmark"),
        _told_by("request_throughput", "total_token_throughput", "output_throughput duration"),
    ),
    _Json(
        Kind("the arguments of an inference server"),
        _told_by(
            "model_path tp",
            "model_path tp_size",
            "model_path tensor_parallel_size",
            "model_path tokenizer_path",
            "model_path served_model_name",
            "model tensor_parallel_size",
        ),
    ),
    _Json(Kind("the configuration of a model"), _told_by("architectures", "model_type vocab_size")),
    _Json(Kind("the state of a trainer"), _told_by("log_history global_step")),
    _Json(Kind("a notebook", "Jupyter opens it"), _told_by("cells nbformat", "cells.cell_type")),
    _Json(
        Kind("a server's answer about an error", "download it again"),
        _told_by("message documentation_url", "error.code error.message", "error status_code"),
    ),
)
_ARRAYS = (
    _Json(
        Kind("a Hatchet call tree of Triton's Proton", "proton-viewer opens it"),
        _told_by("*.frame *.metrics *.children", "frame metrics"),
    ),
)
_HTML = rb"(?:<!--.{0,400}?-->\s*)?<(?:!doctype html|html|head|body)\b"
_TEXTS = (
    (
        regex(rb"\s*(?:-+ .{0,400})?-+.{0,200}\bSelf CPU", re.DOTALL),
        Kind("a printed table of key_averages()", "open the trace that it was made of"),
    ),
    (
        regex(rb"[-\s]*DeepSpeed Flops Profiler"),
        Kind("a report of DeepSpeed's FLOPS profiler"),
    ),
    (
        regex(rb'"?Kind"?,"?Agent_Id"?,|"?Domain"?,"?Function"?,"?Process_Id"?,'),
        Kind("a table of rocprofv3", "open its database, .pftrace or .json"),
    ),
    (
        regex(rb"(?:<\?xml[^>]{0,200}>\s*)?(?:<!DOCTYPE svg[^>]{0,300}>\s*)?<svg\b"),
        Kind("a picture, perhaps a flame graph of py-spy", "its --format raw opens here"),
    ),
    (
        regex(rb"[{\xfb][\xa9)]\x03"),
        Kind("statistics of cProfile", "snakeviz or Python's pstats opens them"),
    ),
    (
        regex(
            rb"version https?://[\w.-]{1,60}/(?:spec/)?v/?\d\r?\n(?:ext-[^\n]{1,200}\n)*oid sha256:[0-9a-f]{64}\r?\n"
            rb"size (?P<size>\d{1,18})\s*\Z"
        ),
        Kind("a Git LFS pointer ({}): git lfs pull fetches the file itself"),
    ),
    (
        regex(rb"(?:\.\./)*\.git/annex/objects/|/annex/objects/"),
        Kind("a git-annex pointer: git annex get fetches the file itself"),
    ),
    (
        regex(rb"(?:\w+:\s[^\n]{0,200}\n)*outs:\s*\n- (?:md5|etag|hash|path|size):"),
        Kind("a DVC pointer: dvc pull fetches the file itself"),
    ),
    (
        regex(rb"<{7} [^\n]{0,200}\n.*?^={7}\s*$", re.DOTALL | re.MULTILINE),
        Kind("a file with Git's marks of a conflict", "check out one of its sides"),
    ),
    (
        regex(_HTML + rb".{0,4096}?\bmemory[ _]?timeline\b.{0,4096}?\bimg\b", re.I | re.DOTALL),
        Kind("PyTorch's memory timeline as a picture", "export .json or .raw.json.gz"),
    ),
    (
        regex(
            _HTML + rb".{0,65536}?(?:trace-?viewer|tr-ui-|viztracer|memoryviz)", re.I | re.DOTALL
        ),
        Kind("a page that shows a trace or memory", "open what it was made of"),
    ),
    (
        regex(_HTML, re.IGNORECASE),
        Kind("an HTML page, perhaps of a login or an error", "download the file itself"),
    ),
    (
        regex(rb"(?:<\?xml[^>]{0,200}>\s*)?<Error>", re.IGNORECASE),
        Kind("an error of a storage server", "check its name and your access"),
    ),
    (regex(rb"<(?:\?xml|!|[a-z])", re.IGNORECASE), Kind("an XML text")),
)
_FLIGHT_RECORDER_KEYS = frozenset(
    [
        "version",
        "nccl_version",
        "comm_lib_version",
        "pg_config",
        "pg_status",
        "entries",
        "nccl_comm_state",
        "hccl_comm_state",
        "xccl_comm_state",
    ]
)
"""One of them comes first, whatever the order."""
_FLIGHT_RECORDER_WORDS = frozenset(
    ("pg_config", "pg_status", "record_id", "collective_seq_id", "profiling_name")
)
_TOKEN = regex(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[\[\]{}]', re.DOTALL)
_DEEPEST = 3
"""Keys of a path."""
_LONGEST_KEY = 60


def of_name(path: str) -> Kind | None:
    """The kind of a file whose content need not tell; ``path``: with the folders above it."""
    if path.lower().endswith((".xplane.pb", ".xplane.pb.gz")):
        return XPLANE
    if _XLA_FOLDER.search(path):
        return _OF_XLA
    if path.lower().endswith(".ncu-rep"):
        return _OF_NSIGHT_COMPUTE
    return _OF_TORCH_NPU if _ASCEND_FOLDER.search(path) else None


def of_json(text: bytes) -> Kind | None:
    """The kind of an object or a list of objects, of which the first bytes are there."""
    rows = _ARRAYS if text[:1] == b"[" else _OBJECTS
    keys = key_paths(text)
    return next((row.kind for row in rows if any(told <= keys for told in row.keys)), None)


def of_text(text: bytes) -> Kind | None:
    """The kind of a text that is no JSON, or of bytes that begin like it; of what they say, only a size is repeated."""
    for pattern, kind in _TEXTS:
        if (match := pattern.match(text)) is not None:
            size = match.groupdict().get("size")
            return (
                replace(kind, what=kind.what.format(format_rate(int(size), "B"))) if size else kind
            )
    return None


def of_pickle(head: bytes) -> Kind | None:
    """The kind of a pickle, by the texts in its first bytes; nothing is built of it."""
    texts = list(_pickled_texts(head))
    if texts and texts[0] in _FLIGHT_RECORDER_KEYS and _FLIGHT_RECORDER_WORDS & set(texts):
        return FLIGHT_RECORDER
    return None


def _pickled_texts(head: bytes) -> Iterator[str]:
    # Few files are pickles.
    import pickletools

    try:
        for _, argument, _ in pickletools.genops(head):
            if isinstance(argument, str):
                yield argument
    except Exception:  # where the head ends, and whatever damage raises
        return


def key_paths(text: bytes) -> set[str]:
    """The keys of JSON text as paths (see ``_Json``), as far as it goes; of other text it gives some, too."""
    found: set[str] = set()
    within: list[tuple[str, ...]] = []
    at: tuple[str, ...] = ()
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in (b"{", b"["):
            within.append(at)
        elif mark in (b"}", b"]"):
            if within:
                within.pop()
            at = within[-1] if within else ()
        elif token[2] and within and len(token[1]) < _LONGEST_KEY:
            key = token[1].decode("utf-8", "replace")
            at = within[-1]
            found.add(f"*.{key}")
            if len(at) < _DEEPEST:
                at = (*at, key)
                found.add(".".join(at))
    return found
