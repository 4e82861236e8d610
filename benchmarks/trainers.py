"""What ``StepRecorder`` costs a training loop while it records nothing; prints one JSON object.

    python benchmarks/trainers.py [--rounds 40] [--steps 200]

Rounds of steps with and without a recorder take turns in one process, so that a slow moment hits both
alike; the ratio is that of the medians. The step is small (about 0.1 ms), which makes it the hardest case.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable

import torch

from torch_tb_profiler.integrations.steps import StepRecorder


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = torch.randn(16, 64)

    def seconds(after: Callable[[], object]) -> float:
        begin = time.perf_counter()
        for _ in range(options.steps):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
            after()
        return float((time.perf_counter() - begin) / options.steps)

    with tempfile.TemporaryDirectory() as folder:
        recorder = StepRecorder(folder, skip=1 << 40)
        recorder.begin()
        seconds(recorder.step)
        with_it, without = [], []
        for _ in range(options.rounds):
            with_it.append(seconds(recorder.step))
            without.append(seconds(lambda: None))
        recorder.end()
    ratio = statistics.median(with_it) / statistics.median(without)
    print(
        json.dumps(
            {
                "step_us": round(statistics.median(without) * 1e6, 1),
                "with_recorder_us": round(statistics.median(with_it) * 1e6, 1),
                "ratio": round(ratio, 4),
            }
        )
    )


if __name__ == "__main__":
    main()
