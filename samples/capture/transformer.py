"""Train a small decoder-only transformer, with named regions around the phases of a step.

python samples/capture/transformer.py --out samples/transformer
"""

from __future__ import annotations

import recording
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.profiler import record_function

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 512, 64, 4, 2, 64, 8


class Block(nn.Module):
    """Pre-norm causal self-attention and a feed-forward layer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        with record_function("attention"):
            q, k, v = (
                self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            )
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        with record_function("feed_forward"):
            return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    """Token and position embeddings, blocks, logits."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.logits = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.logits(self.norm(x))


def main() -> None:
    args = recording.arguments(__doc__)
    recording.seeded()
    device = recording.device()
    model = Decoder().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with recording.recorder(args.out, "worker0") as prof:
        for _ in range(recording.STEPS):
            with record_function("## data ##"):
                tokens = torch.randint(VOCABULARY, (BATCH, LENGTH + 1)).to(device)
            with record_function("## forward ##"):
                logits = model(tokens[:, :-1])
                loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            with record_function("## backward ##"):
                loss.backward()
            with record_function("## optimizer ##"):
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            prof.step()


if __name__ == "__main__":
    main()
