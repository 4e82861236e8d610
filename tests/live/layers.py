"""Layers typical of twenty kinds of models, small enough to run in moments: a module and its input
each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Layer = tuple[Any, Any]
"""A module (or a function with parameters) and the tensor that it takes."""


def _module(torch: Any, forward: Callable[..., Any], **parts: Any) -> Any:
    """A module of named parts; ``forward(parts, x)`` says what it does."""
    made = torch.nn.ModuleDict(parts)
    made.forward = lambda x: forward(made, x)
    return made


def resnet_basic_block(torch: Any) -> Layer:
    """Two 3 × 3 convolutions with a strided shortcut."""
    nn = torch.nn
    block = _module(
        torch,
        lambda m, x: torch.relu(m.norm2(m.conv2(torch.relu(m.norm1(m.conv1(x))))) + m.shortcut(x)),
        conv1=nn.Conv2d(8, 16, 3, stride=2, padding=1, bias=False),
        norm1=nn.BatchNorm2d(16),
        conv2=nn.Conv2d(16, 16, 3, padding=1, bias=False),
        norm2=nn.BatchNorm2d(16),
        shortcut=nn.Conv2d(8, 16, 1, stride=2, bias=False),
    )
    return block, torch.randn(2, 8, 15, 17, requires_grad=True)


def resnet_bottleneck(torch: Any) -> Layer:
    """1 × 1, 3 × 3, 1 × 1, behind a first layer whose input needs no gradient."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(3, 32, 7, stride=2, padding=3),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        nn.Conv2d(32, 8, 1),
        nn.Conv2d(8, 8, 3, padding=1),
        nn.Conv2d(8, 32, 1),
    ), torch.randn(2, 3, 33, 32)


def mobilenet_depthwise(torch: Any) -> Layer:
    """A depthwise convolution: as many groups as channels."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(8, 48, 1, bias=False),
        nn.BatchNorm2d(48),
        nn.ReLU6(),
        nn.Conv2d(48, 48, 3, stride=2, padding=1, groups=48, bias=False),
        nn.BatchNorm2d(48),
        nn.Conv2d(48, 12, 1, bias=False),
    ), torch.randn(2, 8, 14, 14, requires_grad=True)


def convnext_block(torch: Any) -> Layer:
    """A 7 × 7 depthwise convolution and two linear layers on the channels."""
    nn = torch.nn
    return _module(
        torch,
        lambda m, x: (
            x
            + m.down(nn.functional.gelu(m.up(m.norm(m.depthwise(x).permute(0, 2, 3, 1))))).permute(
                0, 3, 1, 2
            )
        ),
        depthwise=nn.Conv2d(12, 12, 7, padding=3, groups=12),
        norm=nn.LayerNorm(12),
        up=nn.Linear(12, 48),
        down=nn.Linear(48, 12),
    ), torch.randn(2, 12, 10, 9, requires_grad=True)


def unet_up(torch: Any) -> Layer:
    """A transposed convolution, the skip connection, a convolution."""
    nn = torch.nn
    return _module(
        torch,
        lambda m, x: m.conv(torch.cat([m.up(m.down(x)), x], 1)),
        down=nn.Conv2d(4, 8, 3, stride=2, padding=1),
        up=nn.ConvTranspose2d(8, 4, 2, stride=2),
        conv=nn.Conv2d(8, 4, 3, padding=1),
    ), torch.randn(2, 4, 16, 12, requires_grad=True)


def dcgan_generator(torch: Any) -> Layer:
    """Transposed convolutions with strides, padding, output padding, groups and dilation."""
    nn = torch.nn
    return nn.Sequential(
        nn.ConvTranspose2d(16, 8, 4, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.ConvTranspose2d(8, 8, 3, stride=2, padding=1, output_padding=1, groups=2),
        nn.ConvTranspose2d(8, 3, 3, dilation=2),
        nn.Tanh(),
    ), torch.randn(2, 16, 1, 1, requires_grad=True)


def wav2vec_features(torch: Any) -> Layer:
    """One-dimensional convolutions with strides and groups."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv1d(1, 16, 10, stride=5),
        nn.GELU(),
        nn.Conv1d(16, 16, 3, stride=2),
        nn.GroupNorm(4, 16),
        nn.Conv1d(16, 16, 8, padding=4, groups=4),
    ), torch.randn(2, 1, 160)


def video_convolution(torch: Any) -> Layer:
    """Three-dimensional convolutions, factored in space and time."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv3d(3, 6, (1, 3, 3), padding=(0, 1, 1)),
        nn.ReLU(),
        nn.Conv3d(6, 8, (3, 1, 1), stride=(2, 1, 1), padding=(1, 0, 0)),
    ), torch.randn(1, 3, 6, 10, 8, requires_grad=True)


def dilated_head(torch: Any) -> Layer:
    """A detection head: dilated convolutions and two outputs."""
    nn = torch.nn
    return _module(
        torch,
        lambda m, x: (
            m.boxes(torch.relu(m.tower(x))).sum() + m.classes(torch.relu(m.tower(x))).sum()
        ),
        tower=nn.Conv2d(8, 8, 3, padding=2, dilation=2),
        boxes=nn.Conv2d(8, 4, 3, padding="same"),
        classes=nn.Conv2d(8, 10, 3, padding="valid"),
    ), torch.randn(1, 8, 12, 12, requires_grad=True)


def _attention(
    torch: Any, heads: int, kv_heads: int, *, causal: bool = False, width: int = 32
) -> Any:
    nn = torch.nn
    head = width // heads

    def forward(m: Any, x: Any) -> Any:
        batch, length, _ = x.shape
        q = m.q(x).view(batch, length, heads, head).transpose(1, 2)
        k, v = (part(x).view(batch, length, kv_heads, head).transpose(1, 2) for part in (m.k, m.v))
        mixed = nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=kv_heads != heads
        )
        return m.out(mixed.transpose(1, 2).reshape(batch, length, width))

    keys, values = (nn.Linear(width, head * kv_heads) for _ in range(2))
    return _module(
        torch, forward, q=nn.Linear(width, width), k=keys, v=values, out=nn.Linear(width, width)
    )


def vit_block(torch: Any) -> Layer:
    """Patches, attention, a multi-layer perceptron."""
    nn = torch.nn
    return _module(
        torch,
        lambda m, x: m.mlp(m.attention(m.patches(x).flatten(2).transpose(1, 2))),
        patches=nn.Conv2d(3, 32, 8, stride=8),
        attention=_attention(torch, 4, 4),
        mlp=nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)),
    ), torch.randn(2, 3, 32, 24)


def bert_layer(torch: Any) -> Layer:
    """The encoder layer of PyTorch, in training mode."""
    return torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), torch.randn(
        2, 13, 32, requires_grad=True
    )


def gpt2_block(torch: Any) -> Layer:
    """Causal attention."""
    return _attention(torch, 4, 4, causal=True), torch.randn(2, 11, 32, requires_grad=True)


def llama_block(torch: Any) -> Layer:
    """Grouped queries and a gated perceptron without biases, behind an RMS norm."""
    nn = torch.nn
    return _module(
        torch,
        lambda m, x: m.down(nn.functional.silu(m.gate(m.attention(m.norm(x)))) * m.up(x)),
        norm=nn.RMSNorm(32),
        attention=_attention(torch, 8, 2),
        gate=nn.Linear(32, 48, bias=False),
        up=nn.Linear(32, 48, bias=False),
        down=nn.Linear(48, 32, bias=False),
    ), torch.randn(2, 9, 32, requires_grad=True)


def t5_attention(torch: Any) -> Layer:
    """Scores by matmul with a bias of positions, by baddbmm."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        scores = torch.baddbmm(
            m.bias.weight.expand(x.shape[0], -1, -1), m.q(x), m.k(x).transpose(1, 2)
        )
        return torch.matmul(scores.softmax(-1), x)

    return _module(
        torch,
        forward,
        q=nn.Linear(16, 16, bias=False),
        k=nn.Linear(16, 16, bias=False),
        bias=nn.Linear(7, 7, bias=False),
    ), torch.randn(3, 7, 16, requires_grad=True)


def mixer_block(torch: Any) -> Layer:
    """Linear layers over tokens and over channels."""
    nn = torch.nn
    return _module(
        torch,
        lambda m, x: m.channels(x + m.tokens(x.transpose(1, 2)).transpose(1, 2)),
        tokens=nn.Sequential(nn.Linear(10, 20), nn.GELU(), nn.Linear(20, 10)),
        channels=nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)),
    ), torch.randn(2, 10, 16, requires_grad=True)


def dlrm_interaction(torch: Any) -> Layer:
    """Embeddings, a perceptron, and all products of pairs."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        rows = torch.stack(
            [
                m.bottom(x),
                m.table(torch.arange(6) % 4),
                m.bag(torch.arange(12) % 5, torch.arange(0, 12, 2)),
            ],
            1,
        )
        return m.top(torch.bmm(rows, rows.transpose(1, 2)).flatten(1))

    bag = nn.EmbeddingBag(5, 8, mode="sum")
    return _module(
        torch,
        forward,
        bottom=nn.Linear(5, 8),
        table=nn.Embedding(4, 8),
        bag=bag,
        top=nn.Linear(9, 1),
    ), torch.randn(6, 5)


def lstm_language_model(torch: Any) -> Layer:
    """An embedding, a recurrent cell unrolled in Python, a classifier."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        h = c = torch.zeros(x.shape[1], 12)
        for step in x:
            h, c = m.cell(step, (h, c))
        return m.classes(h)

    return _module(torch, forward, cell=nn.LSTMCell(7, 12), classes=nn.Linear(12, 20)), torch.randn(
        3, 4, 7, requires_grad=True
    )


def graph_convolution(torch: Any) -> Layer:
    """A dense adjacency times features times weights, of one graph and of a batch."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        adjacency = torch.eye(9) + torch.ones(9, 9) / 9
        return torch.mm(adjacency, m.first(x)) @ m.second.weight + torch.matmul(
            adjacency, m.first(x).expand(2, -1, -1)
        ).sum(0)

    return _module(
        torch, forward, first=nn.Linear(6, 8), second=nn.Linear(8, 8, bias=False)
    ), torch.randn(9, 6, requires_grad=True)


def swin_window(torch: Any) -> Layer:
    """Attention in windows, with a mask."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        q, k, v = m.qkv(x).view(x.shape[0], x.shape[1], 3, 2, 8).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(8) + torch.zeros(1, 1, x.shape[1], x.shape[1])
        return m.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))

    return _module(torch, forward, qkv=nn.Linear(16, 48), out=nn.Linear(16, 16)), torch.randn(
        6, 12, 16, requires_grad=True
    )


def mixture_of_experts(torch: Any) -> Layer:
    """A gate, and experts by batched products with their biases."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        weights = m.gate(x).softmax(-1)
        hidden = torch.baddbmm(
            m.shift.weight[:, None], x.expand(4, -1, -1), m.up.weight.view(4, 8, 16)
        ).relu()
        return torch.einsum("eth,te->th", torch.bmm(hidden, m.down.weight.view(4, 16, 8)), weights)

    parts = {
        "gate": nn.Linear(8, 4),
        "up": nn.Linear(16, 32),
        "shift": nn.Linear(16, 4),
        "down": nn.Linear(8, 64),
    }
    return _module(torch, forward, **parts), torch.randn(10, 8, requires_grad=True)


def autoencoder(torch: Any) -> Layer:
    """Linear layers on vectors, and the last one on a single vector."""
    nn = torch.nn
    return _module(
        torch,
        lambda m, x: m.decoder(m.encoder(x)).sum() + m.encoder(x[0]).sum(),
        encoder=nn.Sequential(nn.Linear(20, 6), nn.ReLU()),
        decoder=nn.Sequential(nn.Linear(6, 20), nn.Sigmoid()),
    ), torch.randn(5, 20, requires_grad=True)


LAYERS: tuple[Callable[[Any], Layer], ...] = (
    resnet_basic_block,
    resnet_bottleneck,
    mobilenet_depthwise,
    convnext_block,
    unet_up,
    dcgan_generator,
    wav2vec_features,
    video_convolution,
    dilated_head,
    vit_block,
    bert_layer,
    gpt2_block,
    llama_block,
    t5_attention,
    mixer_block,
    dlrm_interaction,
    lstm_language_model,
    graph_convolution,
    swin_window,
    mixture_of_experts,
    autoencoder,
)
