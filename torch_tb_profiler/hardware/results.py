"""PyTorch's rules for the shape and element type of results, which traces do not record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torch_tb_profiler.hardware.call import Tensor
from torch_tb_profiler.hardware.element_types import element_bytes, kind

Shape = tuple[int, ...]
_UNSIGNED = ("unsigned char", "uint8", "byte")
_ORDER = ("bool", "int", "float", "complex")


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """The common shape of several shapes.

    Raises:
        ValueError: there is none.
    """
    common: list[int] = []
    for shape in shapes:
        common = [1] * (len(shape) - len(common)) + common
        for axis, n in zip(range(-len(shape), 0), shape, strict=True):
            if n != common[axis] and 1 not in (n, common[axis]):
                raise ValueError(f"{shape} does not broadcast")
            common[axis] = n if common[axis] == 1 else common[axis]
    return tuple(common)


def reduced(shape: Shape, dims: Sequence[int] | None, keepdim: bool) -> Shape:
    """The shape after a reduction over ``dims``; over all of them if it is None or empty.

    Raises:
        ValueError: there is no such dimension.
    """
    count = max(1, len(shape))
    if any(not -count <= dim < count for dim in dims or ()):
        raise ValueError(f"{dims} of {shape}")
    gone = {dim % count for dim in dims} if dims else set(range(count))
    return tuple(
        1 if axis in gone else n for axis, n in enumerate(shape) if keepdim or axis not in gone
    )


def promoted(tensors: Sequence[Tensor]) -> str:
    """The element type in which operands are computed (``torch.result_type``); empty if unknown.

    The wider type of a kind wins; float16 and bfloat16 give float32, int8 and uint8 int16. A tensor
    without dimensions counts only if its kind is higher.
    """
    if not tensors or any(not kind(tensor.dtype) for tensor in tensors):
        return ""
    ranked = [tensor for tensor in tensors if tensor.shape] or list(tensors)
    best = max(_ORDER.index(kind(tensor.dtype)) for tensor in ranked)
    above = [tensor for tensor in tensors if _ORDER.index(kind(tensor.dtype)) > best]
    names = [
        tensor.dtype
        for tensor in (above or [t for t in ranked if _ORDER.index(kind(t.dtype)) == best])
    ]
    if above and kind(above[0].dtype) == "float" and all(not tensor.shape for tensor in above):
        # A wrapped Python number has the default type, not the double that is recorded.
        return "float32" if {name.lower() for name in names} == {"double"} else names[0]
    widest = max(names, key=lambda name: element_bytes(name) or 0)
    same = {
        name.lower().replace("c10::", "")
        for name in names
        if element_bytes(name) == element_bytes(widest)
    }
    if same >= {"half", "bfloat16"}:
        return "float32"
    return (
        "int16"
        if kind(widest) == "int"
        and element_bytes(widest) == 1
        and len({name in _UNSIGNED for name in same}) == 2
        else widest
    )


def windows(
    length: int, kernel: int, stride: int, padding: int, dilation: int = 1, *, ceil: bool = False
) -> int:
    """Positions of a window in a padded dimension, as for convolution and pooling.

    ``floor((length + 2·padding − dilation·(kernel − 1) − 1) / stride) + 1``; ``ceil`` adds one for
    a remainder, unless it would begin in the right padding.
    """
    room = length + 2 * padding - dilation * (kernel - 1) - 1
    if stride < 1 or room < 0:
        raise ValueError("no window fits")
    count = (room + (stride - 1 if ceil else 0)) // stride + 1
    return count - 1 if ceil and (count - 1) * stride >= length + padding else count
