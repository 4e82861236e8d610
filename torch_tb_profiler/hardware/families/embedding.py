"""Embeddings: rows of a table, alone or summed in bags, and their gradients."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.work import Work, models_beside, vector_work

modelled = models_beside(__file__)


@modelled
def embedding(call: Call) -> Work | None:
    """``embedding(table, indices, …)``."""
    table, indices = call.need(0), call.need(1)
    if len(table.shape) != 2:
        return None
    rows = Tensor((indices.elements, table.shape[1]), table.dtype)
    read = Tensor((min(rows.elements, table.elements),), table.dtype)
    parameters = {"table": table.shape, "indices": indices.elements}
    return vector_work(0, table.dtype, [indices, read], [rows], parameters)


@modelled
def embedding_backward(call: Call) -> Work | None:
    """``embedding_dense_backward(dy, indices, rows of the table, …)``."""
    dy, indices, rows = call.need(0), call.need(1), call.integer(2)
    table = Tensor((rows, dy.shape[-1]), dy.dtype)
    parameters = {"table": table.shape, "indices": indices.elements}
    return vector_work(dy.elements, dy.dtype, [dy, indices], [table], parameters)


@modelled
def bags(call: Call) -> Work | None:
    """``_embedding_bag(table, indices, offsets, …, per_sample_weights, include_last_offset, …)``."""
    table, indices, offsets = call.need(0), call.need(1), call.need(2)
    weights, (_, columns) = call.tensor(6), table.shape
    count, added = offsets.elements - (call.value(7) is True), indices.elements * columns
    rows = Tensor((min(added, table.elements),), table.dtype)
    sums = Tensor((count, columns), table.dtype)
    parameters = {"table": table.shape, "indices": indices.elements, "bags": count}
    flops = added * (2 if weights is not None else 1)
    return vector_work(flops, table.dtype, [indices, offsets, weights, rows], [sums], parameters)


@modelled
def bags_backward(call: Call) -> Work | None:
    """``_embedding_bag_dense_backward(dy, indices, offset2bag, …, rows of the table, …)``."""
    dy, indices, bag, rows = call.need(0), call.need(1), call.tensor(2), call.integer(5)
    count, columns = dy.shape
    table, flops = Tensor((rows, columns), dy.dtype), indices.elements * columns
    parameters = {"table": table.shape, "indices": indices.elements, "bags": count}
    return vector_work(flops, dy.dtype, [dy, indices, bag], [table], parameters)
