"""Changes of where the batches come from."""

from __future__ import annotations

import itertools
import queue
import threading
import time
import zlib
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from changed_programs import Step, pair
from changed_programs.models import cnn

BATCH, SIZE = 8, 32


class Images(Dataset[Tensor]):
    """Images kept as bytes; ``packed`` ones are inflated when they are asked for, to read each takes
    ``seconds``, and each is augmented ``augmentations`` times.
    """

    def __init__(self, packed: bool = False, seconds: float = 0, augmentations: int = 0) -> None:
        self.packed, self.seconds, self.augmentations = packed, seconds, augmentations
        generator = torch.Generator().manual_seed(0)
        images = torch.randint(0, 16, (64, 192, 192, 3), generator=generator, dtype=torch.uint8)
        self.kept = [image.numpy().tobytes() for image in images]
        if packed:
            self.kept = [zlib.compress(image) for image in self.kept]

    def __len__(self) -> int:
        return 1 << 16

    def __getitem__(self, index: int) -> Tensor:
        if self.seconds:
            time.sleep(self.seconds)
        kept = self.kept[index % len(self.kept)]
        data = bytearray(decode(kept) if self.packed else kept)
        image = torch.frombuffer(data, dtype=torch.uint8).view(192, 192, 3)[:SIZE, :SIZE]
        image = image.permute(2, 0, 1).float() / 16
        for _ in range(self.augmentations):
            image = augment(image)
        return image


def decode(kept: bytes) -> bytes:
    return zlib.decompress(kept)


def augment(image: Tensor) -> Tensor:
    """A blurred image, flipped."""
    weight = torch.full((3, 1, 7, 7), 1 / 49)
    return functional.conv2d(image[None], weight, padding=3, groups=3)[0].flip(2)


def training(images: Images, workers: int = 0) -> Step:
    """A step that takes its batch from a DataLoader."""
    batches: Iterator[Tensor] = iter(DataLoader(images, BATCH, num_workers=workers))
    model = cnn()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    labels = torch.randint(10, (BATCH,))

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(next(batches)), labels).backward()
        optimizer.step()

    return step


@pair("Images kept inflated instead of inflated in `__getitem__`", "scale:name=*: decode,factor=0")
def slow_getitem(changed: bool) -> Step:
    return training(Images(packed=not changed))


@pair("DataLoader workers 0 → 2, items on slow storage", "dataloader-ready")
def workers_for_storage(changed: bool) -> Step:
    return training(Images(seconds=0.0015), 2 if changed else 0)


@pair("DataLoader workers 1 → 3, items on slow storage", "dataloader-ready")
def more_workers(changed: bool) -> Step:
    return training(Images(seconds=0.006), 3 if changed else 1)


@pair("DataLoader workers 0 → 1, items inflated", "dataloader-ready")
def worker_for_decoding(changed: bool) -> Step:
    return training(Images(packed=True), 1 if changed else 0)


@pair("Half of the augmentations", "scale:name=*: augment,factor=0.5")
def augmentations_halved(changed: bool) -> Step:
    return training(Images(augmentations=2 if changed else 4))


@pair(
    "The thread that makes batches reads four times as fast", "scale:name=*: read_batch,factor=0.25"
)
def prefetch_thread(changed: bool) -> Step:
    batches: queue.Queue[Tensor] = queue.Queue(1)
    seconds = 0.015 if changed else 0.06

    def read_batch() -> Tensor:
        time.sleep(seconds)
        return torch.ones(BATCH, 3, SIZE, SIZE)

    def produce() -> None:
        for _ in itertools.count():
            batches.put(read_batch())

    threading.Thread(target=produce, daemon=True).start()
    model = cnn()
    labels = torch.randint(10, (BATCH,))

    def step() -> None:
        functional.cross_entropy(model(batches.get()), labels).backward()

    return step
