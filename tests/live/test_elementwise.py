"""Live CPU runs of every function of elements that is modelled, of four element types and with
plain numbers of three kinds: bytes taken and given are ours.
"""

from __future__ import annotations

import json
import warnings
from itertools import product
from pathlib import Path
from typing import Any

from torch_tb_profiler.hardware.call import read_call
from torch_tb_profiler.hardware.families.elementwise import _FUNCTIONS
from torch_tb_profiler.hardware.work import work_of

OTHERWISE = {
    ("aten::log_sigmoid_forward", "float32"): "a buffer that the CPU alone fills",
    ("aten::log_sigmoid_forward", "bfloat16"): "the same",
    ("aten::square", "bool"): "an integer power, which no model of truth values needs",
}
"""Where PyTorch gives something else, and why that is not modelled."""
KEYS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def _argument(torch: Any, kind: str, number: float, dtype: Any, shape: tuple[int, ...]) -> Any:
    if kind == "Tensor":
        return (torch.rand(shape) if dtype.is_floating_point else torch.randint(1, 3, shape)).to(
            dtype
        )
    return {"number": number, "float": 2.0, "int": 1, "bool": False, "str": "none"}.get(kind)


def _calls(torch: Any) -> list[tuple[str, str, Any, list[Any], dict[str, Any]]]:
    """(operator, element type, overload, its arguments without a default)."""
    made = []
    for schema in torch._C._jit_get_all_schemas():
        if schema.name not in _FUNCTIONS or any(argument.is_out for argument in schema.arguments):
            continue
        packet = getattr(torch.ops.aten, schema.name.removeprefix("aten::"))
        function = getattr(packet, schema.overload_name or "default")
        for dtype, number in product(
            (torch.float32, torch.bfloat16, torch.int32, torch.bool), (2, 2.5, True)
        ):
            positional, named = list[Any](), dict[str, Any]()
            for argument in schema.arguments:
                value = _argument(
                    torch, str(argument.type), number, dtype, (5,) if positional else (3, 5)
                )
                if argument.has_default_value():
                    continue
                if argument.kwarg_only:
                    named[argument.name] = value
                else:
                    positional.append(value)
            if any(hasattr(value, "dtype") for value in positional) and not (
                schema.name == "aten::where" and len(positional) == 1
            ):
                made.append(
                    (schema.name, str(dtype).removeprefix("torch."), function, positional, named)
                )
    return made


def _size(values: list[Any]) -> int:
    return sum(value.numel() * value.element_size() for value in values if hasattr(value, "numel"))


def _first_calls(path: Path) -> dict[int, dict[str, Any]]:
    """Of each annotation ``case N`` the first operator within it."""
    found, case = dict[int, dict[str, Any]](), -1
    events = [
        event
        for event in json.loads(path.read_bytes())["traceEvents"]
        if event.get("cat") in ("user_annotation", "cpu_op")
    ]
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        if event["name"].startswith("case "):
            case = int(event["name"].split()[1])
        elif case not in found:
            found[case] = event
    return found


def test_bytes_of_every_function_of_elements(torch: Any, tmp_path: Path) -> None:
    expected: dict[int, tuple[str, str, int]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.profiler.profile(record_shapes=True) as profiler:
            for number, (name, dtype, function, positional, named) in enumerate(_calls(torch)):
                taken = _size(positional)
                with torch.profiler.record_function(f"case {number}"):
                    try:
                        results = function(*positional, **named)
                    except (RuntimeError, NotImplementedError, ValueError):
                        # Not of this element type.
                        continue
                given = _size(list(results) if isinstance(results, (tuple, list)) else [results])
                expected[number] = (name, dtype, taken + given)
        profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    first, wrong = _first_calls(tmp_path / "trace.json"), set()
    for number, (name, dtype, size) in expected.items():
        event = first[number]
        assert event["name"] == name
        call = read_call(name, *(json.dumps(event["args"].get(key, [])) for key in KEYS))
        work = None if call is None else work_of(call)
        if (work is None or work.bytes != size) and (name, dtype) not in OTHERWISE:
            wrong.add((name, dtype, str(call), size, work and work.bytes))
    assert wrong == set()
    assert len(expected) > 2000
