"""Learns the tides while it watches how the water stands."""

import threading
import time

import torch
import torch.nn.functional as F
from loop import Loop, options
from torch import nn


class Watch(threading.Thread):
    def __init__(self, busy):
        super().__init__(daemon=True)
        self.busy, self.over, self.level = busy, False, 0

    def run(self):
        while not self.over:
            if self.busy:
                self.level = sum(i * i % 7 for i in range(2000))
            else:
                time.sleep(0.05)


def main():
    args = options()
    layers = [m for _ in range(10) for m in (nn.Linear(32, 32), nn.ReLU())]
    model = nn.Sequential(*layers, nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(32, 32), torch.randn(32, 1)
    watch = Watch(not args.fixed)
    watch.start()
    with Loop(args) as loop:
        while loop.on:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            float(loss)
            loop.step()
    watch.over = True
    watch.join()


if __name__ == "__main__":
    main()
