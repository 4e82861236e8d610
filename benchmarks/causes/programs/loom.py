"""Serves a small model of woven patterns: each step answers a few requests."""

import torch
from loop import Loop, options
from torch import nn


class Server:
    def __init__(self, model, again):
        self.model, self.again, self.ready = model, again, None

    def answer(self, request):
        if self.again or self.ready is None:
            self.ready = torch.jit.trace(self.model, request, check_trace=False)
        return self.ready(request)


def main():
    args = options()
    body = [m for _ in range(2) for m in (nn.Linear(128, 128), nn.LayerNorm(128), nn.ReLU())]
    server = Server(nn.Sequential(*body, nn.Linear(128, 16)).eval(), not args.fixed)
    requests = torch.randn(2, 32, 128)
    with Loop(args) as loop, torch.no_grad():
        while loop.on:
            for request in requests:
                server.answer(request)
            loop.step()


if __name__ == "__main__":
    main()
