"""Train a small network with DistributedDataParallel: four CPU processes over gloo, or one process
per GPU over NCCL.

    python samples/capture/ddp.py --out samples/ddp_gloo

Only the loopback interface is used. Each rank does a little more work than the one before it, so
waiting is visible.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import recording
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WIDTH, BATCH = 128, 32


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def train(rank: int, ranks: int, port: int, out: Path) -> None:
    """One process of the job."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    recording.seeded(rank)
    device = recording.device()
    if device.type == "cuda":
        device = torch.device("cuda", rank)
        torch.cuda.set_device(device)
    dist.init_process_group(
        "nccl" if device.type == "cuda" else "gloo", rank=rank, world_size=ranks
    )
    network = nn.Sequential(
        nn.Linear(WIDTH, 2 * WIDTH),
        nn.ReLU(),
        nn.Linear(2 * WIDTH, 2 * WIDTH),
        nn.ReLU(),
        nn.Linear(2 * WIDTH, 10),
    ).to(device)
    model = DistributedDataParallel(
        network, bucket_cap_mb=0.2, device_ids=[rank] if device.type == "cuda" else None
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_of = nn.CrossEntropyLoss()
    with recording.recorder(out, f"rank{rank}") as prof:
        for _ in range(recording.STEPS):
            inputs = torch.randn(BATCH * (1 + rank), WIDTH, device=device)
            labels = torch.randint(10, (len(inputs),), device=device)
            loss = loss_of(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen = torch.tensor([float(len(inputs))], device=device)
            dist.all_reduce(seen)
            prof.step()
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    args = recording.arguments(__doc__, ranks=0)
    ranks = args.ranks or (torch.cuda.device_count() if recording.device().type == "cuda" else 4)
    mp.spawn(train, (ranks, free_port(), args.out), nprocs=ranks)


if __name__ == "__main__":
    main()
