"""Opened traces for the tests of this room."""

from __future__ import annotations

from pathlib import Path

from tests.builders.drawn import events, text_of
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings

SETTINGS = Settings(use_cache=False)

DRAWING = """
main    [ProfilerStep#1                                      ]
main      [aten::linear                   ]  [aten::add     ]
main        [aten::mm             ]            <launch #8>
main          <launch #7>
gpu 7                 {gemm #7   }                 {plus #8 }
main                                                            [ProfilerStep#2                  ]
main                                                              [aten::mm             ]
main                                                                <launch #9>
gpu 7                                                                     {gemm #9   }
"""
MM = {"Input Dims": [[8, 4], [4, 2]], "Input type": ["float", "float"]}
WIDE = {"Input Dims": [[8, 4], [4, 2]], "Input type": ["double", "double"]}
HEADER = {
    "deviceProperties": [
        {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_000_000_000, "numSms": 132}
    ]
}


def write(folder: Path, *workers: str) -> Path:
    """A run of one trace per worker; the second step of each multiplies wider numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = events(DRAWING, names={"launch": "cudaLaunchKernel"}, args={"aten::mm": MM})
    second = max(
        (event for event in listed if event["name"] == "aten::mm"), key=lambda event: event["ts"]
    )
    second["args"] = WIDE
    for worker in workers:
        (folder / f"{worker}.1700000000000000000.pt.trace.json").write_text(
            text_of(listed, **HEADER)
        )
    return folder


def frames(opened: Opened) -> TraceFrames:
    """The frames of a trace, without a cache."""
    return TraceFrames(TraceContext(opened, SETTINGS))
