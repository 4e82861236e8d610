"""What a loop does besides training: rules of the program's own functions, gaps, threads and debug settings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import Findings, item, made, rules, span, steps
from tests.builders.drawn import Event
from tests.examples import examples
from torch_tb_profiler.analysis.findings.catalogue import Fix, fixes, known_fix
from torch_tb_profiler.store.python_frames import function_name

NODE = "autograd::engine::evaluate_function: MmBackward0"


def frame(name: str, begin: float, length: float, tid: int = 1) -> Event:
    return span("python_function", name, begin, length, tid)


def training(begin: float, number: int) -> list[Event]:
    """Forward, backward and optimizer in 300 µs."""
    return [
        frame("nn.Module: Linear_0", begin, 100),
        span("cpu_op", "aten::mm", begin + 10, 80, **{"Sequence number": number}),
        span(
            "cpu_op",
            NODE,
            begin + 100,
            100,
            **{"Sequence number": number, "Fwd thread id": 1},
        ),
        span("cpu_op", "aten::mm", begin + 110, 40),
        span("user_annotation", "Optimizer.step#SGD.step", begin + 200, 100),
        span("cpu_op", "aten::add_", begin + 210, 80),
    ]


def loop(more: list[list[Event]], length: float = 1000, frames: bool = True) -> list[Event]:
    """Steps of training; of each step what else it does, as times after 300 µs."""
    bounds = [(i * length + 1, (i + 1) * length) for i in range(len(more))]
    entries = [frame("train.py(5): main", 0, len(more) * length + 1)] if frames else []
    entries += steps(*bounds)
    for number, own in enumerate(more):
        entries += training(number * length + 2, number + 1)
        entries += [entry | {"ts": entry["ts"] + number * length + 305} for entry in own]
    if not frames:
        entries = [entry for entry in entries if entry["cat"] != "python_function"]
    return entries


def told(found: Findings) -> dict[str, Any]:
    """What is said of code, apart from time without a record."""
    own = [one for one in found["found"] if one["rule"] == "own_code"]
    [one] = [one for one in own if not one["words"].get("nothing")]
    return dict(one)


LOGGING = [
    frame("train.py(31): log_metrics", 0, 600),
    frame("<built-in function len>", 10, 100),
]


@examples(15)
@given(st.lists(st.sampled_from([0, 5, 300, 600]), min_size=3, max_size=7))
def test_what_it_takes_is_told_of_the_steps_in_which_it_counts(lengths: list[int]) -> None:
    """A change saves no more than what it acts on is said to take."""
    own = [[frame("train.py(31): log", 0, length)] if length else [] for length in lengths]
    for finding in made(loop(own))["found"]:
        if finding["rule"] == "own_code":
            taken = finding["numbers"]["taken"]
            assert 0.49 * taken <= finding["recoverable_ns"] <= 2.01 * taken
            if finding["once"] is not None:
                assert abs(finding["recoverable_ns"] - taken) <= 2000


@pytest.mark.parametrize("every", [1, 2, 3])
def test_largest_function_of_the_loop(every: int) -> None:
    found = made(loop([LOGGING if number % every == 0 else [] for number in range(6)]))
    finding = told(found)
    assert finding["line"] == "train.py(31): log_metrics"
    assert finding["words"]["what"] == "calling log_metrics"
    assert finding["numbers"]["in_steps"] == 6 / every
    assert finding["recoverable_ns"] == pytest.approx(600_000, rel=0.02)
    assert len(finding["hit"]) == 6 / every


@pytest.mark.parametrize(("rounds", "called"), [(1200, "lower"), (300, "")])
def test_a_python_loop_is_told_by_what_it_calls(rounds: int, called: str) -> None:
    lower = "<built-in method lower of str object at 0x1>"
    own = [frame("train.py(31): tokens", 0, rounds)]
    own += [frame(lower, number + 0.1, 0.5) for number in range(rounds)]
    finding = item(made(loop([own] * 3, length=rounds + 400)), "own_code")
    assert finding["words"]["often"] == called
    assert finding["numbers"]["rounds"] == (rounds if called else 0)


def test_training_alone_is_nobody_elses() -> None:
    assert "own_code" not in rules(made(loop([[]] * 4, length=303)))


def test_innermost_function_that_holds_most() -> None:
    own = [
        frame("train.py(31): report", 0, 600),
        frame("tools.py(7): write", 5, 550),
        frame("<built-in method write of _io.TextIOWrapper object at 0x1>", 10, 500),
    ]
    finding = item(made(loop([own] * 4)), "own_code")
    assert finding["line"] == "tools.py(7): write"
    assert finding["words"]["callee"] == "write"


@pytest.mark.parametrize(
    ("name", "what", "certainty"),
    [
        ("<built-in function collect>", "garbage collection (gc.collect)", "certain"),
        ("<built-in function sleep>", "sleeping (time.sleep)", "certain"),
        ("torch/serialization.py(900): save", "saving a checkpoint (torch.save)", "likely"),
        ("wandb/sdk/wandb_run.py(9): log", "logging to Weights & Biases (wandb.log)", "likely"),
    ],
)
def test_known_calls(name: str, what: str, certainty: str) -> None:
    own = [frame("train.py(31): tidy", 0, 600), frame(name, 5, 590)]
    finding = item(made(loop([own] * 4)), "own_code")
    assert (finding["words"]["what"], finding["certainty"]) == (what, certainty)
    assert finding["words"]["source"].partition("\n")[2].startswith("https://")


@pytest.mark.parametrize("length", [300, 3000, 300_000])
def test_a_known_call_is_not_the_work_however_much_it_takes(length: float) -> None:
    pitch = length + 55
    listed = [frame("main.py(3): main", 0, 4 * pitch + 1)]
    listed += steps(*((number * pitch + 1, (number + 1) * pitch) for number in range(4)))
    for number in range(4):
        begin = number * pitch
        listed += [
            frame("nn.Module: Linear_0", begin + 2, 40),
            span("cpu_op", "aten::linear", begin + 5, 30),
            frame("<built-in function collect>", begin + 50, length),
        ]
    finding = told(made(listed))
    assert finding["words"]["what"] == "garbage collection (gc.collect)"
    assert finding["recoverable_ns"] == pytest.approx(1000 * length, rel=0.02)


def test_evaluation_in_some_steps() -> None:
    own = [
        frame("train.py(40): validate", 0, 600),
        frame("nn.Module: Linear_0", 5, 580),
        span("cpu_op", "aten::mm", 10, 560),
    ]
    finding = told(made(loop([own, [], [], own, [], []])))
    assert finding["words"]["what"] == "evaluation in validate"
    always = item(made(loop([own] * 4)), "own_code")
    assert always["words"]["what"] == "running modules without a backward pass in validate"
    assert always["certainty"] == "theoretical"


def test_nothing_recorded_without_stacks() -> None:
    finding = item(made(loop([[]] * 5, frames=False)), "own_code")
    assert finding["words"]["what"] == "time without a record"
    assert finding["words"]["why"].startswith(
        "It comes after Optimizer.step#SGD.step and before aten::mm, in every step;"
    )
    assert finding["numbers"]["in_steps"] == 5
    assert finding["recoverable_ns"] == pytest.approx(700_000, rel=0.02)


def test_while_another_thread_works_nothing_is_missing() -> None:
    own = [span("cpu_op", "other::work", 5, 680, tid=2)]
    assert "own_code" not in rules(made(loop([own] * 5, frames=False)))


def test_operators_that_train_nothing() -> None:
    own = [span("cpu_op", "aten::sort", 0, 600), span("cpu_op", "aten::histc", 605, 20)]
    finding = item(made(loop([own] * 5, frames=False)), "own_code")
    assert finding["words"]["what"] == "aten::sort"
    assert finding["recoverable_ns"] == pytest.approx(600_000, rel=0.02)
    assert "own_code" not in rules(made(loop([[]] * 5, length=303, frames=False)))


def test_python_in_the_model() -> None:
    own = [
        frame("nn.Module: Noise_0", 0, 650),
        frame("noise.py(9): forward", 5, 640),
        frame("noise.py(12): <listcomp>", 10, 600),
        frame("<built-in method random of Random object at 0x1>", 20, 200),
        span("cpu_op", "aten::mul", 620, 10, **{"Sequence number": 99}),
        span("cpu_op", NODE, 660, 10, **{"Sequence number": 99, "Fwd thread id": 1}),
    ]
    finding = item(made(loop([own] * 1)), "own_code")
    assert finding["line"] == "noise.py(9): forward"
    assert finding["recoverable_ns"] == pytest.approx(630_000, rel=0.02)


def _differentiated(begin: float, length: float, number: int, backward: float) -> list[Event]:
    of = {"Sequence number": number}
    return [
        span("cpu_op", "aten::mul", begin, length, **of),
        span("cpu_op", NODE, backward, 5, **of, **{"Fwd thread id": 1}),
    ]


@examples(6)
@given(length=st.integers(300, 600), calls=st.integers(1, 3), aside=st.booleans())
def test_what_the_model_calls_without_need_of_the_gradients(
    length: int, calls: int, aside: bool
) -> None:
    """A library's function that the user's forward calls, with operators that nothing differentiates, or with those that are."""
    each, behind = length / calls, 214.0 + length + calls
    own, at = _differentiated(2, 200, 99, behind), 204.0
    for number in range(calls):
        own.append(frame("lib/torch/_tensor.py(9): shown", at, each))
        inner = _differentiated(at + 1, each - 2, 90 + number, behind + 6 * (number + 1))
        own += [inner[0] | {"args": {}}] if aside else inner
        at += each + 1
    own += [frame("nn.Module: Noise_0", 0, at + 2), frame("noise.py(9): forward", 1, at)]
    found = made(loop([own], length=330 + behind))
    if not aside:
        assert "own_code" not in rules(found)
        return
    finding = told(found)
    assert finding["words"]["what"] == "calling shown"
    assert finding["line"] == "noise.py(9): forward"
    assert finding["recoverable_ns"] == pytest.approx(1000 * length, rel=0.05)


@examples(5)
@given(st.integers(1, 4))
def test_a_librarys_wrapper_gives_way_to_what_it_wraps(several: int) -> None:
    own, at = [], 0
    for number in range(several):
        own.append(frame("lib/torch/utils/_contextlib.py(9): wrapped", at, 150))
        own.append(frame(f"train.py({number}0): measure{number}", at + 2, 146))
        at += 155
    what = told(made(loop([own] * 4)))["words"]["what"]
    assert "wrapped" not in what
    assert all(f"measure{number}" in what for number in range(several))


def _checked(entries: list[Event]) -> list[Event]:
    """A trace with a check for NaN in each backward function."""
    nodes = [entry for entry in entries if entry["name"] == NODE]
    names = ("aten::isnan", "aten::_is_any_true", "aten::item")
    return entries + [
        span("cpu_op", name, node["ts"] + 60 + 12 * place, 10)
        for node in nodes
        for place, name in enumerate(names)
    ]


def test_anomaly_mode() -> None:
    entries = _checked(loop([[]] * 4, length=400))
    stacks = [
        frame("traceback.py(217): format_stack", entry["ts"] + 5, 60)
        for entry in entries
        if entry["name"] == "aten::mm" and entry["args"]
    ]
    finding = item(made(entries + stacks), "machinery_without_use")
    assert finding["recoverable_ns"] == pytest.approx(90_000, rel=0.05)
    assert finding["numbers"] == {"checks": 1, "stacks": 1}
    assert "machinery_without_use" in rules(
        made(_checked(loop([[]] * 4, length=400, frames=False)))
    )
    assert "machinery_without_use" not in rules(made(loop([[]] * 4, length=400)))


def test_a_check_of_the_users_own_is_no_anomaly_mode() -> None:
    own = [span("cpu_op", "aten::isnan", 0, 300), span("cpu_op", "aten::_is_any_true", 300, 300)]
    assert "machinery_without_use" not in rules(made(loop([own] * 4)))


@pytest.mark.parametrize(("threads", "cores"), [(32, 2), (8, 4), (3, 2)])
def test_threads_beyond_the_cores(threads: int, cores: int) -> None:
    shapes: dict[str, Any] = {"Input Dims": [[256, 256]], "Input type": ["float"]}
    own = [span("cpu_op", "aten::sqrt", 10 * i + 300 * i, 300, **shapes) for i in range(2)]
    entries = loop([own] * 4)
    finding = item(
        made(entries, intra_op_threads=threads, usable_cores=cores), "oversubscribed_threads"
    )
    lost = 1 - 65_536 / 300_000
    assert finding["recoverable_ns"] == pytest.approx(600_000 * lost, rel=0.02)
    for header in ({}, {"intra_op_threads": cores, "usable_cores": cores}):
        assert "oversubscribed_threads" not in rules(made(entries, **header))


def test_interpreter_held_by_another_thread() -> None:
    waits = "<built-in method run_backward of torch._C._EngineBase object at 0x1>"
    entries = loop(
        [[frame(waits, 0, 6500 if number in (1, 3) else 50)] for number in range(6)], 7000
    )
    thread = [frame("tick.py(3): tick", 0, 42_000, 2)]
    finding = item(made(entries + thread), "interpreter_held")
    assert finding["line"] == "tick.py: tick"
    assert finding["recoverable_ns"] == pytest.approx(6_450_000, rel=0.02)
    assert finding["hit"] == [1, 3]
    idle = [frame("threading.py(300): wait", 0, 42_000, 2)]
    assert "interpreter_held" not in rules(made(entries + idle))


@examples(8)
@given(st.integers(4600, 60_000), st.integers(1, 4))
def test_an_operator_computes_without_the_interpreters_lock(length: int, alike: int) -> None:
    """However much longer than others of its name it takes, and whatever another thread does meanwhile."""
    own = [span("cpu_op", "aten::addmm", 10 * number, 5) for number in range(alike)]
    own.append(span("cpu_op", "aten::addmm", 100, length))
    entries = loop([own] * 4, length + 1000)
    thread = [frame("tick.py(3): tick", 0, 4 * (length + 1000), 2)]
    assert "interpreter_held" not in rules(made(entries + thread))


def test_workers_started_anew() -> None:
    own = [
        frame("torch/utils/data/dataloader.py(500): __iter__", 0, 600),
        frame("torch/utils/data/dataloader.py(1100): __init__", 5, 590),
        frame("multiprocessing/process.py(110): start", 10, 250),
        frame("multiprocessing/process.py(110): start", 270, 250),
    ]
    finding = item(made(loop([own] * 4)), "worker_restarts")
    assert finding["recoverable_ns"] == pytest.approx(590_000, rel=0.02)
    assert finding["numbers"]["processes"] == 2
    assert "worker_restarts" not in rules(made(loop([own[:2]] * 4)))


EXAMPLES = """
<built-in function collect>
<built-in function sleep>
torch/nn/utils/clip_grad.py(200): clip_grad_norm_
torch/serialization.py(960): save
torch/serialization.py(1200): load
torch/distributed/checkpoint/state_dict_saver.py(70): save
copy.py(118): deepcopy
torch/optim/swa_utils.py(270): update_parameters
torch/utils/tensorboard/writer.py(490): add_histogram
site-packages/wandb/sdk/wandb_run.py(1800): log
logging/__init__.py(1090): emit
<built-in function print>
torch/_tensor_str.py(600): _str
<built-in method item of Tensor object at 0x7f0>
torch/cuda/memory.py(220): empty_cache
site-packages/pandas/core/frame.py(1500): iterrows
site-packages/PIL/Image.py(2200): resize
<built-in method tensor of type object at 0x7f0>
<built-in method findall of re.Pattern object at 0x7f0>
json/__init__.py(274): load
json/encoder.py(205): iterencode
multiprocessing/reduction.py(50): dumps
<built-in method dump of _pickle.Pickler object at 0x7f0>
subprocess.py(500): run
urllib/request.py(180): urlopen
<built-in function fsync>
site-packages/matplotlib/figure.py(3300): savefig
site-packages/sklearn/metrics/_ranking.py(600): roc_auc_score
site-packages/transformers/tokenization_utils_base.py(3000): encode
site-packages/transformers/models/llama/modeling_llama.py(200): eager_attention_forward
aten::_linalg_svd
aten::_linalg_eigh
aten::linalg_inv
aten::sort
aten::nonzero
torch/distributed/distributed_c10d.py(2300): all_gather_object
<built-in method index of list object at 0x7f0>
torch/nn/modules/linear.py(110): reset_parameters
"""
"""A name that each row of the catalogue is for, as profilers write it, in their order."""


@pytest.mark.parametrize(
    ("fix", "example"), [*zip(fixes(), EXAMPLES.strip().splitlines(), strict=True)]
)
def test_each_row_of_the_catalogue_is_for_its_example(fix: Fix, example: str) -> None:
    assert known_fix(example) == fix
    assert fix.source[1].startswith("https://")
    assert fix.attempt.endswith(".")
    assert not fix.what.endswith(".")


def test_a_function_of_the_users_own_is_not_in_the_catalogue() -> None:
    assert known_fix("train.py(3): save") is None


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("<built-in function collect>", "collect"),
        ("<built-in method sort of type object at 0x7fa0>", "sort"),
        ("torch/serialization.py(12): save", "save"),
        ("aten::sort", "aten::sort"),
    ],
)
def test_plain_names(name: str, plain: str) -> None:
    assert function_name(name) == plain


def test_start_up_with_and_without_steps() -> None:
    calls = [
        ("cudaFree", 100, 400_000),
        ("cudaFree", 900_000, 5),
        ("cuModuleLoadData", 500_000, 9000),
    ]
    entries = [span("cuda_runtime", name, begin, length) for name, begin, length in calls]
    entries += [span("cpu_op", "aten::mm", 600_000, 300_000)]
    for found in (made(entries), made(entries + steps((0, 950_000)))):
        assert item(found, "start_up")["numbers"]["taken"] == 400_000_000


def test_known_call_while_the_device_waits() -> None:
    entries = [
        frame("train.py(5): main", 0, 15_001),
        *steps(*((i * 5000 + 1, i * 5000 + 5000) for i in range(3))),
    ]
    for number in range(3):
        begin = number * 5000
        for place, at in enumerate((10, 4900)):
            correlation = 2 * number + place + 1
            entries.append(
                span("cuda_runtime", "cudaLaunchKernel", begin + at, 4, correlation=correlation)
            )
            entries.append(span("kernel", "mul", begin + at + 5, 20, 7, correlation=correlation))
        entries += [
            frame("train.py(9): tidy", begin + 100, 4700),
            frame("<built-in function collect>", begin + 105, 4690),
        ]
    found = made(entries)
    assert (rules(found)["idle_host"] or 0.0) > 0.5
    assert (
        item(found, "idle_host")["words"]["library"]
        == "Most of it is garbage collection (gc.collect)."
    )
