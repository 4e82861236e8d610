"""The kernel table of drawn traces: forward and backward pass, names, numbers and places."""

from __future__ import annotations

from typing import Any

from tests.analysis.pyprof.rows import Row, rows_of, texts
from tests.builders.drawn import draw

EVALUATE = "autograd::engine::evaluate_function: "
NAMES = {
    "eMm": EVALUATE + "AddmmBackward0",
    "eRe": EVALUATE + "ReluBackward0",
    "eAc": EVALUATE + "torch::autograd::AccumulateGrad",
    "Mb": "AddmmBackward0",
    "Rb": "ReluBackward0",
    "ac": "torch::autograd::AccumulateGrad",
    "lin": "aten::linear",
    "mm": "aten::mm",
    "addmm": "aten::addmm",
    "relu": "aten::relu",
    "th": "aten::threshold_backward",
    "add": "aten::add_",
    "clamp": "aten::clamp_min",
    "L": "nn.Module: Linear_0",
    "R": "nn.Module: ReLU_0",
    "N": "nn.Module: Net_0",
    "step": "/home/me/train.py(9): step",
    "fwd": "/home/me/model.py(5): forward",
    "lib": "torch/nn/modules/linear.py(12): forward",
    "g": "sm80_xmma_gemm_f16f16_f16f32",
    "p": "void at::native::vectorized_elementwise_kernel<4>",
    "k": "cudaLaunchKernel",
}


def number(value: int, thread: int = 0) -> dict[str, int]:
    return {"Sequence number": value, "Fwd thread id": thread}


def shapes(*dims: list[int], dtype: str = "c10::Half") -> dict[str, Any]:
    return {"Input Dims": list(dims), "Input type": [dtype if d else "" for d in dims]}


MM, VECTOR = shapes([8, 16], [16, 4]), shapes([8, 4])
LINEAR, ADDMM = shapes([8, 16], [4, 16], [4]), shapes([4], [8, 16], [16, 4])
TRAINING = """
    main  /step                                                                          /
    main   /N                                 /
    main    /fwd                             /
    main     /L                /  /R         /
    main      /lib            /
    main       [lin          ]     [relu    ]
    main        [addmm      ]       [clamp ]
    main         <k #1>              <k #2>
    engine                                      [eRe       ] [eMm                           ] [eAc           ]
    engine                                       [Rb      ]   [Mb                 ] [add   ]   [ac          ]
    engine                                        [th    ]     [mm    ]  [mm     ]   <k #6>     [add      ]
    engine                                         <k #3>       <k #4>    <k #5>                 <k #7>
    gpu 7               {g #1}   {p #2}                 {p #3}       {g #4}    {g #5}  {p #6}          {p #7}
"""
ARGUMENTS = {
    "lin": {**number(5), **LINEAR},
    "addmm": {**number(6), **ADDMM},
    "relu": {**number(7), **VECTOR},
    "clamp": VECTOR,
    "eRe": number(7, 1),
    "Rb": number(7, 1),
    "th": shapes([8, 4], [8, 4]),
    "eMm": number(6, 1),
    "Mb": number(6, 1),
    "mm": MM,
    "add": VECTOR,
    "g": {"grid": [2, 1, 1], "block": [128, 1, 1]},
    "p": {"grid": [1, 1, 1], "block": [64, 1, 1]},
}
LINES = "/home/me/train.py:9 -> /home/me/model.py:5"


def training() -> list[Row]:
    return rows_of(draw(TRAINING, NAMES, ARGUMENTS))


def test_a_training_step() -> None:
    assert texts(training(), "idx", "seq", "altseq", "dir", "sub", "mod", "op", "params") == [
        "1 6 5 fprop 0 aten linear M=8,N=4,K=16,type=fp16",
        "2 7 ~ fprop 0 aten relu shape=(8,4),type=fp16",
        "3 7 ~ bprop 0 aten relu shape=(8,4),type=fp16",
        "4 6 ~ bprop 0 aten linear M=8,N=4,K=16,type=fp16",
        "5 6 ~ bprop 1 aten linear M=8,N=4,K=16,type=fp16",
        "6 6 ~ bprop 0 aten add_ shape=(8,4),type=fp16",
        "7 ~ ~ bprop 0 aten add_ shape=(8,4),type=fp16",
    ]


def test_backward_kernels_have_the_module_and_lines_of_their_forward() -> None:
    assert texts(training(), "layer", "trace") == [
        f"Net_0.{module} {LINES}"
        for module in (
            "Linear_0",
            "ReLU_0",
            "ReLU_0",
            "Linear_0",
            "Linear_0",
            "Linear_0",
            "Linear_0",
        )
    ]


def test_the_launch() -> None:
    assert texts(training(), "tid", "sil", "tc", "device", "stream", "grid", "block")[:3] == [
        "1 6000 1 0 7 2,1,1 128,1,1",
        "1 6000 - 0 7 1,1,1 64,1,1",
        "2 6000 - 0 7 1,1,1 64,1,1",
    ]
    assert [row["kernel"] for row in training()][:2] == [NAMES["g"], NAMES["p"]]


def test_work_is_that_of_the_operators_themselves() -> None:
    rows = training()
    gemm = 2 * 8 * 4 * 16
    assert rows[0]["flops"] == gemm + 8 * 4, "the bias is added"
    assert [row["flops"] for row in rows[3:5]] == [gemm, gemm], "a gradient adds none"
    assert rows[3]["bytes"] == 2 * (8 * 16 + 16 * 4 + 8 * 4)


def test_gradients_without_shapes_are_as_much_work_as_the_product() -> None:
    without = {key: value for key, value in ARGUMENTS.items() if key != "mm"}
    rows = rows_of(draw(TRAINING, NAMES, without))
    assert [row["flops"] for row in rows[3:5]] == [2 * 8 * 4 * 16] * 2
    assert rows[3]["params"] == rows[0]["params"] is not None
    alone = rows_of(draw(TRAINING, NAMES, {**without, "lin": number(5), "addmm": number(6)}))
    assert [(row["flops"], row["params"]) for row in alone[3:5]] == [(None, None)] * 2


def test_shapes_of_a_call_without_a_model() -> None:
    drawing = """
    main    [mine ] [lists] [index] [none ]
    main     <k #1>  <k #2>  <k #3>  <k #4>
    gpu 7            {p #1}   {p #2} {p #3}{p #4}
    """
    arguments = {
        "mine": {
            "Input Dims": [[], [8, 16], [16], []],
            "Input type": ["Scalar", "c10::Half", "float", "Scalar"],
        },
        "lists": {"Input Dims": [[[2, 3]] * 9], "Input type": [["float"] * 9]},
        "index": {"Input Dims": [[4]], "Input type": ["long int"]},
        "none": {"Input Dims": [[]], "Input type": ["Scalar"]},
    }
    names = {**NAMES, **{key: f"my::{key}" for key in arguments}}
    assert texts(rows_of(draw(drawing, names, arguments)), "mod", "op", "params") == [
        "my mine T=[(8,16),(16)],type=fp16",
        f"my lists T=[{'(2,3),' * 8}...],type=fp32",
        "my index T=[(4)]",
        "my none ~",
    ]


def test_three_products_of_one_function_are_not_divided() -> None:
    drawing = """
    main    [mm    ]
    main     <k #1>
    engine              [MmBackward                ]
    engine               <k #2>   <k #3>   <k #4>
    gpu 7            {g #1}     {g #2}   {g #3}   {g #4}
    """
    names = {**NAMES, "MmBackward": "MmBackward0"}
    arguments = {"mm": {**number(4), **MM}, "MmBackward": number(4, 1)}
    assert [row["flops"] for row in rows_of(draw(drawing, names, arguments))] == [
        2 * 8 * 4 * 16,
        None,
        None,
        None,
    ]
    two = drawing.replace("<k #4>", "").replace("{g #4}", "{p #9}")
    assert [row["flops"] for row in rows_of(draw(two, names, arguments))[:3]] == [
        2 * 8 * 4 * 16
    ] * 3


def test_a_range_of_the_user_is_the_layer() -> None:
    drawing = """
    main  (layer:outer                         )
    main   (layer:encoder        )
    main    [mm    ]               [mm    ]     [mm    ]
    main     <k #1>                 <k #2>       <k #3>
    gpu 7           {g #1}                {g #2}       {g #3}
    """
    assert texts(rows_of(draw(drawing, NAMES)), "layer", "seq", "trace", "dir") == [
        "encoder ~ ~ fprop",
        "outer ~ ~ fprop",
        "~ ~ ~ fprop",
    ]


def test_a_layer_of_the_forward_is_the_layer_of_the_backward() -> None:
    drawing = """
    main    (layer:encoder)
    main     [mm        ]
    main      <k #1>
    engine                   [MmBackward   ]
    engine                     <k #2>
    gpu 7            {g #1}           {g #2}
    """
    rows = rows_of(draw(drawing, NAMES, {"mm": {**number(3), **MM}, "MmBackward": number(3, 1)}))
    assert texts(rows, "layer", "dir", "op", "params", "sub") == [
        "encoder fprop mm M=8,N=4,K=16,type=fp16 0",
        "encoder bprop mm M=8,N=4,K=16,type=fp16 0",
    ]


def test_what_runs_again_in_the_backward_pass_keeps_its_own() -> None:
    drawing = """
    main    [relu  ]
    main     <k #1>
    engine             [eRe                            ] [MmBackward]
    engine              [Rb                           ]
    engine               [mm     ]  [th      ]
    engine                <k #2>     <k #3>
    gpu 7           {p #1}      {g #2}      {p #3}
    """
    arguments = {
        "relu": {**number(7), **VECTOR},
        "mm": {**number(20), **MM},
        "eRe": number(7, 1),
        "Rb": number(7, 1),
        "MmBackward": number(20, 1),
    }
    assert texts(
        rows_of(draw(drawing, NAMES, arguments)), "seq", "altseq", "dir", "op", "params"
    ) == [
        "7 ~ fprop relu shape=(8,4),type=fp16",
        "20 7 bprop mm M=8,N=4,K=16,type=fp16",
        "7 ~ bprop relu shape=(8,4),type=fp16",
    ]


def test_numbers_that_old_versions_give_to_all_of_the_backward_pass_do_not_count() -> None:
    drawing = """
    main    [addmm ]
    main     <k #1>
    engine             [AddmmBackward      ] [AccumulateGrad]
    engine              [mm     ]  [mm    ]    [add    ]
    engine               <k #2>     <k #3>      <k #4>
    gpu 7           {g #1}      {g #2}    {g #3}      {p #4}
    """
    names = {
        **NAMES,
        "addmm": "addmm",
        "mm": "mm",
        "AccumulateGrad": EVALUATE + "torch::autograd::AccumulateGrad",
    }
    arguments = {
        "addmm": {**number(7), **ADDMM},
        "mm": {**number(30), **MM},
        "AddmmBackward": number(7, 1),
        "add": number(30),
    }
    assert texts(
        rows_of(draw(drawing, names, arguments)), "seq", "altseq", "dir", "op", "sub", "params"
    ) == [
        "7 ~ fprop addmm 0 M=8,N=4,K=16,type=fp16",
        "7 30 bprop addmm 0 M=8,N=4,K=16,type=fp16",
        "7 30 bprop addmm 1 M=8,N=4,K=16,type=fp16",
        "~ 30 bprop add_ 0 ~",
    ]


def test_what_a_function_of_python_calls_is_named_by_its_own_operators() -> None:
    drawing = """
    main    [MyFn    ]
    main     [mm    ]
    main      <k #1>
    engine              [MyFnBackward            ]
    engine               [mm     ]
    engine                <k #2>   <k #3>
    gpu 7            {g #1}     {g #2}   {p #3}
    """
    rows = rows_of(
        draw(drawing, NAMES, {"MyFn": number(4), "mm": MM, "MyFnBackward": number(4, 1)})
    )
    assert texts(rows, "seq", "dir", "mod", "op", "sub") == [
        "4 fprop aten mm 0",
        "4 bprop aten mm 0",
        "4 bprop ~ MyFn 0",
    ]


def test_what_undoes_a_graph_of_torchscript_is_named_by_its_own_operators() -> None:
    """The operator of its number only came next after that graph, which holds many."""
    drawing = """
    main    [relu    ]
    main      <k #1>
    engine              [torch::jit::DifferentiableGraphBackward ]
    engine               [mm     ]
    engine                <k #2>
    gpu 7            {p #1}     {g #2}
    """
    name = "torch::jit::DifferentiableGraphBackward"
    rows = rows_of(
        draw(drawing, NAMES, {"relu": {**number(4), **VECTOR}, "mm": MM, name: number(4, 1)})
    )
    assert texts(rows, "seq", "dir", "op", "params") == [
        "4 fprop relu shape=(8,4),type=fp16",
        "4 bprop mm M=8,N=4,K=16,type=fp16",
    ]


def test_a_function_whose_forward_is_not_in_the_trace_is_named_by_itself() -> None:
    drawing = """
    engine    [MulBackward0       ]
    engine     [mm     ]
    engine      <k #1>   <k #2>
    gpu 7              {g #1}  {p #2}
    """
    rows = rows_of(draw(drawing, NAMES, {"MulBackward0": number(4, 1), "mm": MM}))
    assert texts(rows, "seq", "dir", "mod", "op", "params") == [
        "4 bprop aten mm M=8,N=4,K=16,type=fp16",
        "4 bprop ~ Mul ~",
    ]


def test_a_kernel_that_no_operator_launched_is_named_by_the_range_around_it() -> None:
    drawing = """
    main    (outer.step                   )
    main     (layer:encoder       ) <k #2>
    main      <k #1>
    gpu 7           {g #1}              {p #2}
    """
    assert texts(rows_of(draw(drawing, NAMES)), "layer", "mod", "op", "sub", "tc") == [
        "encoder ~ outer.step 0 1",
        "~ ~ outer.step 1 -",
    ]


def test_kernels_of_a_replayed_graph_and_of_no_launch() -> None:
    drawing = """
    main    [mm           ]
    main     <cudaGraphLaunch #1>
    gpu 7       {g #1} {p #1} {g #9}
    """
    rows = rows_of(draw(drawing, NAMES))
    assert texts(rows, "dir", "sub", "tid", "tc", "params", "flops") == [
        "~ 0 1 1 ~ ~",
        "~ 1 1 - ~ ~",
        "~ 0 ~ 1 ~ ~",
    ]


def test_old_recordings_write_the_call_stack() -> None:
    drawing = """
    main    [mm    ]
    main     <k #1>
    gpu 7            {g #1}
    """
    stack = (
        "/usr/lib/python3.8/site-packages/torch/nn/functional.py(1753):"
        " linear;/home/me/model.py(7): forward;/home/me/train.py(30): <module>"
    )
    assert (
        rows_of(draw(drawing, NAMES, {"mm": {"Call stack": stack}}))[0]["trace"]
        == "/home/me/train.py:30 -> /home/me/model.py:7"
    )


def test_copies_are_no_kernels() -> None:
    drawing = """
    main    [mm    ]
    main     <k #1><k #2>
    gpu 7            {Memcpy HtoD #1}{g #2}
    """
    assert [row["kernel"] for row in rows_of(draw(drawing, NAMES))] == [NAMES["g"]]
