"""Takes the pictures of README and ``docs/guide`` anew from the samples: ``python -m tests.e2e.pictures``
writes ``docs/images``; with names after it, only those.
"""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import torch_tb_profiler
from tests.e2e import browser as chromium
from tests.e2e.pages import Tab
from tests.e2e.server import Server

REPOSITORY = Path(__file__).parents[2]
RANK = {"run": "synthetic_ddp8", "worker": "rank5"}
OTHER = {"run2": "synthetic_ddp8", "worker2": "rank0", "span2": "trace"}
LATE = {"run": "synthetic_ddp8", "worker": "rank0", "steps": "4"}
WHY = {"run": "synthetic_ddp8", "worker": "rank0", "why": "4"}
PATH = {"run": "synthetic_ddp8", "worker": "rank5", "steps": "2"}
PICTURES: tuple[tuple[str, bool, str, int, dict[str, str]], ...] = (
    ("overview_light", False, "overview", 880, RANK),
    ("tour_late_step", False, "overview", 780, LATE),
    ("tour_path", False, "critical_path", 620, PATH),
    ("operator_dark", True, "operator", 900, RANK),
    ("kernel_light", False, "kernel", 900, RANK),
    ("trace_light", False, "trace", 736, RANK),
    ("memory_dark", True, "memory", 900, RANK),
    ("module_light", False, "module", 700, RANK | {"by": "flame"}),
    ("distributed_light", False, "distributed", 1000, RANK),
    ("efficiency_light", False, "efficiency", 1000, RANK),
    ("steps_light", False, "steps", 700, WHY),
    ("diff_dark", True, "diff", 900, RANK | OTHER),
    ("compare_light", False, "trace", 1000, RANK | OTHER),
    ("compare_kernels_light", False, "kernel", 620, RANK | OTHER),
)
"""Name, dark, view, height in pixels, and what the address says beside the view."""
WIDTH, TENSORBOARD = 1280, 64
"""Pixels; how high TensorBoard's own header is."""


def _kernel() -> dict[str, str]:
    """What the address says of the longest matrix product of the second step, among that step and
    the next.
    """
    [file] = (REPOSITORY / "samples" / RANK["run"]).glob(f"{RANK['worker']}.*.gz")
    trace = torch_tb_profiler.open(file)
    steps, events = trace.steps, trace.events
    products = events[
        (events["role"] == "kernel")
        & (events["step"] == 1)
        & events["name"].str.startswith("nvjet")
    ]
    begin, end = steps["start_ns"][1] - 10**6, steps["start_ns"][3]
    return {
        "sel": str(products.nlargest(1, "dur_ns")["event"].iloc[0]),
        "t": f"{begin},{end - begin}",
    }


def main() -> None:
    """Open each view and write its picture."""
    with (
        tempfile.TemporaryDirectory() as cache,
        sync_playwright() as playwright,
        Server(REPOSITORY / "samples", Path(cache)) as server,
    ):
        server.settled()
        browser = chromium.launch(playwright)
        for name, dark, view, height, selection in PICTURES:
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            with Tab(
                browser, server, dark=dark, width=WIDTH, height=height + TENSORBOARD, inside=True
            ) as tab:
                tab.load(view, **selection, **(_kernel() if name == "trace_light" else {}))
                tab.settled_state()
                seen = tab.page.screenshot(
                    clip={"x": 0, "y": TENSORBOARD, "width": WIDTH, "height": height}
                )
            # 256 colours are enough for a page, at a third of the size.
            Image.open(BytesIO(seen)).quantize().save(
                REPOSITORY / "docs" / "images" / f"{name}.png", optimize=True
            )


if __name__ == "__main__":
    main()
