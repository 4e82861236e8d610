"""The page ``docs/performance_models.md``, made by ``python -m tests.generate``."""

from __future__ import annotations

from collections.abc import Mapping

from torch_tb_profiler.hardware import user_models
from torch_tb_profiler.hardware.accelerator import PRECISIONS, Accelerator
from torch_tb_profiler.hardware.accelerators import TABLE
from torch_tb_profiler.hardware.work import Model, modelled

_HEAD = """# Performance models

Which operators have one, by what formula. Generated from `torch_tb_profiler/hardware/families` by
`python -m tests.generate --write`; do not edit. What FLOPs and bytes mean: [definitions.md](definitions.md).

## Models of your own

A Python file named by `TORCH_TB_PROFILER_MODELS` is run where models are needed, in worker processes too; in a notebook `register_model` does it at once:

```python
{example}
```

`call.tensor(i)`, `call.tensors(i)` and `call.value(i)` give what stands at place i of the operator's schema: a tensor with `shape`, `dtype`, `strides`,
`elements` and `bytes`, a list of them, or a number, a truth value, a list of numbers. A model returns None where something that it needs was not recorded.
`bytes` is None where an element type is not known. A name that ends with `*` is for all operators that begin so. `unit` is `matrix`, `vector` or, where there
is no arithmetic, empty.

A model that raises an error, or that gives anything but such a `Work` of whole numbers from 0 to 2**62, leaves its calls not modelled; the log says so once
for each operator, and no view is lost. A file that cannot be run at all is one clear message.

## Not modelled, and why

What cannot be known from a call's arguments stays unknown; its time is shown as not modelled.

- No shapes in the trace: record with `record_shapes=True`. PyTorch before 2.0 records no values beside them (strides, dimensions, flags), and no PyTorch those
  of a list of more than thirty tensors.
- `aten::index`, `aten::index_put_`: the shapes of the positions are not recorded.
- `aten::nonzero`, `aten::masked_select`, `aten::unique` and their kin: how much comes out, the data decide.
- Attention over pages, or with used lengths (`seqused_k`, `block_table`, vLLM's `unified_attention`): the lengths are in tensors.
- `vllm::moe_forward` and custom operators that find their weights elsewhere: the weights are not among the arguments.
- Inductor's templates (`triton_tem_fused_…`): what was fused into the product, the name does not tell.
- Bytes alone are unknown where lists of tensors are taken (`aten::cat`, `_foreach_…`, `_fused_adam_`): the element types of lists are not recorded.
- Operators of sparse tensors: how many elements they have is not recorded.
- Most operators of AITER, TensorRT-LLM, FlashInfer and torch_npu: their arguments differ between versions, and no schema is recorded. So do those of autograd
  functions (`FlashAttnFunc`, `LigerSiLUMulFunction`), which have no schema at all.
"""


_DEVICES = """## Devices

The peaks that figures are measured by: memory bandwidth in GB/s, dense rates in TFLOP/s (never "with sparsity") on matrix cores and on the other units. A
device is known by the name that the trace has for it, and where that says too little by its units and memory. What a vendor does not publish is left out;
figures of your own, or of a device that is not listed, come from the file of `TORCH_TB_PROFILER_PEAKS`.

Not listed: laptop devices (their clock is what the maker of the laptop allows), slices of a device (MIG, vGPU, partitions), Jetson Orin NX and Nano (several
power modes), V100 FHHL, MI308X, Ascend and MTIA (no public data sheet with the figures that are needed).

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
