"""The page ``docs/performance_models.md``, made by ``python -m tests.generate``."""

from __future__ import annotations

from collections.abc import Mapping

from torch_tb_profiler.hardware import user_models
from torch_tb_profiler.hardware.accelerators import PRECISIONS, TABLE, Accelerator
from torch_tb_profiler.hardware.work import Model, modelled

_HEAD = """# Performance models

Operators with a performance model, and its formula. Generated from `torch_tb_profiler/hardware/families` by
`python -m tests.generate --write`; do not edit. What FLOPs and bytes mean: [definitions.md](definitions.md).

## Your own models

The Python file in `TORCH_TB_PROFILER_MODELS` is run wherever models are needed, worker processes included; in a notebook, call `register_model`:

```python
{example}
```

`call.tensor(i)`, `call.tensors(i)` and `call.value(i)` return argument i of the operator's schema: a tensor with `shape`, `dtype`, `strides`, `elements` and
`bytes`; a list of tensors; or a number, boolean or list of numbers. A model returns None if something that it needs was not recorded. `bytes` is None if an
element type is unknown. A name ending in `*` matches all operators with that prefix. `unit` is `matrix`, `vector` or, without arithmetic, empty.

If a model raises an error or returns anything but a `Work` of integers from 0 to 2**62, its calls are not modelled; the log says so once per operator. A file
that cannot be run is reported as an error.

## Not modelled, and why

What a call's arguments do not tell stays unknown; its time is shown as not modelled.

- Traces without shapes: record with `record_shapes=True`. PyTorch before 2.0 records no values (strides, dimensions, flags), and no version records lists of
  more than thirty tensors.
- `aten::index`, `aten::index_put_`: the shapes of the indices are not recorded.
- `aten::nonzero`, `aten::masked_select`, `aten::unique` and similar: the data decide the size of the result.
- Attention over pages, or with used lengths (`seqused_k`, `block_table`, vLLM's `unified_attention`), where no annotation of the server's step gives
  the sums of lengths (`execute_…(sq…sk…sqsq…sqsk…)`): the lengths themselves are in tensors. A window that the call does not record is taken as none.
- `vllm::moe_forward`, the `matmul_ogs` kernels and other operators whose weights are not among the arguments.
- Sparse attention, and kernels that reduce over rows of unrecorded length (`top_k_per_row_decode`).
- Inductor's templates (`triton_tem_fused_…`): the name does not tell what was fused into the product.
- Bytes only: operators on lists of tensors (`aten::cat`, `_foreach_…`, `_fused_adam_`), whose element types are not recorded.
- Operators on sparse tensors: their number of elements is not recorded.
- Most operators of TensorRT-LLM and torch_npu, and those of AITER and FlashInfer that are not listed: their arguments differ between versions, and no schema is
  recorded. Autograd functions (`FlashAttnFunc`, `LigerSiLUMulFunction`) have no schema at all.
- Custom all-reduces: communication has its own bandwidth.
"""


_DEVICES = """## Devices

Peaks used for efficiency: memory bandwidth in GB/s, dense rates in TFLOP/s (never "with sparsity") on matrix cores and on other units. A device is identified
by its name in the trace or, if that is ambiguous, by its units and memory. Unpublished figures are left out; put your own figures, or those of unlisted
devices, into the file of `TORCH_TB_PROFILER_PEAKS`.

Not listed: laptop devices (clocks depend on the laptop), slices of a device (MIG, vGPU, partitions), Jetson Orin NX and Nano (several power modes), V100 FHHL,
MI308X, Ascend and MTIA (no public data sheet with these figures).

| device | GB/s | matrix | vector | units | source |
| --- | ---: | --- | --- | ---: | --- |"""


def _device_rows() -> list[str]:
    return [_device(line) for lines in TABLE.values() for line in lines] + [""]


def _device(line: Accelerator) -> str:
    title, _, address = line.source.rpartition(", https://")
    source = f"[{title}](https://{address})" if title else line.source
    return (
        f"| {line.name} | {line.bandwidth:g} | {_rates(line.matrix)} | {_rates(line.vector)} |"
        f" {line.units or ''} | {source} |"
    )


def _rates(rates: Mapping[str, float]) -> str:
    return ", ".join(
        f"{precision} {rates[precision]:g}" for precision in PRECISIONS if precision in rates
    )


def text() -> str:
    """The whole page."""
    by_family: dict[str, dict[Model, list[str]]] = {}
    for name, model in modelled().items():
        by_family.setdefault(model.family, {}).setdefault(model, []).append(name)
    example = (user_models.__doc__ or "").partition("::\n")[2]
    parts = [
        _HEAD.format(
            example="\n".join(line.removeprefix("    ") for line in example.strip("\n").split("\n"))
        )
    ]
    for family in sorted(by_family):
        parts.append(f"## {family}\n")
        parts += [_section(model, names) for model, names in by_family[family].items()]
    return "\n".join([*parts, _DEVICES, *_device_rows()])


def _section(model: Model, names: list[str]) -> str:
    form = " ".join((model.function.__doc__ or "").replace("``", "`").split())
    return (
        f"{form}\n\nFormula: {model.source}.\n\nOperators:"
        f" {', '.join(f'`{name}`' for name in names)}\n"
    )
