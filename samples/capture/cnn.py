"""Train a small residual CNN on synthetic images; each image is made on the CPU, so the
DataLoader's time is real.

python samples/capture/cnn.py --workers 0 --out samples/cnn_workers_0
python samples/capture/cnn.py --workers 2 --out samples/cnn_workers_2
"""

from __future__ import annotations

import recording
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

CLASSES, SIZE, BATCH = 10, 32, 16


class Blobs(Dataset[tuple[Tensor, int]]):
    """Images with a blob whose place depends on the class, blurred item by item."""

    def __len__(self) -> int:
        return BATCH * (recording.STEPS + 2)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        generator = torch.Generator().manual_seed(index)
        label = index % CLASSES
        image = torch.rand(1, 3, SIZE, SIZE, generator=generator)
        image[:, :, 3 * label : 3 * label + 3] += 2.0
        weight = torch.full((3, 1, 5, 5), 1 / 25)
        for _ in range(3):
            image = functional.conv2d(image, weight, padding=2, groups=3)
        return ((image - image.mean()) / image.std())[0], label


class Residual(nn.Module):
    """Two 3 × 3 convolutions around a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = (
            nn.Sequential() if stride == 1 else nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        )

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class SmallResNet(nn.Module):
    """A stem, three residual blocks, a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.blocks = nn.Sequential(Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2))
        self.classifier = nn.Linear(64, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.blocks(functional.relu(self.stem(x))).mean((2, 3)))


def main() -> None:
    args = recording.arguments(__doc__, workers=0)
    recording.seeded()
    device = recording.device()
    loader = DataLoader(
        Blobs(), BATCH, shuffle=True, num_workers=args.workers, pin_memory=device.type == "cuda"
    )
    model = SmallResNet().to(device)
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    with recording.recorder(args.out, "worker0") as prof:
        for step, (images, labels) in enumerate(loader):
            if step == recording.STEPS:
                break
            loss = loss_of(
                model(images.to(device, non_blocking=True)), labels.to(device, non_blocking=True)
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            prof.step()


if __name__ == "__main__":
    main()
