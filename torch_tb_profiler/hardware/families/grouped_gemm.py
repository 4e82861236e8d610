"""Products of tokens with the weights of the experts that were chosen for them."""

from __future__ import annotations

from itertools import groupby

from msgspec.structs import replace

from torch_tb_profiler.hardware.call import Call, Tensor, moved
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.hardware.work import Work, models_beside

modelled = models_beside(__file__)


def experts_hit(experts: int, topk: int, tokens: int) -> float:
    """How many experts some token chose, on average, where all are equally likely."""
    return float(experts * (1 - (1 - topk / experts) ** tokens))


@modelled
def invoked(call: Call) -> Work | None:
    """``invoke_fused_moe_kernel(A[…, K], W[E, N, K], bias, C[…, N], scales, scales, zeros, topk
    weights[tokens, topk], topk ids, …)``.
    """
    a, weight, out, chosen = call.need(0), call.need(1), call.need(3), call.need(7)
    if len(chosen.shape) != 2:
        return None
    tokens, topk = chosen.shape
    scales = [call.tensor(4), call.tensor(5), call.tensor(2)]
    return _product(a, weight, out, tokens, topk, scales)


@modelled
def weights_of_few_bits(call: Call) -> Work | None:
    """``moe_wna16_gemm(A[…, K], C[…, N], W[E, N, …], scales, zeros, …, topk, …)``."""
    a, out, weight = call.need(0), call.need(1), call.need(2)
    topk = call.integer(9)
    rows = out.elements // max(weight.shape[1], 1)
    return _product(a, weight, out, rows // max(topk, 1), topk, [call.tensor(3), call.tensor(4)])


@modelled
def marlin(call: Call) -> Work | None:
    """``moe_wna16_marlin_gemm(A, C, W, …, block, topk, flags, type, M, N, K, flags)``: the arguments
    before differ between versions.
    """
    a, weight = call.need(0), call.need(2)
    last = max(i for i in range(len(call.inputs)) if call.tensor(i) is not None)
    values = [call.value(i) for i in range(last + 1, len(call.inputs))]
    runs = [(kind, list(run)) for kind, run in groupby(values, type)]
    if [kind for kind, _ in runs[:3]] != [int, bool, int] or len(runs[2][1]) != 4:
        return None
    (_, topk), (_, m, n, k) = runs[0][1], runs[2][1]
    if k != a.shape[-1]:
        return None
    out = Tensor((m * topk, n), a.dtype)
    return _product(a, weight, out, m, topk, [])


@modelled
def grouped(call: Call) -> Work | None:
    """``cutlass_moe_mm(C[rows, N], A[rows, K], W[E, …], scales, scales, …)``,
    ``fp8_blockwise_scaled_grouped_mm(C, pointers, …, A, W, scales, scales, …)``.
    """
    at = 6 if call.name.endswith("scaled_grouped_mm") else 1
    out, a, weight = call.need(0), call.need(at), call.need(at + 1)
    if len(weight.shape) != 3 or not out.shape:
        return None
    four = "fp4" in call.name
    (rows, n), k = out.shape, a.shape[-1] * (2 if four else 1)
    if weight.elements != weight.shape[0] * n * a.shape[-1]:
        return None
    sizes = {"rows": rows, "N": n, "K": k, "E": weight.shape[0]}
    others = [a, out, call.tensor(at + 2), call.tensor(at + 3)]
    hit = experts_hit(weight.shape[0], 1, rows)
    work = _work(2 * rows * n * k, a, weight, hit, others, sizes)
    return replace(work, precision="fp4") if four else work


@modelled
def stage(call: Call) -> Work | None:
    """``ck_moe_stage1(x[tokens, K], w1[E, N₁, K], w2, sorted tokens, experts, number, out[tokens,
    topk, …], topk)``, ``ck_moe_stage2(x[tokens, topk, N₂], w1, w2[E, K, N₂], …, out[tokens, K],
    topk)``.
    """
    second = call.name.endswith("stage2")
    x, weight, out = call.need(0), call.need(2 if second else 1), call.need(6)
    topk, tokens = call.integer(7), out.shape[0]
    if len(weight.shape) != 3 or not 0 < topk <= weight.shape[0]:
        return None
    k = x.shape[-1] * (2 if "float4" in x.dtype.lower() else 1)
    n = weight.shape[1]
    sizes = {"tokens": tokens, "topk": topk, "N": n, "K": k, "E": weight.shape[0]}
    hit = experts_hit(weight.shape[0], topk, tokens)
    return _work(2 * tokens * topk * n * k, x, weight, hit, [x, out], sizes)


@modelled
def tiled_stage(call: Call) -> Work | None:
    """``moe_cktile2stages_gemm1_ck(x[tokens, K], w1[E, N, …], out[tokens, topk, …], …)``,
    ``…gemm2_ck(x[tokens, topk, K], w2[E, N, …], out[tokens, N], …)``.
    """
    x, weight, out = (call.need(i) for i in range(3))
    many = x if "gemm2" in call.name else out
    if len(many.shape) != 3 or len(weight.shape) != 3 or not 0 < many.shape[1] <= weight.shape[0]:
        return None
    (tokens, topk, _), (experts, n, _), k = many.shape, weight.shape, x.shape[-1]
    sizes = {"tokens": tokens, "topk": topk, "N": n, "K": k, "E": experts}
    hit = experts_hit(experts, topk, tokens)
    return _work(2 * tokens * topk * n * k, x, weight, hit, [x, out], sizes)


def _product(
    a: Tensor, weight: Tensor, out: Tensor, tokens: int, topk: int, scales: list[Tensor | None]
) -> Work | None:
    n, k = out.shape[-1], a.shape[-1]
    if len(weight.shape) != 3 or not 0 < topk <= weight.shape[0]:
        return None
    sizes = {"tokens": tokens, "topk": topk, "N": n, "K": k, "E": weight.shape[0]}
    hit = experts_hit(weight.shape[0], topk, tokens)
    return _work(2 * out.elements * k, a, weight, hit, [a, out, *scales], sizes)


def _work(
    flops: int,
    a: Tensor,
    weight: Tensor,
    hit: float,
    others: list[Tensor | None],
    sizes: dict[str, int],
) -> Work:
    per_expert = moved(Tensor(weight.shape[1:], weight.dtype))
    data = moved(*others)
    known = None if data is None or per_expert is None else data + round(hit * per_expert)
    return Work(flops, known, "matrix", precision(a.dtype), dict(sizes))
