"""Run a small network without training and without a profiler schedule: a recording that has no
ProfilerStep.

python samples/capture/inference.py --out samples/inference
"""

from __future__ import annotations

import recording
import torch
from torch import nn

REQUESTS = 6


def main() -> None:
    args = recording.arguments(__doc__)
    recording.seeded()
    device = recording.device()
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(device).eval()
    with torch.inference_mode():
        model(torch.randn(1, 32, 64, device=device))
    with torch.inference_mode(), recording.recorder(args.out, "server0", steps=False):
        for request in range(REQUESTS):
            with torch.profiler.record_function("request"):
                model(torch.randn(1 + request % 3, 32, 64, device=device)).argmax(-1).cpu()


if __name__ == "__main__":
    main()
