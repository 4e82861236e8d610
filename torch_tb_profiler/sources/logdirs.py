"""``--logdir`` and ``--logdir_spec`` → name → place.

::

    --logdir runs                         {"": "runs"}
    --logdir_spec a:/x,b:s3://bucket/y    {"a": "/x", "b": "s3://bucket/y"}
    --logdir_spec /x,/y                   {"x": "/x", "y": "/y"}
"""

from __future__ import annotations

import os

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sources.names import unique
from torch_tb_profiler.sources.places import Place

# As TensorBoard itself parses the flag, so that it means the same to every plugin.
_URL = regex(r"^[a-zA-Z][0-9a-zA-Z+.\-]*://")
_DRIVE = regex(r"^[a-zA-Z]:[\\/]" if os.name == "nt" else r"^[a-zA-Z]:\\")


def parse_logdirs(logdir: str | None, logdir_spec: str | None) -> dict[str, Place]:
    """Places by name; a single one without a name is called ``""``.

    A path may hold colons if it begins with ``/``, a URL scheme or a Windows drive letter. Several
    places without a name take that of their folder. Local paths become absolute, so that a later
    change of the working directory does not matter.
    """
    pairs = [_split(part) for part in (logdir_spec or "").split(",") if part.strip()]
    if logdir:
        pairs.insert(0, ("", logdir))
    if len(pairs) == 1:
        return {pairs[0][0]: Place(pairs[0][1]).absolute}
    names = unique(name or Place(path).name or path for name, path in pairs)
    return {name: Place(path).absolute for name, (_, path) in zip(names, pairs, strict=True)}


def _split(specification: str) -> tuple[str, str]:
    text = specification.strip()
    if ":" not in text or text.startswith("/") or _URL.match(text) or _DRIVE.match(text):
        return "", text
    name, _, path = text.partition(":")
    return name, path
