"""Rotary position embeddings, which inference servers apply in place or fused with other steps."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.work import Work, models_beside, vector_work

modelled = models_beside(__file__)


@modelled
def rotary(call: Call) -> Work | None:
    """``rotary_embedding(positions, q, k, head_size, cos_sin_cache, is_neox)``, in place."""
    positions, q, k, table = call.need(0), call.need(1), call.tensor(2), call.need(4)
    if len(table.shape) != 2:
        return None
    parts = [_rotated(part, call.value(3), table.shape[1]) for part in (q, k) if part is not None]
    rows = Tensor((positions.elements, table.shape[1]), table.dtype)
    return _work(q, parts, parts, [positions, rows])


@modelled
def rotary_of_two_tables(call: Call) -> Work | None:
    """``rotary_embedding_fwd(positions, q, k, head_size, cos, sin, …)``, in place."""
    positions, q, k = call.need(0), call.need(1), call.tensor(2)
    cos, sin = call.need(4), call.need(5)
    size = cos.shape[-1] + sin.shape[-1]
    parts = [_rotated(part, call.value(3), size) for part in (q, k) if part is not None]
    return _work(q, parts, parts, [positions, Tensor((positions.elements, size), cos.dtype)])


@modelled
def rotary_of_aiter(call: Call) -> Work | None:
    """``rope_cached_positions_2c_fwd_impl(out_q, out_k, q, k, cos, sin, positions, style,
    reuse_freqs_front_part, nope_first)``, ``rope_cached_positions_fwd_impl(out, x, cos, sin,
    positions, …)``.
    """
    count = 2 if "_2c_" in call.name else 1
    outs = [call.need(i) for i in range(count)]
    parts = [call.need(count + i) for i in range(count)]
    cos, sin, positions = (call.need(2 * count + i) for i in range(3))
    halved = call.boolean(2 * count + 4)
    size = cos.shape[-1] * (2 if halved else 1)
    rotated = [_rotated(part, part.shape[-1], size) for part in parts]
    row = Tensor((positions.elements, cos.shape[-1] + sin.shape[-1]), cos.dtype)
    return _work(parts[0], rotated, parts, [positions, row], outs)


@modelled
def rotary_of_flashinfer(call: Call) -> Work | None:
    """``apply_rope_pos_ids_cos_sin_cache(q[tokens, H, d], k, q_out, k_out, cos_sin_cache, positions,
    interleave, …, v, k_buffer, v_buffer, slots)``.
    """
    parts = [call.need(0), call.need(1)]
    outs = [call.need(2), call.need(3)]
    table, positions = call.need(4), call.need(5)
    if len(table.shape) != 2:
        return None
    rotated = [_rotated(part, part.shape[-1], table.shape[1]) for part in parts]
    rows = Tensor((positions.elements, table.shape[1]), table.dtype)
    read: list[Tensor | None] = [positions, rows]
    written: list[Tensor | None] = [*outs]
    at = next((i for i in range(7, len(call.inputs)) if call.tensor(i) is not None), -1)
    if at >= 0:
        value, keys, values = call.need(at), call.need(at + 1), call.need(at + 2)
        read += [value, call.tensor(at + 3)]
        written += [Tensor(parts[1].shape, keys.dtype), Tensor(value.shape, values.dtype)]
    return _work(parts[0], rotated, parts, read, written)


@modelled
def rotary_into_cache(call: Call) -> Work | None:
    """``concat_and_cache_mla_rope_fused(positions, q_pe, k_pe, kv, table, is_neox, slots, cache, …)``."""
    positions, q, k, latent, table = (call.need(i) for i in range(5))
    slots, kept = call.tensor(6), call.need(7)
    rows = Tensor((positions.elements, table.shape[-1]), table.dtype)
    cached = Tensor((latent.elements + k.elements,), kept.dtype)
    return _work(q, [q, k], [q, k, latent], [positions, rows, slots], [q, k, cached])


@modelled
def normalized_rotary(call: Call) -> Work | None:
    """``fused_qk_norm_rope(qkv[tokens, (Hq + Hk + Hv)·d], Hq, Hk, Hv, d, eps, q weight, k weight,
    cos_sin_cache, is_neox, positions)``, in place.
    """
    qkv, table, positions = call.need(0), call.need(8), call.need(10)
    queries, keys, values, d = (call.integer(i) for i in range(1, 5))
    tokens, heads = qkv.shape[0], queries + keys
    if qkv.elements != tokens * (heads + values) * d:
        return None
    part = Tensor((tokens, heads * d), qkv.dtype)
    rotated = tokens * heads * min(table.shape[-1], d)
    flops = 4 * part.elements + 2 * tokens * heads + 3 * rotated
    rows = Tensor((positions.elements, table.shape[-1]), table.dtype)
    read = [part, call.tensor(6), call.tensor(7), positions, rows]
    return vector_work(flops, qkv.dtype, read, [part], {"shape": qkv.shape, "heads": heads})


def _rotated(part: Tensor, head: object, size: int) -> Tensor:
    """The elements of ``part`` that are rotated: the first ``size`` of a head."""
    count = part.elements
    if isinstance(head, int) and head > size:
        count = count // head * size
    return Tensor((count,), part.dtype)


def _work(
    q: Tensor,
    rotated: Sequence[Tensor],
    moved: Sequence[Tensor],
    read: Sequence[Tensor | None],
    written: Sequence[Tensor | None] | None = None,
) -> Work | None:
    """``moved`` is read and, unless ``written`` is given, written in place."""
    flops = 3 * sum(part.elements for part in rotated)
    out = moved if written is None else written
    return vector_work(flops, q.dtype, [*read, *moved], out, {"shape": q.shape})
