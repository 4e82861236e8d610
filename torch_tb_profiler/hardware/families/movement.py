"""Data movement: copies, fills, concatenation, indexing, padding; FLOPs only for sums."""

from __future__ import annotations

import math

from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.element_types import scalar_type
from torch_tb_profiler.hardware.results import promoted, windows
from torch_tb_profiler.hardware.work import Work, models_beside, per_element, vector_work

modelled = models_beside(__file__)


@modelled
def duplicate(call: Call) -> Work | None:
    """``clone(x)``, ``_to_copy(x, dtype)`` and rearrangements of all elements."""
    x = call.need(0)
    if call.name == "aten::narrow_copy":
        dim, length = call.integer(1), call.integer(3)
        part = Tensor((x.elements // max(x.shape[dim], 1) * length,), x.dtype)
        return per_element(0, x, [part], [part], length=length)
    dtype = scalar_type(call.value(1)) if call.name == "aten::_to_copy" else ""
    if call.name == "aten::_to_copy" and not call.recorded:
        return None
    return per_element(0, x, [x], [Tensor(x.shape, dtype or x.dtype)])


@modelled
def filled(call: Call) -> Work | None:
    """Only with ``out``; otherwise a nested ``fill_`` or the like has the size."""
    out = required(call.last(0))
    return per_element(0, out, [], [out])


@modelled
def concatenate(call: Call) -> Work | None:
    """``cat(tensors, dim)``; bytes need ``out`` if the element types of the list are not recorded."""
    parts = required(call.tensors(0))
    total = sum(part.elements for part in parts)
    out = call.last(2)
    if out is None:
        read, dtype = parts, promoted([part for part in parts if part.elements] or parts)
    else:
        dtype = out.dtype
        read = tuple(Tensor((part.stored,), part.dtype or dtype) for part in parts)
    parameters = {"tensors": len(parts), "elements": total}
    return vector_work(0, dtype, read, [Tensor((total,), dtype)], parameters)


@modelled
def pick(call: Call) -> Work | None:
    """``index_select(x, dim, index)`` selects slices, ``gather`` and ``take`` single elements."""
    x = call.need(0)
    index = call.need(1 if call.name in ("aten::take", "aten::take_along_dim") else 2)
    count = index.elements
    if call.name == "aten::index_select" and x.shape:
        count *= x.elements // max(x.shape[call.integer(1)], 1)
    out = Tensor((count,), x.dtype)
    return per_element(
        0, x, [index, Tensor((min(count, x.elements),), x.dtype)], [out], index=index.shape
    )


@modelled
def put(call: Call) -> Work | None:
    """``scatter_(x, dim, index, source)``, ``index_add_(x, dim, index, source)`` and similar."""
    x, index, source = call.need(0), call.need(2), call.tensor(3)
    adds = "add" in call.name or "reduce" in call.name
    count = (
        source.elements
        if source is not None and source.shape and "index" in call.name
        else index.elements
    )
    if "index_fill" in call.name:
        count = x.elements // max(x.shape[call.integer(1)], 1) * index.elements
    targets = Tensor((count,), x.dtype)
    source_elements = (
        None
        if source is None or not source.shape
        else Tensor((min(count, source.elements),), source.dtype)
    )
    whole = [] if call.name.endswith("_") else [x]
    written = targets if call.name.endswith("_") else x.dense
    return vector_work(
        count if adds else 0,
        x.dtype,
        [*whole, index, source_elements, targets if adds and not whole else None],
        [written],
        {"shape": x.shape, "index": index.shape},
    )


@modelled
def repeat(call: Call) -> Work | None:
    """``repeat(x, repeats)``."""
    x, times = call.need(0), required(call.integers(1))
    return per_element(
        0, x, [x], [Tensor((x.elements * math.prod(times),), x.dtype)], repeats=times
    )


@modelled
def pad(call: Call) -> Work | None:
    """``constant_pad_nd(x, [left, right, top, …])``: padding of the last dimension comes first."""
    x, sides = call.need(0), required(call.integers(1))
    if len(sides) > 2 * len(x.shape):
        return None
    shape, read_shape = list(x.shape), list(x.shape)
    for i in range(len(sides) // 2):
        shape[-1 - i] += sides[2 * i] + sides[2 * i + 1]
        # Elements cut off by negative padding are not read.
        read_shape[-1 - i] += min(sides[2 * i], 0) + min(sides[2 * i + 1], 0)
    if min(read_shape, default=0) < 0 or min(shape, default=0) < 0:
        return None
    read = x if read_shape == list(x.shape) else Tensor(tuple(read_shape), x.dtype)
    return vector_work(0, x.dtype, [read], [Tensor(tuple(shape), x.dtype)], {"shape": tuple(shape)})


@modelled
def unpool(call: Call) -> Work | None:
    """``max_unpool2d(x, positions, output_size)``."""
    x, positions = call.need(0), call.need(1)
    spatial = 3 if "3d" in call.name else 2
    ends = required(call.integers(2, spatial))
    if len(x.shape) <= spatial:
        return None
    return per_element(
        0, x, [x, positions], [Tensor((*x.shape[:-spatial], *ends), x.dtype)], output=ends
    )


@modelled
def columns(call: Call) -> Work | None:
    """``im2col(x, kernel, dilation, padding, stride)`` makes windows columns; ``col2im`` adds them
    up again.
    """
    x, first = call.need(0), 1 if call.name == "aten::im2col" else 2
    kernel, dilation, padding, stride = (required(call.integers(first + i, 2)) for i in range(4))
    size = x.shape[-2:] if first == 1 else required(call.integers(1, 2))
    if len(x.shape) < 2:
        return None
    window = math.prod(kernel)
    if first == 1:
        positions = math.prod(
            windows(n, k, s, p, d)
            for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
        )
        elements = x.elements // max(math.prod(size), 1) * window * positions
    else:
        images = x.elements // max(x.shape[-2] * x.shape[-1], 1)
        elements = images * (x.shape[-2] // window) * math.prod(size)
    out = Tensor((elements,), x.dtype)
    return per_element(0 if first == 1 else 1, x, [x], [out], kernel=kernel)


@modelled
def padded_gradient(call: Call) -> Work | None:
    """``slice_backward(dy, sizes of x, …)``: zeros around the slice."""
    gradient, sizes = call.need(0), required(call.integers(1))
    return vector_work(
        0, gradient.dtype, [gradient], [Tensor(sizes, gradient.dtype)], {"shape": sizes}
    )


@modelled
def between_list_and_tensor(call: Call) -> Work | None:
    """``split_with_sizes_copy(x, sizes, dim, out)``, ``_chunk_cat(tensors, dim, chunks, out)``."""
    if "chunk_cat" in call.name:
        parts, out = required(call.tensors(0)), required(call.last(3))
        # Most versions do not record the parts' own type.
        parameters = {"tensors": len(parts), "elements": out.elements}
        return vector_work(0, out.dtype, parts, [out], parameters)
    x = call.need(0)
    return per_element(0, x, [x], [Tensor((x.stored,), x.dtype)])


@modelled
def positions(call: Call) -> Work | None:
    """``searchsorted(boundaries, x, out_int32, …)``, ``bucketize(x, boundaries, out_int32, …)``."""
    first, second, narrow = call.need(0), call.need(1), call.boolean(2)
    x = second if call.name == "aten::searchsorted" else first
    return per_element(0, x, [first, second], [Tensor(x.shape, "int32" if narrow else "int64")])


@modelled
def item(call: Call) -> Work | None:
    """``x.item()``."""
    dtype = call.need(0).dtype
    return vector_work(0, dtype, [Tensor((), dtype)], [])
