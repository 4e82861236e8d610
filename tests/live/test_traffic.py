"""Live CPU runs: the bytes of operators equal those of the tensors that PyTorch took and gave:
shapes and types of results are ours to derive.

Only operators that read every input once and write every result once; what reads less (an
embedding, a slice) is tested without PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

from tests.live.test_flops import recorded
from torch_tb_profiler.hardware.call import Tensor
from torch_tb_profiler.hardware.element_types import element_bytes, kind
from torch_tb_profiler.hardware.results import promoted
from torch_tb_profiler.hardware.work import modelled

Made = tuple[Any, tuple[Any, ...]]
"""The operator's results, and the tensors that it took."""
Case = tuple[str, Callable[[], Made]]
"""The operator, perhaps followed by what is special, and the run."""


def _bytes(tensors: Any) -> int:
    """Bytes of tensors, in whatever they are nested; an expanded one has those that it has in
    memory.
    """
    if hasattr(tensors, "untyped_storage"):
        return int(
            min(tensors.numel() * tensors.element_size(), tensors.untyped_storage().nbytes())
        )
    return (
        sum(_bytes(tensor) for tensor in tensors if tensor is not None)
        if isinstance(tensors, (tuple, list))
        else 0
    )


def _case(title: str, function: Callable[..., Any], *tensors: Any) -> Case:
    return title, lambda: (function(*tensors), tensors)


def _network(title: str, network: Any, x: Any) -> Case:
    """The states begin with zeros and come out small: only the sequence's outputs are counted."""
    return title, lambda: (network(x)[0], (x, *network.parameters()))


def of_elements(t: Any) -> list[Case]:
    """Functions of elements of several types (those of one type are in ``test_elementwise.py``), dropout, losses, quantisation."""
    x, y = t.rand(3, 5, 7), t.rand(3, 5, 7)
    half, brain, whole, small, flag = (
        x.half(),
        x.bfloat16(),
        t.arange(105).view(3, 5, 7),
        t.arange(7, dtype=t.int32),
        x > 0.5,
    )
    matrix, classes, nn, aten = t.rand(5, 4), t.arange(5) % 4, t.nn.functional, t.ops.aten
    return [
        _case("aten::add of two types", t.add, half, x),
        _case("aten::add of two halves", t.add, half, brain),
        _case("aten::add of an integer", t.add, half, whole),
        _case("aten::mul of no dimensions", t.mul, half, t.tensor(2.0)),
        # A Python number is recorded as a tensor of no dimensions, of the type double.
        _case(
            "aten::add of a wrapped number",
            lambda a, _: t.add(a, 2.5),
            whole,
            t.tensor(2.5, dtype=t.float64),
        ),
        _case("aten::mul of an expanded one", t.mul, t.rand(1, 5, 1).expand(3, 5, 7), x),
        _case("aten::div of integers", t.div, whole, small),
        _case("aten::where", t.where, flag, x, half),
        _case("aten::masked_fill", lambda a, m: a.masked_fill(m, 0), half, flag),
        _case("aten::sigmoid of integers", t.sigmoid, whole),
        _case("aten::glu", lambda a: nn.glu(a, 0), t.rand(4, 5)),
        _case("aten::exp into out", lambda a, b: t.exp(a, out=b), half, y.clone()),
        _case("aten::native_dropout", lambda a: t.native_dropout(a, 0.5, True), half),
        _case(
            "aten::native_dropout_backward",
            lambda a, m: aten.native_dropout_backward(a, m, 2.0),
            x,
            flag,
        ),
        _case("aten::mse_loss", nn.mse_loss, x, y),
        _case("aten::mse_loss of each", lambda a, b: nn.mse_loss(a, b, reduction="none"), x, y),
        _case("aten::binary_cross_entropy", nn.binary_cross_entropy, x, y),
        _case("aten::smooth_l1_loss", nn.smooth_l1_loss, x, y),
        _case("aten::cross_entropy_loss", nn.cross_entropy, matrix, classes),
        _case(
            "aten::cross_entropy_loss of each",
            lambda a, b: nn.cross_entropy(a, b, reduction="none"),
            matrix,
            classes,
        ),
        _case(
            "aten::mse_loss_backward",
            lambda g, a, b: aten.mse_loss_backward(g, a, b, 1),
            t.tensor(1.0),
            x,
            y,
        ),
        _case(
            "aten::fake_quantize_per_tensor_affine_cachemask",
            lambda a: aten.fake_quantize_per_tensor_affine_cachemask(a, 0.1, 0, 0, 255),
            x,
        ),
    ]


def of_rows(t: Any) -> list[Case]:
    """Reductions, scans, softmax, norms, copies."""
    x, y, row = t.rand(3, 5, 7), t.rand(3, 5, 7), t.rand(7)
    half, small, flag, matrix, nn, aten = (
        x.half(),
        t.arange(7, dtype=t.int32).view(7, 1),
        x > 0.5,
        t.rand(5, 4),
        t.nn.functional,
        t.ops.aten,
    )
    return [
        _case("aten::sum", t.sum, half),
        _case("aten::sum of dimensions", lambda a: t.sum(a, (0, -1)), half),
        _case("aten::sum kept", lambda a: t.sum(a, 1, keepdim=True), x),
        _case("aten::sum of integers", lambda a: t.sum(a, 0), small),
        _case("aten::sum as another type", lambda a: t.sum(a, 1, dtype=t.float64), x),
        _case("aten::sum of all as another", lambda a: t.sum(a, dtype=t.float64), x),
        _case("aten::mean", lambda a: t.mean(a, 2), half),
        _case("aten::amax", lambda a: t.amax(a, (1, 2)), x),
        _case("aten::max", lambda a: tuple(t.max(a, 1)), x),
        _case("aten::max of all", t.max, x),
        _case("aten::max of two", t.max, x, y),
        _case("aten::argmax", lambda a: t.argmax(a, 2), x),
        _case("aten::argmax of all", t.argmax, x),
        _case("aten::any", t.any, flag),
        _case("aten::all", lambda a: t.all(a, 1), flag),
        _case("aten::var", lambda a: t.var(a, 1), x),
        _case("aten::var_mean", lambda a: t.var_mean(a, (0, 1), keepdim=True), x),
        _case("aten::std of all", t.std, x),
        _case("aten::linalg_vector_norm", lambda a: t.linalg.vector_norm(a, 2, 1), x),
        _case("aten::logsumexp", lambda a: t.logsumexp(a, 1), x),
        _case("aten::cumsum", lambda a: t.cumsum(a, 1), small),
        _case("aten::count_nonzero", lambda a: t.count_nonzero(a, 1), x),
        _case("aten::_softmax", lambda a: t.softmax(a, 1), x.bfloat16()),
        _case("aten::_log_softmax", lambda a: t.log_softmax(a, 1), x),
        _case(
            "aten::_softmax_backward_data",
            lambda a, b: aten._softmax_backward_data(a, b, 1, t.float32),
            x,
            y,
        ),
        _case("aten::rms_norm", lambda a, w: nn.rms_norm(a, (7,), w), x, row),
        _case("aten::clone", t.clone, half),
        _case("aten::_to_copy", lambda a: a.double(), half),
        _case("aten::flip", lambda a: t.flip(a, (1,)), half),
        _case(
            "aten::copy_",
            lambda a, b: (a.copy_(b), None)[1],
            t.rand(3, 4),
            t.rand(4, dtype=t.float64),
        ),
        _case("aten::tril", t.tril, matrix),
        _case("aten::gather", lambda a, i: t.gather(a, 1, i), matrix, t.zeros(5, 4, dtype=t.int64)),
        _case("aten::index_select", lambda a, i: t.index_select(a, 0, i), matrix, t.arange(5)),
        _case("aten::sort", lambda a: tuple(t.sort(a)), half),
        _case("aten::repeat", lambda a: a.repeat(2, 1, 3), half),
        _case("aten::constant_pad_nd", lambda a: nn.pad(a, (1, 2, 0, 3)), half),
        _case("aten::_fft_r2c", lambda a: t.fft.rfft2(a), x),
        _case("aten::_fft_c2r", lambda a: t.fft.irfft(a, 9), t.rand(4, 5, dtype=t.complex64)),
        _case("aten::_fft_c2c", lambda a: t.fft.fft(a, dim=0), t.rand(4, 5, dtype=t.complex128)),
        _case(
            "aten::im2col", lambda a: nn.unfold(a, (3, 2), padding=1, stride=2), t.rand(2, 3, 8, 9)
        ),
        _case(
            "aten::col2im",
            lambda a: nn.fold(a, (8, 9), (3, 2), padding=1, stride=2),
            t.rand(2, 18, 20),
        ),
        _case("aten::topk", lambda a: tuple(t.topk(a, 2, 1)), half),
        _case("aten::reflection_pad1d", lambda a: nn.pad(a, (1, 2), "reflect"), x),
        _case(
            "aten::slice_backward", lambda a: aten.slice_backward(a, [9, 5, 7], 0, 1, 4, 1), half
        ),
        _case(
            "aten::embedding_dense_backward",
            lambda a, i: aten.embedding_dense_backward(a, i, 9, -1, False),
            matrix,
            t.arange(5),
        ),
    ]


def of_products(t: Any) -> list[Case]:
    """Matrix products, convolutions, pooling, resampling, attention, recurrent networks."""
    x, row, matrix, square, image = (
        t.rand(3, 5, 7),
        t.rand(7),
        t.rand(5, 4),
        t.rand(3, 4, 6),
        t.rand(2, 6, 11, 9),
    )
    nn, q, k, half = t.nn.functional, t.rand(2, 3, 5, 8), t.rand(2, 3, 6, 8), t.bfloat16
    return [
        _case("aten::mm", t.mm, matrix.T, matrix),
        _case("aten::addmm", t.addmm, t.rand(4), matrix.T, matrix),
        _case("aten::bmm", t.bmm, square, square.mT),
        _case(
            "aten::addmm of beta 0", lambda a, b: t.addmm(t.rand(4), a, b, beta=0), matrix.T, matrix
        ),
        _case("aten::matmul", t.matmul, square, t.rand(6)),
        _case("aten::linear", nn.linear, square, t.rand(8, 6), t.rand(8)),
        _case("aten::mv", t.mv, matrix, t.rand(4)),
        _case("aten::dot", t.dot, row, row.clone()),
        _case("aten::outer", t.outer, row, t.rand(3)),
        _case("aten::addbmm", t.addbmm, t.rand(4, 4), square, square.mT),
        _case("aten::baddbmm", t.baddbmm, t.rand(4, 4), square, square.mT),
        _case("aten::mm of bf16", t.mm, matrix.T.to(half), matrix.to(half)),
        _case(
            "aten::convolution",
            lambda a, w, b: nn.conv2d(a, w, b, (2, 1), 1, (1, 2), 2),
            image,
            t.rand(4, 3, 3, 2),
            t.rand(4),
        ),
        _case(
            "aten::convolution transposed",
            lambda a, w: nn.conv_transpose2d(a, w, None, 3, 1, 2, 2),
            image,
            t.rand(6, 2, 3, 3),
        ),
        _case("aten::conv1d without a batch", nn.conv1d, t.rand(3, 9), t.rand(5, 3, 2)),
        _case("aten::conv3d", nn.conv3d, t.rand(1, 2, 4, 5, 6), t.rand(3, 2, 2, 2, 2)),
        _case("aten::max_pool2d", lambda a: nn.max_pool2d(a, 3, 2, 1, ceil_mode=True), image),
        _case(
            "aten::max_pool2d_with_indices",
            lambda a: nn.max_pool2d(a, (3, 2), return_indices=True),
            image,
        ),
        _case("aten::avg_pool2d", lambda a: nn.avg_pool2d(a, 4, 3, 2, ceil_mode=True), image),
        _case("aten::avg_pool1d", lambda a: nn.avg_pool1d(a, 2), x),
        _case("aten::_adaptive_avg_pool2d", lambda a: nn.adaptive_avg_pool2d(a, (4, 3)), image),
        _case(
            "aten::adaptive_max_pool2d",
            lambda a: nn.adaptive_max_pool2d(a, 2, return_indices=True),
            image,
        ),
        _case("aten::upsample_nearest2d", lambda a: nn.interpolate(a, scale_factor=2.5), image),
        _case(
            "aten::upsample_bilinear2d",
            lambda a: nn.interpolate(a, (5, 20), mode="bilinear"),
            image,
        ),
        _case(
            "aten::upsample_bicubic2d", lambda a: nn.interpolate(a, (5, 20), mode="bicubic"), image
        ),
        _case(
            "aten::upsample_nearest2d by whole factors",
            lambda a: nn.interpolate(a, scale_factor=2),
            image,
        ),
        _case("aten::pixel_shuffle", lambda a: nn.pixel_shuffle(a, 2), t.rand(2, 8, 3, 4)),
        _case("aten::_cdist_forward", t.cdist, square, t.rand(3, 5, 6)),
        _case(
            "aten::reflection_pad1d_backward",
            lambda g: t.ops.aten.reflection_pad1d_backward(g, t.empty(3, 5), [1, 2]),
            t.rand(3, 8),
        ),
        _case(
            "aten::grid_sampler_2d",
            lambda a, g: nn.grid_sample(a, g, align_corners=False),
            image,
            t.rand(2, 4, 3, 2),
        ),
        _case(
            "aten::scaled_dot_product_attention", nn.scaled_dot_product_attention, q, k, k.clone()
        ),
        _network("aten::lstm", t.nn.LSTM(7, 4, 2, bidirectional=True), x),
        _network("aten::gru", t.nn.GRU(7, 4, 2, bidirectional=True), x),
        _network("aten::rnn_tanh", t.nn.RNN(7, 4), x),
        _network("aten::lstm of one layer", t.nn.LSTM(7, 4, bias=False), x),
        _network("aten::lstm with a projection", t.nn.LSTM(7, 4, 2, proj_size=3), x),
    ]


def of_gradients(t: Any) -> list[Case]:
    """Gradients of norms and losses, scans, factorisations, and what else takes and gives whole
    tensors.
    """
    x, dy, row, aten, mask = (
        t.rand(3, 4, 6),
        t.rand(3, 4, 6),
        t.rand(6),
        t.ops.aten,
        [True, True, True],
    )
    stats, half, channel = (t.rand(3, 4, 1), t.rand(3, 4, 1)), x.bfloat16(), t.rand(4)
    groups, image, square = (
        (t.rand(3, 2), t.rand(3, 2)),
        t.rand(2, 4, 5, 3),
        t.rand(6, 6) + 6 * t.eye(6),
    )
    return [
        _case(
            "aten::native_layer_norm_backward",
            lambda g, a, m, r, w: aten.native_layer_norm_backward(g, a, [6], m, r, w, w, mask),
            dy,
            x,
            *stats,
            row,
        ),
        _case(
            "aten::native_layer_norm_backward without weights",
            lambda g, a, m, r: aten.native_layer_norm_backward(
                g, a, [6], m, r, None, None, [True, False, False]
            )[0],
            dy,
            x,
            *stats,
        ),
        _case(
            "aten::native_group_norm_backward",
            lambda g, a, m, r, w: aten.native_group_norm_backward(g, a, m, r, w, 3, 4, 6, 2, mask),
            dy,
            x,
            *groups,
            channel,
        ),
        _case(
            "aten::native_batch_norm_backward",
            lambda g, a, w, m, v: aten.native_batch_norm_backward(
                g, a, w, None, None, m, v, True, 1e-5, mask
            ),
            image,
            image.clone(),
            channel,
            t.rand(4),
            t.rand(4),
        ),
        _case(
            "aten::native_batch_norm_backward of given statistics",
            lambda g, a, w, m, v: aten.native_batch_norm_backward(
                g, a, w, m, v, None, None, False, 1e-5, mask
            ),
            image,
            image.clone(),
            channel,
            t.rand(4),
            t.rand(4),
        ),
        _case(
            "aten::_weight_norm_interface",
            lambda v, g: aten._weight_norm_interface(v, g, 0),
            t.rand(5, 3),
            t.rand(5, 1),
        ),
        _case(
            "aten::_weight_norm_interface_backward",
            lambda d, v, g, n: aten._weight_norm_interface_backward(d, v, g, n, 0),
            t.rand(5, 3),
            t.rand(5, 3),
            t.rand(5, 1),
            t.rand(5, 1),
        ),
        _case("aten::trace of all", lambda a: t.trace(a), t.rand(1, 1)),
        _case("aten::cumprod_", lambda a: a.cumprod_(1), x.clone()),
        _case("aten::searchsorted", t.searchsorted, row.sort().values, t.rand(5)),
        _case("aten::bucketize", lambda a, b: t.bucketize(a, b, out_int32=True), x, row),
        _case("aten::linalg_cholesky_ex", lambda a: t.linalg.cholesky_ex(a).L, square @ square.T),
        _case("aten::linalg_inv_ex", lambda a: t.linalg.inv_ex(a)[0], square),
        _case("aten::linalg_lu_factor_ex", lambda a: t.linalg.lu_factor_ex(a)[0], t.rand(2, 6, 5)),
        _case(
            "aten::linalg_solve_triangular",
            lambda a, b: t.linalg.solve_triangular(a, b, upper=True),
            square,
            t.rand(6, 3),
        ),
        _case(
            "aten::_linalg_solve_ex",
            lambda a, b: aten._linalg_solve_ex(a, b)[:2],
            square,
            t.rand(6),
        ),
        _case("aten::geqrf", lambda a: t.geqrf(a)[0], t.rand(7, 4)),
        _case("aten::float_power", t.float_power, half, t.tensor([2.0, 3, 1, 1, 2, 2])),
        _case("aten::pow of an integer", lambda a: a.pow(0.5), t.arange(9)),
        _case("aten::clamp of an integer", lambda a: a.clamp(0.5, 2), t.arange(9)),
        _case("aten::where of numbers", lambda m: t.where(m, 1.0, 0.0), x > 0.5),
        _case(
            "aten::binary_cross_entropy_backward",
            lambda g, a, b: aten.binary_cross_entropy_backward(g, a, b),
            t.tensor(1.0),
            x,
            dy,
        ),
        _case(
            "aten::index_add_",
            lambda a, i, b: a.index_add_(0, i, b),
            t.rand(3, 4),
            t.arange(3),
            t.rand(3, 4),
        ),
        _case(
            "aten::scatter_add_",
            lambda a, i, b: a.scatter_add_(0, i, b),
            t.rand(3, 4),
            t.zeros(3, 4, dtype=t.int64),
            t.rand(3, 4),
        ),
        _case(
            "aten::_adaptive_avg_pool3d_backward",
            lambda g: aten._adaptive_avg_pool3d_backward(g, t.empty(1, 2, 4, 4, 4)),
            t.rand(1, 2, 2, 2, 2),
        ),
    ]


def test_bytes_of_what_is_taken_and_given(torch: Any, tmp_path: Path) -> None:
    wrong, compared = [], set()
    for title, case in (
        *of_elements(torch),
        *of_rows(torch),
        *of_products(torch),
        *of_gradients(torch),
    ):
        kept: list[Made] = []
        run = lambda case=case, kept=kept: kept.append(case())  # noqa: E731
        calls = recorded(torch, tmp_path / "trace.json", run)
        works = [work for call, work in calls if call.name == title.split(" ")[0]]
        results, taken = kept[0]
        into = title.endswith("into out")
        expected = _bytes(taken) if into else _bytes(results) + _bytes(taken)
        if not works or works[0] is None or works[0].bytes != expected:
            wrong.append(
                (title, works[0] if works else sorted({call.name for call, _ in calls}), expected)
            )
        compared.add(title)
    assert wrong == []
    assert len(compared) == 128


def test_every_operator_of_pytorch_that_is_modelled_exists(torch: Any) -> None:
    schemas = {schema.name for schema in torch._C._jit_get_all_schemas()}
    gone = {
        name
        for name in modelled()
        if name.startswith("aten::") and not name.endswith("*") and name not in schemas
    }
    # Of PyTorch before 1.11, whose traces are still read.
    assert gone == {"aten::thnn_conv2d_backward"} | {
        f"aten::{library}_convolution_backward{of}"
        for library in ("cudnn", "miopen", "mkldnn")
        for of in ("", "_input", "_weight")
    } - {"aten::mkldnn_convolution_backward_weight"}


def test_types_are_promoted_as_pytorch_does(torch: Any) -> None:
    names = {
        torch.float32: "float",
        torch.float64: "double",
        torch.float16: "c10::Half",
        torch.bfloat16: "c10::BFloat16",
        torch.int64: "long int",
        torch.int32: "int",
        torch.int16: "short int",
        torch.int8: "signed char",
        torch.uint8: "unsigned char",
        torch.bool: "bool",
    }
    wrong = []
    for (first, first_name), (second, second_name) in product(names.items(), repeat=2):
        for shape in ((2,), ()):
            if shape == () and second == torch.float64:
                # A Python number is recorded so, and is taken for one.
                continue
            true = torch.result_type(torch.ones(2, dtype=first), torch.ones(shape, dtype=second))
            ours = promoted([Tensor((2,), first_name), Tensor(shape, second_name)])
            if (element_bytes(ours), kind(ours)) != (true.itemsize, kind(names[true])):
                wrong.append((first_name, second_name, shape, ours, true))
    assert wrong == []
