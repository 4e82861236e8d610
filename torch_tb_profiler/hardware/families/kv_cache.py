"""Keys and values on their way into and around the caches of inference servers."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.work import Work, models_beside, per_element

modelled = models_beside(__file__)


@modelled
def cache(call: Call) -> Work | None:
    """``reshape_and_cache_flash(key, value, key_cache, value_cache, slot_mapping, …)``,
    ``store_cache(k, v, k_cache, v_cache, indices, …)``.
    """
    key, value, key_cache, value_cache = (call.need(i) for i in range(4))
    slots = call.tensor(4)
    read = [_filled(key, slots), _filled(value, slots)]
    written = [
        Tensor(part.shape, kept.dtype)
        for part, kept in zip(read, (key_cache, value_cache), strict=True)
    ]
    return per_element(0, read[0], [*read, slots], written)


def _filled(part: Tensor, slots: Tensor | None) -> Tensor:
    """The rows that have a slot; a captured batch is padded."""
    if slots is None or not part.shape or slots.elements >= part.shape[0]:
        return part
    return Tensor((slots.elements, *part.shape[1:]), part.dtype)


@modelled
def quantized_cache(call: Call) -> Work | None:
    """``reshape_and_cache_with_pertoken_quant(key[tokens, H, d], value, key_cache, value_cache,
    key scales, value scales, slots, …)``.
    """
    key, value, key_cache, value_cache, key_scales, value_scales = (call.need(i) for i in range(6))
    if len(key.shape) != 3:
        return None
    both = Tensor((key.elements + value.elements,), key.dtype)
    written = [
        Tensor(key.shape, key_cache.dtype),
        Tensor(value.shape, value_cache.dtype),
        Tensor(key.shape[:2], key_scales.dtype),
        Tensor(value.shape[:2], value_scales.dtype),
    ]
    return per_element(4, both, [key, value, call.tensor(6)], written)


@modelled
def into_cache(call: Call) -> Work | None:
    """``concat_and_cache_mla(kv, k_pe, cache, slots, …)``, ``store_kv_cache(k_cache, v_cache,
    slots, k, v)``, ``concat_mla_k(k, k_nope, k_rope)``, ``concat_mla_q(q_nope, q_pe, q)``,
    ``shuffle_rows(x, map, out)``, ``copy_to_gpu_no_ce(x, out)``.
    """
    word = call.name.partition("::")[2]
    read: list[Tensor | None]
    if word == "concat_and_cache_mla":
        kv, key, kept = (call.need(i) for i in range(3))
        slots = call.tensor(3)
        parts = [_filled(kv, slots), _filled(key, slots)]
        read = [*parts, slots]
        written = [Tensor((sum(part.elements for part in parts),), kept.dtype)]
    elif word == "store_kv_cache":
        keys, values, key, value = (call.need(i) for i in (0, 1, 3, 4))
        read = [call.tensor(2), key, value]
        written = [Tensor(key.shape, keys.dtype), Tensor(value.shape, values.dtype)]
    elif word == "concat_mla_k":
        read, written = [call.tensor(1), call.tensor(2)], [call.need(0)]
    elif word == "concat_mla_q":
        read, written = [call.need(0), call.need(1)], [call.need(2)]
    elif word == "shuffle_rows":
        x, out = call.need(0), call.need(2)
        read = [call.tensor(1), Tensor((min(x.elements, out.elements),), x.dtype)]
        written = [out]
    else:
        read, written = [call.need(0)], [call.need(1)]
    return per_element(0, written[0], read, written)


@modelled
def indexed(call: Call) -> Work | None:
    """``indexer_k_quant_and_cache(k, cache, slots, block, format)`` of sparse attention."""
    k, block = call.need(0), call.integer(3)
    if block < 1:
        return None
    scales = Tensor((-(-k.elements // block),), "float32")
    return per_element(4, k, [k, call.tensor(2)], [Tensor(k.shape, "uint8"), scales])
