"""The timeline in headless Chromium inside TensorBoard; prints one JSON object.

    python benchmarks/timeline_page.py URL RUN SPAN_NS

Keys are held as a person holds them. A frame is the time between two animation frames of the page's
iframe while keys are held; "work" is the time that the page's animation callbacks take in it, and
"draw" the part in which the canvas is drawn, as the page's own clock has it (the last 600 frames).
TensorBoard, the browser (without a GPU) and this program share the machine's cores.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, Frame, Page, sync_playwright

from tests.e2e import browser as chromium
from tests.e2e.pages import PREFIX
from tests.e2e.server import PLUGIN

PATIENCE_MS = 600_000
MB = 1e6
HEIGHT, WIDTH = 900, 1600

# Times every animation callback of the frame it runs in, and the distance between frames, while
# `window.__frames.on` is set.
_MEASURE = """
(() => {
  const state = {on: false, at: [], work: []};
  window.__frames = state;
  const real = window.requestAnimationFrame.bind(window);
  let frame = -1, spent = 0;
  window.requestAnimationFrame = (callback) => real((now) => {
    const begin = performance.now();
    callback(now);
    if (now !== frame) {
      if (state.on && frame >= 0 && spent > 0) state.work.push(spent);
      frame = now;
      spent = 0;
    }
    spent += performance.now() - begin;
  });
  const tick = (now) => { if (state.on) state.at.push(now); real(tick); };
  real(tick);
  performance.setResourceTimingBufferSize(100000);
})();
"""
_START = "() => { Object.assign(window.__frames, {on: true, at: [], work: []}); }"
_STOP = (
    "() => { window.__frames.on = false; return {at: window.__frames.at, work:"
    " window.__frames.work}; }"
)
_TILES = """
() => performance.getEntriesByType("resource").filter((e) => e.name.includes("/trace/")).map((e) => ({
  url: e.name, ms: e.responseEnd - e.startTime, bytes: e.transferSize || e.encodedBodySize, raw: e.decodedBodySize}))
"""
_READY = """
() => {
  const timeline = window.__profiler_test;
  return timeline !== undefined && timeline.rows().length > 0 && timeline.idle();
}
"""
_DRAWN = (
    "() => { const {frames, draws} = window.__profiler_test.times(), s ="
    " window.__profiler_test.stats(); return {frames, draws, stats: s}; }"
)


def quantiles(values: list[float]) -> dict[str, float]:
    """p50, p95 and the maximum."""
    ordered = sorted(values)
    if not ordered:
        return {"n": 0, "p50": float("nan"), "p95": float("nan"), "max": float("nan")}
    return {
        "n": len(ordered),
        "p50": ordered[len(ordered) // 2],
        "p95": ordered[int(len(ordered) * 0.95)],
        "max": ordered[-1],
    }


class Driver:
    """The Trace view of a run in a page of its own."""

    def __init__(self, browser: Browser, url: str, run: str) -> None:
        self.page: Page = browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT}
        ).new_page()
        self.page.add_init_script(_MEASURE)
        self._url, self._run = url, run
        self._cdp = browser.new_browser_cdp_session()
        self._session = self.page.context.new_cdp_session(self.page)

    def open(self, view: str, **selection: str) -> Frame:
        """Load TensorBoard at a view."""
        self.page.goto("about:blank")
        chosen = {"view": view, "run": self._run, **selection}
        query = urlencode({PREFIX + key: value for key, value in chosen.items()})
        self.page.goto(f"{self._url}/#{PLUGIN}&{query}")
        self.page.wait_for_selector("iframe", timeout=PATIENCE_MS)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for frame in self.page.frames:
                if "plugin_entry.html" in frame.url and PLUGIN in frame.url:
                    frame.wait_for_selector("main", timeout=PATIENCE_MS)
                    return frame
            self.page.wait_for_timeout(50)
        raise SystemExit("the plugin's frame did not appear")

    def trace(self, view: tuple[float, float] | None = None, **selection: str) -> Frame:
        """The Trace view, still, with the pointer over it: the value of each curve is drawn there."""
        more = {"t": f"{int(view[0])},{int(view[1])}"} if view else {}
        frame = self.open("trace", **more, **selection)
        frame.wait_for_function(_READY, timeout=PATIENCE_MS)
        self.page.wait_for_timeout(1500)
        canvas = frame.get_by_role("application").first
        box = canvas.bounding_box()
        if box is None:
            raise SystemExit("the timeline's canvas did not appear")
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        canvas.focus()
        return frame

    def held(self, frame: Frame, keys: list[tuple[str, float]]) -> dict[str, Any]:
        """Frame and drawing times while keys are held, one key after another."""
        frame.evaluate("() => window.__profiler_test.clearTimes()")
        frame.evaluate(_START)
        for key, seconds in keys:
            self.page.keyboard.down(key)
            self.page.wait_for_timeout(1000 * seconds)
            self.page.keyboard.up(key)
        durations = frame.evaluate(_STOP)
        drawn, at = frame.evaluate(_DRAWN), durations["at"]
        return {
            "frame_ms": quantiles([b - a for a, b in itertools.pairwise(at)]),
            "work_ms": quantiles(durations["work"]),
            "draw_ms": quantiles(drawn["draws"]),
            "last": drawn["stats"]["draw"],
        }

    def memory(self) -> dict[str, float]:
        """MB: V8's heap and array buffers of the page (TensorBoard's own included), and what its
        process holds for itself.
        """
        self._session.send("HeapProfiler.collectGarbage")
        heap = self._session.send("Runtime.getHeapUsage")
        processes = self._cdp.send("SystemInfo.getProcessInfo")["processInfo"]
        private = [
            resident(process["id"]) for process in processes if process["type"] == "renderer"
        ]
        return {
            "heap_mb": heap["usedSize"] / MB,
            "buffers_mb": heap.get("backingStorageSize", float("nan")) / MB,
            "dom_mb": heap.get("embedderHeapUsedSize", float("nan")) / MB,
            "process_mb": max(private),
        }


def resident(pid: int) -> float:
    """Memory of a process that no other shares, MB."""
    total = 0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(("Private_Clean", "Private_Dirty")):
            total += int(line.split()[1])
    return total * 1024 / MB


def drive(driver: Driver, span_ns: float) -> dict[str, Any]:
    """The scenes: panning at several scales, zooming through all of them, in and out."""
    scenes: dict[str, Any] = {}
    begin = time.perf_counter()
    frame = driver.trace()
    scenes["opened_s"] = time.perf_counter() - begin - 1.5
    measured: dict[str, Any] = {}
    measured["whole, panned and zoomed a little"] = driver.held(
        frame, [("w", 0.3), ("d", 1), ("a", 1), ("s", 0.5)]
    )
    for label, length in (
        ("20 s", 20e9),
        ("2 s", 2e9),
        ("200 ms", 200e6),
        ("20 ms", 20e6),
        ("2 ms", 2e6),
        ("20 µs", 20e3),
    ):
        if length < span_ns:
            frame = driver.trace((span_ns * 0.4, length))
            measured[f"pan {label}"] = driver.held(frame, [("d", 2.5), ("a", 1.5)])
    frame = driver.trace((span_ns * 0.4, min(2e9, span_ns / 2)))
    frame.get_by_role("button", name="Expand all tracks", exact=True).click()
    frame.wait_for_function(_READY, timeout=PATIENCE_MS)
    frame.get_by_role("application").first.focus()
    measured["pan 2 s, every row unfolded"] = driver.held(frame, [("d", 2.5), ("a", 1.5)])
    frame = driver.trace((span_ns * 0.4, min(2e9, span_ns / 2)), path="1")
    measured["pan 2 s, critical path over it"] = driver.held(frame, [("d", 2.5), ("a", 1.5)])
    frame = driver.trace()
    measured["zoom in"] = driver.held(frame, [("w", 6.5)])
    measured["zoom out"] = driver.held(frame, [("s", 6.5)])
    measured["fast, back and forth"] = driver.held(
        frame, [("w", 1.5), ("d", 1), ("s", 1), ("a", 1), ("w", 2), ("s", 2.5)]
    )
    scenes["scenes"] = measured
    scenes["memory"] = driver.memory()
    scenes["requests"] = requests(frame.evaluate(_TILES))
    return scenes


def requests(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """What the page asked for since it was opened last: that is in the zooms."""
    tiles = [e for e in entries if "/trace/tiles" in e["url"]]
    return {
        "requests": len(entries),
        "tile_requests": len(tiles),
        "mb": sum(e["bytes"] for e in entries) / MB,
        "raw_mb": sum(e["raw"] for e in entries) / MB,
        "largest_mb": max((e["bytes"] for e in tiles), default=0) / MB,
        "tile_ms": quantiles([e["ms"] for e in tiles]),
    }


def measure(url: str, run: str, span_ns: float) -> dict[str, Any]:
    """Everything about the trace of one run of a server."""
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        driver = Driver(browser, url, run)
        driver.open("diagnosis")
        driver.page.wait_for_timeout(3000)
        before = driver.memory()
        figures = drive(driver, span_ns)
        browser.close()
    return {"memory_before": before, **figures}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
