"""Copies, reductions, softmax, norms, embeddings, losses: their traffic and FLOPs."""

from __future__ import annotations

import pytest

from tests.hardware.families.calls import unknown, work
from torch_tb_profiler.hardware.work import Work


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ("aten::copy_(bf16 4x5, fp32 5, False)", 2 * 20 + 4 * 5),
        ("aten::clone(fp16 4x5, None)", 2 * 40),
        ("aten::_to_copy(fp32 4x5, 15, None, None, None, False, None)", (4 + 2) * 20),
        ("aten::_to_copy(fp32 4x5, None, None, None, None, False, None)", 160),
        ("aten::fill_(bf16 4x5, 0)", 40),
        ("aten::zero_(bf16 4x5)", 40),
        ("aten::normal_(fp32 4x5, 0.0, 1.0, None)", 80),
        ("aten::index_select(bf16 100x8, 0, i64 6)", 6 * 8 + 2 * 2 * 48),
        ("aten::index_select(bf16 3x8, 0, i64 600)", 600 * 8 + 2 * (24 + 4800)),
        ("aten::gather(fp32 100x8, 0, i64 6x8, False)", 48 * 8 + 2 * 4 * 48),
        ("aten::scatter_(fp32 100x8, 0, i64 6x8, fp32 6x8)", 48 * 8 + 2 * 4 * 48),
        ("aten::scatter_(fp32 100x8, 0, i64 6x8, 1.0)", 48 * (8 + 4)),
        ("aten::scatter_add_(fp32 100x8, 0, i64 6x8, fp32 6x8)", 48 * 8 + 3 * 4 * 48),
        ("aten::index_add_(fp32 100x8, 0, i64 6, fp32 6x8, 1)", 6 * 8 + 3 * 4 * 48),
        ("aten::index_fill_(fp32 100x8, 0, i64 6, 0.0)", 6 * 8 + 4 * 48),
        ("aten::scatter(fp32 100x8, 0, i64 6x8, fp32 6x8)", 2 * 4 * 800 + 48 * 8 + 4 * 48),
        ("aten::constant_pad_nd(bf16 888x2880, [0, 192], 0)", 2 * 888 * (2880 + 3072)),
        ("aten::repeat(fp32 4x5, [2, 3])", 4 * 20 * 7),
        ("aten::slice_backward(fp32 4x5, [9, 5], 0, 0, 4, 1)", 4 * (20 + 45)),
        ("aten::topk(fp32 7x9, 2, -1, True, True)", 4 * 63 + 14 * 12),
        ("aten::sort(fp32 7x9, -1, False)", 63 * (4 + 4 + 8)),
        ("aten::_local_scalar_dense(bool)", 1),
        (
            "aten::embedding(bf16 30522x512, i64 141, -1, False, False)",
            141 * 8 + 2 * 2 * 141 * 512,
        ),
    ],
)
def test_what_moves_data_computes_nothing(arguments: str, size: int) -> None:
    cost = work(arguments)
    assert cost.bytes == size
    if "add" not in arguments:
        assert (cost.flops, cost.unit, cost.precision) == (0, "", "")


def test_lists_have_no_types() -> None:
    # Most versions of PyTorch record the shapes of a list's tensors only.
    assert work("aten::cat([fp32 4x1x768, fp32 4x196x768], 1)") == Work(
        0, None, "", "", {"tensors": 2, "elements": 4 * 197 * 768}
    )
    assert work("aten::cat([fp32 4x5, fp32 3x5], 0, fp32 7x5)").bytes == 2 * 4 * 35


@pytest.mark.parametrize(
    ("arguments", "flops", "size"),
    [
        ("aten::sum(fp32 4x5x6, [0, -1], False, None)", 120, 4 * (120 + 5)),
        ("aten::sum(bf16 4x5x6, None)", 120, 2 * 121),
        ("aten::sum(i64 4x5x6, None)", 0, 8 * 121),
        ("aten::sum(bool 4x5x6, [0], True, None)", 0, 120 + 8 * 30),
        ("aten::mean(bf16 4x5x6, [-1], True, None)", 120 + 20, 2 * (120 + 20)),
        ("aten::mean(bf16 4x5x6, [-1], True, 6)", 140, 2 * 120 + 4 * 20),
        ("aten::max(fp32 4x5, 1, False)", 20, 4 * (20 + 4) + 8 * 4),
        ("aten::max(fp32 4x5)", 20, 4 * 21),
        ("aten::max(fp32 4x5, fp32 5)", 20, 4 * 45),
        ("aten::argmax(fp32 4x5, None, False)", 20, 80 + 8),
        ("aten::all(bool 4x5)", 0, 21),
        ("aten::any(fp32 4x5, 1, False)", 20, 80 + 4),
        ("aten::linalg_vector_norm(fp32 4x5, 2, None, False, None)", 41, 4 * 21),
        ("aten::var(fp32 4x5, [0], 1, False)", 80, 4 * 25),
        ("aten::cumsum(fp32 4x5, 1, None)", 20, 160),
        ("aten::sum(fp32 4x5, [0], False, None, fp64 5)", 20, 80 + 40),
        ("aten::_softmax(bf16 4x5, -1, False)", 100, 2 * 40),
        ("aten::_softmax(bf16 4x5, -1, True)", 100, 2 * 20 + 4 * 20),
        ("aten::_log_softmax_backward_data(fp32 4x5, fp32 4x5, 1, 15)", 80, 4 * 40 + 2 * 20),
    ],
)
def test_reductions(arguments: str, flops: int, size: int) -> None:
    cost = work(arguments)
    assert (cost.flops, cost.bytes) == (flops, size)


def test_a_reduction_over_dimensions_that_do_not_exist() -> None:
    assert unknown("aten::sum(fp32 4x5, [2], False, None)")


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training: bool) -> None:
    n, c = 10 * 64 * 25, 64
    cost = work(
        "aten::native_batch_norm(bf16 10x64x5x5, bf16 64, bf16 64, bf16 64, "
        f"bf16 64, {training}, 0.1, 1e-5)"
    )
    assert cost.flops == 6 * c + (5 if training else 2) * n
    assert cost.bytes == 2 * (2 * n + (6 if training else 4) * c)
    # TraceLens reads the flag of the backward as true whatever it says: bool("False").
    arguments = (
        "bf16 10x64x5x5",
        "bf16 10x64x5x5",
        "bf16 64",
        "bf16 64",
        "bf16 64",
        "fp32 64",
        "fp32 64",
        training,
        1e-5,
    )
    backward = work("aten::native_batch_norm_backward", *arguments, [True, True, True])
    assert backward.flops == 4 * n + (5 * n if training else 2 * n + 3 * c)
    # And has the 2 FLOPs of given statistics where the input's gradient is not asked for.
    assert work(
        "aten::native_batch_norm_backward", *arguments, [False, True, True]
    ).flops == 4 * n + (0 if training else 3 * c)
    # dy, x and the weight read, three gradients written, and the statistics: of the batch in
    # float32, the running ones as they are.
    assert backward.bytes == 2 * (3 * n + 3 * c) + (2 * 4 * c if training else 2 * 2 * c)


def test_the_statistics_of_rows_are_read_backward() -> None:
    layer = work(
        "aten::native_layer_norm_backward(bf16 6x8, bf16 6x8, [8], fp32 6x1, "
        "fp32 6x1, bf16 8, bf16 8, [True, True, True])"
    )
    assert (layer.flops, layer.bytes) == (9 * 48, 2 * (3 * 48 + 3 * 8) + 4 * 12)
    plain = work(
        "aten::native_layer_norm_backward(fp32 6x8, fp32 6x8, [8], fp32 6x1, "
        "fp32 6x1, None, None, [True, False, False])"
    )
    assert plain.bytes == 4 * (3 * 48 + 12)
    weights = work(
        "aten::native_layer_norm_backward(fp32 6x8, fp32 6x8, [8], fp32 6x1, "
        "fp32 6x1, fp32 8, fp32 8, [False, True, True])"
    )
    assert weights.bytes == 4 * (2 * 48 + 3 * 8 + 12)
    group = work(
        "aten::native_group_norm_backward(fp32 2x4x3, fp32 2x4x3, fp32 2x2, "
        "fp32 2x2, fp32 4, 2, 4, 3, 2, [True, True, True])"
    )
    assert group.bytes == 4 * (3 * 24 + 3 * 4 + 8)


def test_what_is_cut_off_is_not_read() -> None:
    assert work("aten::constant_pad_nd", "fp32 4x5", [-1, 2], 0).bytes == 4 * (4 * 4 + 4 * 6)
    assert unknown("aten::constant_pad_nd", "fp32 4x5", [-6, 2], 0)
    assert work("aten::upsample_nearest2d(fp32 1x1x8x8, [4, 4], None)").bytes == 4 * (16 + 16)
    assert work("aten::upsample_bilinear2d(fp32 1x1x8x8, [4, 4], False, None)").bytes == 4 * (
        64 + 16
    )


def test_norms_of_one_shape_cost_the_same() -> None:
    layer = work("aten::native_layer_norm(fp32 6x8, [8], fp32 8, fp32 8, 1e-5)")
    assert (layer.flops, layer.bytes) == (5 * 48 + 6 * 8, 4 * (2 * 48 + 6 * 8))
    assert work("aten::native_layer_norm(fp32 6x8, [8], None, None, 1e-5)").bytes == 4 * (
        2 * 48 + 4 * 8
    )
    group = work("aten::native_group_norm(fp32 6x8, fp32 8, fp32 8, 6, 8, 1, 4, 1e-5)")
    assert (group.flops, group.bytes) == (layer.flops, layer.bytes)
    assert work("aten::group_norm(fp32 6x8, 4, fp32 8, fp32 8, 1e-5, True)") == group


def test_rms_norms() -> None:
    cost = work("aten::rms_norm(fp32 6x8, [8], fp32 8, 1e-5)")
    assert (cost.flops, cost.bytes) == (6 * (2 * 8 + 2) + 2 * 48, 4 * (2 * 48 + 8))
    fused = work("_C::fused_add_rms_norm(bf16 6x8, bf16 6x8, bf16 8, 1e-5)")
    assert (fused.flops, fused.bytes) == (cost.flops + 48, 2 * (4 * 48 + 8))


def test_cudnn_batch_norm_gives_all_gradients() -> None:
    cost = work(
        "aten::cudnn_batch_norm_backward(fp32 2x3x4, fp32 2x3x4, fp32 3, fp32 3, "
        "fp32 3, fp32 3, fp32 3, 1e-5, u8 0)"
    )
    assert cost.flops == 9 * 24


def test_losses() -> None:
    assert work("aten::mse_loss(fp32 5x8, fp32 5x8, 1)") == Work(
        3 * 40, 4 * 81, "vector", "fp32", {"shape": (5, 8)}
    )
    assert work("aten::mse_loss(fp32 5x8, fp32 5x8, 0)").bytes == 4 * 120
    assert (
        work("aten::cross_entropy_loss(fp32 5x100, i64 5, None, 1, -100, 0.0)").bytes
        == 4 * 500 + 8 * 5 + 4
    )
    forward = work("aten::nll_loss_forward(fp32 5x100, i64 5, None, 1, -100)")
    assert (forward.flops, forward.bytes) == (5, 5 * (8 + 4) + 8)
    assert (
        work("aten::nll_loss_backward(fp32, fp32 5x100, i64 5, None, 1, -100, fp32)").bytes
        == 4 + 40 + 4 * 500
    )


def test_bags() -> None:
    cost = work("aten::_embedding_bag(fp32 50x8, i64 12, i64 4, False, 0, False, None, False, -1)")
    assert (cost.flops, cost.bytes) == (96, 12 * 8 + 4 * 8 + 4 * (96 + 32))
    assert (
        work(
            "aten::_embedding_bag(fp32 50x8, i64 12, i64 4, False, 0, False, None, True, -1)"
        ).parameters["bags"]
        == 3
    )
    assert (
        work("aten::embedding_dense_backward(fp32 5x4, i64 5, 9, -1, False)").bytes
        == 4 * 20 + 40 + 4 * 36
    )
