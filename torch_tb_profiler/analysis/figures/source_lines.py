"""Which frame of a call stack tells a reader where in the program something happened."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringTable

OTHERS, PACKAGE, OWN = 1, 2, 3
"""Ranks of a frame: a Python file of PyTorch, of Python itself or a generated one; one of a package that
is installed; one of the user's own program."""
RANKS = (OTHERS, PACKAGE, OWN)
LineGroup = Literal["own", "package"]
"""Which frame stands for all within it. ``own``: the nearest of the user's own program, and only without one the nearest of a package;
``package``: the nearest of either."""
_OTHERS = regex(
    r"(?:^|/)(?:lib/python[\d.]+|python[\d.]*/lib|torch|torchgen|functorch|triton|torch_tb_profiler"
    r"|torchinductor_[^/]*|torch_compile_debug|[^/]*(?:inductor|compile)_cache)/|^<(?!ipython-input)|^runpy\.py$"
    r"|(?:^|/)[a-z2-7]{2}/c[a-z2-7]{45,}\.py$",
    re.IGNORECASE,
)
_INSTALLED = regex(r"(?:^|/)(?:site|dist)-packages/")
_NAMES = """
accelerate aiohttp aiter albumentations apex asyncpg av bitsandbytes boto3 botocore click cloudpickle
colossalai composer cv2 dask datasets decord deepspeed detectron2 dgl diffusers einops evaluate fairscale
faiss fastapi fbgemm_gpu filelock fire flash_attn flashinfer flask flax fsspec gradio h5py httpx
huggingface_hub hydra ignite imageio intel_extension_for_pytorch ipykernel IPython jax joblib kornia lightning
lightning_fabric lightning_utilities llvmlite loguru matplotlib megatron mlflow mmcv mmdet mmengine monai
multiprocess nbclient nltk numba numexpr numpy omegaconf onnx onnxruntime openai optax optimum pandas peft PIL
pluggy polars psutil pyarrow pydantic pytest _pytest pytorch_lightning ray requests rich s3fs safetensors
scipy sentencepiece sentence_transformers sglang skimage sklearn soundfile spacy starlette streaming
tensorboard tensorboardX tensorflow tiktoken timm tokenizers tornado torch_geometric torch_npu torch_scatter
torch_sparse torch_xla torchao torchaudio torchdata torchmetrics torchrec torchtext torchtune torchvision tqdm
traitlets transformer_engine transformers trl typer ultralytics urllib3 uvicorn uvloop viztracer vllm wandb
webdataset xformers yaml zarr zmq
"""
_PACKAGES = frozenset(_NAMES.split())
"""Packages that are installed, not written: their files are often recorded without the folder that says so."""


def lines_of_stacks(facts: Facts, by: LineGroup = "own") -> Ints:
    """For every row of ``facts["stacks"]`` the number of the frame to show: the nearest of the
    user's own program, else the nearest of a package, else of a Python file, else
    the innermost. int64 of shape (stacks,), numbers of strings of the facts."""
    stacks = facts["stacks"]
    return lines_of_tree(facts, stacks["parent"], stacks["frame"], by)


def lines_of_tree(facts: Facts, parent: Array, frame: Array, by: LineGroup = "own") -> Ints:
    """For every row of a tree of frames, parents first, the frame to show: ``parent`` rows of it, ``frame`` numbers of strings; int64."""
    rank = line_ranks(facts.strings, frame, by)
    shown = np.arange(len(frame))
    # The better rank is written last, and wins.
    for least in RANKS:
        near = nearest(parent, rank[frame] >= least)
        shown = np.where(near >= 0, near, shown)
    return shown_frames(facts, frame[shown])


def shown_frames(facts: Facts, frames: Array) -> Ints:
    """What is shown of frames (numbers of strings): of those that were open when the recording began no line."""
    number = np.arange(-1, len(facts.strings), dtype=np.int64)
    opened = facts["opened_frames"]
    number[opened["name"] + 1] = opened["shown"]
    return np.asarray(number[frames.astype(np.int64) + 1])


def shown_frame(facts: Facts, frame: str) -> str:
    """What is shown of a frame that is given as text."""
    number = facts.strings.number(frame)
    return facts.strings[int(shown_frames(facts, np.array([number]))[0])] if number >= 0 else frame


def line_ranks(strings: StringTable, frames: Array, by: LineGroup = "own") -> Array:
    """How much the frames of some numbers of strings tell: ``OWN``, as much as ``PACKAGE`` where lines are told ``by`` package,
    ``OTHERS``, 0 no Python line.

    int8 of shape (strings + 1,), 0 for strings that are not asked, the last for −1.
    """
    rank = np.zeros(len(strings) + 1, np.int8)
    for number in distinct(frames, strings):
        rank[number] = _rank(strings[number])
    return rank if by == "own" else np.minimum(rank, PACKAGE)


def frame_ranks(trace: Trace, by: LineGroup = "own") -> Array:
    """``line_ranks`` of each row of spans, int8 of shape (spans,); 0 of what is no Python frame."""
    spans = trace["spans"]
    frame = np.where(spans["role"] == Role.PYTHON, spans["name"], -1)
    return line_ranks(trace.strings, frame, by).take(frame)


def line_of_frames(frames: str) -> str:
    """The frame to show of a stack written as text, frames joined by line feeds, innermost first;
    by the same rule.
    """
    return next(iter(telling_frames(frames.split("\n"))), "")


def telling_frames(frames: Sequence[str]) -> list[str]:
    """Of the frames of a stack those that tell as much as the one to show, in their order."""
    listed = [frame for frame in frames if frame]
    most = max(map(_rank, listed), default=0)
    return [frame for frame in listed if _rank(frame) == most]


@lru_cache(maxsize=1 << 12)
def _rank(text: str) -> int:
    frame = PythonFrame.of(text)
    return _rank_of_file(frame.file) if frame and frame.is_source else 0


def package_of(file: str) -> str:
    """The installed package of a Python file; empty of others, and where its folder was not recorded."""
    return _top_of(file)[1] if _rank_of_file(file) == PACKAGE else ""


def _top_of(file: str) -> tuple[str, str]:
    """The file within the folder of installed packages, else as it is, and the first of its folders."""
    inside = _INSTALLED.split(file.replace("\\", "/"))[-1]
    return inside, inside.partition("/")[0].removesuffix(".py")


def _rank_of_file(file: str) -> int:
    path = file.replace("\\", "/")
    inside, top = _top_of(file)
    if _OTHERS.search(inside) or top in sys.stdlib_module_names:
        return OTHERS
    return PACKAGE if inside != path or top in _PACKAGES or _is_checkout(path) else OWN


def _is_checkout(path: str) -> bool:
    """Whether a file is of a package that is installed from its sources: ``vllm/vllm/model.py``,
    ``transformers/src/transformers/trainer.py``.
    """
    folders = path.split("/")[:-1]
    return any(
        name in _PACKAGES and (name in folders[:at] or folders[at - 1] in ("src", "python"))
        for at, name in enumerate(folders)
        if at
    )


def is_user_code(file: str) -> bool:
    """Whether a Python file is neither installed nor torch's, nor of Python's own library, nor generated; of a package
    whose folder was not recorded, True."""
    return _rank_of_file(file) >= PACKAGE and not _INSTALLED.search(file.replace("\\", "/"))
