"""Random calls against a slow reading that follows the definitions event by event."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.module.trees import insight_of
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.store.insight import Insight

EVALUATE = "autograd::engine::evaluate_function: F"
CATEGORY = {
    "aten::mm": "cpu_op",
    "aten::add": "cpu_op",
    EVALUATE: "cpu_op",
    "AccumulateGrad": "cpu_op",
    "range": "user_annotation",
    "ProfilerStep#1": "user_annotation",
    "nn.Module: A_0": "python_function",
    "nn.Module: B_0": "python_function",
    "f.py(1): f": "python_function",
    "launch": "cuda_runtime",
}
SIGN = {"cpu_op": 2, "user_annotation": 1, "python_function": 0}
Path = tuple[tuple[int, str, bool], ...]


@dataclass
class Call:
    """One call; ``number`` −1 none; ``kernels``: device time that it launches itself, only of
    runtime calls.
    """

    name: str
    number: int
    backward: bool
    inner: list[Call]
    kernel: int
    thread: int = 0
    begin: int = 0
    end: int = 0
    parent: Call | None = None
    above: Call | None = None
    """The node that it is laid at."""
    in_backward: bool = False
    path: Path = ()

    @property
    def category(self) -> str:
        return CATEGORY[self.name]


@dataclass
class Sums:
    calls: int = 0
    host_total: int = 0
    host_self: int = 0
    runtime: int = 0
    device_self: int = 0


@dataclass
class Reading:
    """What the slow reading found."""

    sums: dict[Path, Sums] = field(default_factory=lambda: defaultdict(Sums))
    counts: dict[str, int] = field(default_factory=lambda: {"tied": 0, "untied": 0, "outside": 0})


def calls(inner: st.SearchStrategy[list[Call]]) -> st.SearchStrategy[list[Call]]:
    one = st.builds(
        Call,
        name=st.sampled_from(list(CATEGORY)),
        number=st.integers(-1, 3),
        backward=st.booleans(),
        inner=inner,
        kernel=st.integers(0, 3),
    )
    return st.lists(one, max_size=4)


CALLS: st.SearchStrategy[list[Call]] = st.recursive(st.just([]), calls, max_leaves=12)


def in_order(
    roots: list[Call], thread: int, at: int, parent: Call | None = None
) -> tuple[list[Call], int]:
    """Every call in the order of begins; times are given to them on the way."""
    found = []
    for call in roots:
        call.parent, call.thread, call.begin = parent, thread, at
        if call.category != "cpu_op":
            call.number = -1
        if call.category == "cuda_runtime":
            # Runtime calls make runtime calls at most.
            call.inner = [one for one in call.inner if one.category == "cuda_runtime"]
        inside, at = in_order(call.inner, thread, at + 1, call)
        call.end = at = at + 1
        found += [call, *inside]
    return found, at


def recorded(listed: list[Call]) -> list[dict[str, Any]]:
    """The entries of traceEvents."""
    found: list[dict[str, Any]] = []
    for i, call in enumerate(listed, 1):
        args: dict[str, Any] = {"correlation": i} if call.category == "cuda_runtime" else {}
        if call.number >= 0:
            args = {
                "Sequence number": number_of(call),
                "Fwd thread id": (call.thread + 1) * call.backward,
            }
        span = {"ph": "X", "pid": 1, "ts": call.begin, "dur": call.end - call.begin}
        found.append(
            {**span, "cat": call.category, "name": call.name, "tid": call.thread, "args": args}
        )
        if call.category == "cuda_runtime" and call.kernel:
            found.append(
                {
                    **span,
                    "cat": "kernel",
                    "name": "k",
                    "pid": 0,
                    "tid": 7,
                    "dur": call.kernel,
                    "args": {"correlation": i, "device": 0, "stream": 7},
                }
            )
    return found


def number_of(call: Call) -> int:
    """Each thread has numbers of its own, so that no function is in doubt."""
    return call.number + 10 * call.thread if call.number >= 0 else -1


def around(call: Call | None, wanted: Any) -> Call | None:
    """The innermost call at or around a call for which ``wanted`` holds."""
    while call is not None and not wanted(call):
        call = call.parent
    return call


def is_call(call: Call) -> bool:
    return call.category != "python_function"


def is_operator(call: Call) -> bool:
    return call.category == "cpu_op"


def is_module(call: Call) -> bool:
    return call.name.startswith("nn.Module")


def collapsed(listed: list[Call]) -> set[int]:
    """Operators that are one with the operator around them: its only call, of the same name."""
    inside: dict[int, list[Call]] = defaultdict(list)
    for call in filter(is_call, listed):
        outer = around(call.parent, is_call)
        if outer is not None:
            inside[id(outer)].append(call)
    return {
        id(call)
        for call in listed
        if is_operator(call)
        and (outer := around(call.parent, is_call)) is not None
        and outer.name == call.name
        and len(inside[id(outer)]) == 1
    }


def read_slowly(listed: list[Call]) -> Reading:
    found = Reading()
    gone = collapsed(listed)

    def is_node(call: Call) -> bool:
        return (
            id(call) not in gone
            and (is_operator(call) or call.category == "user_annotation" or is_module(call))
            and call.name != "ProfilerStep#1"
        )

    def says_so(call: Call) -> bool:
        return (
            is_operator(call)
            and is_node(call)
            and (call.name == EVALUATE or (call.backward and call.number >= 0))
        )

    nodes = [call for call in listed if is_node(call)]
    behind = of_old_engines(
        [call for call in nodes if around(call.parent, is_node) is None], nodes, says_so
    )

    def is_marked(call: Call) -> bool:
        return says_so(call) or id(call) in behind

    def is_function(call: Call) -> bool:
        if not is_marked(call):
            return False
        outer = around(call.parent, is_marked)
        return call.name == EVALUATE or outer is None or number_of(outer) != number_of(call)

    for call in nodes:
        call.above, call.in_backward = (
            around(call.parent, is_node),
            around(call, is_function) is not None,
        )
    lay(nodes, is_function, found.counts)
    for call in nodes:
        kind = 0 if is_module(call) else SIGN[call.category]
        call.path = (
            *(call.above.path if call.above else ()),
            (kind, call.name.removeprefix("nn.Module: "), call.in_backward),
        )
        add(
            found.sums[call.path],
            calls=1,
            host_total=call.end - call.begin,
            host_self=call.end - call.begin,
        )
        outer = around(call.parent, is_node)
        if outer is not None:
            add(found.sums[outer.path], host_self=call.begin - call.end)
    for call in listed:
        if call.category == "cuda_runtime":
            add_runtime(found, call, is_node)
    return found


def of_old_engines(outermost: list[Call], nodes: list[Call], says_so: Any) -> set[int]:
    """What stands behind a function on a thread that runs nothing else, where no
    ``evaluate_function`` is recorded.
    """
    found: set[int] = set()
    for thread in {call.thread for call in outermost}:
        mine = [call for call in outermost if call.thread == thread]
        others = [call for call in mine if not says_so(call)]
        if any(call.name == EVALUATE for call in nodes if call.thread == thread) or any(
            not is_operator(call) or call.number >= 0 for call in others
        ):
            continue
        first = next((call.begin for call in mine if says_so(call)), None)
        found |= {id(call) for call in others if first is not None and call.begin > first}
    return found


def add(sums: Sums, **more: int) -> None:
    for key, value in more.items():
        setattr(sums, key, getattr(sums, key) + value)


def add_runtime(found: Reading, call: Call, is_node: Any) -> None:
    outer = around(call.parent, is_node)
    caller = around(call.parent, is_call)
    if outer is not None and (caller is None or caller.category != "cuda_runtime"):
        add(found.sums[outer.path], runtime=call.end - call.begin, host_self=call.begin - call.end)
    first = around(call.parent, lambda c: is_node(c) and (is_operator(c) or is_module(c)))
    launcher = first if first is not None and is_operator(first) else outer
    add(found.sums[launcher.path if launcher is not None else ()], device_self=call.kernel)


def lay(nodes: list[Call], is_function: Any, counts: dict[str, int]) -> None:
    """Lay functions and reruns; what is above a call is laid before it."""
    makers: dict[int, Call] = {}
    before: dict[tuple[int, int], Call] = {}
    state: dict[int, tuple[str, Call | None]] = {}
    forward: dict[str, Call] = {}
    for call in nodes:
        natural = call.above
        if is_function(call):
            home = home_of(call, natural, makers, before, state, is_function)
            state[id(call)] = home
            before[call.thread, id(natural)] = call
            counts[home[0]] += 1
            if home[0] == "tied":
                call.above = home[1]
        if is_module(call):
            function, outer = around(call, is_function), around(call.parent, is_module)
            if function is None:
                forward[call.name] = call
            elif call.name in forward and (
                outer is None or outer.begin < function.begin or outer.thread != function.thread
            ):
                call.above = forward[call.name].above
        if is_operator(call) and call.number >= 0 and not call.backward and call.name != EVALUATE:
            makers[number_of(call)] = call


def home_of(
    call: Call,
    natural: Call | None,
    makers: dict[int, Call],
    before: dict[tuple[int, int], Call],
    state: dict[int, tuple[str, Call | None]],
    is_function: Any,
) -> tuple[str, Call | None]:
    if call.number >= 0 and call.name != "AccumulateGrad":
        maker = makers.get(number_of(call))
        if maker is None:
            return "untied", None
        module, function = around(maker, is_module), around(maker, is_function)
        if module is not None and (function is None or module.begin > function.begin):
            return "tied", module
        return state[id(function)] if function is not None else ("outside", None)
    previous = before.get((call.thread, id(natural))) or around(natural, is_function)
    return state[id(previous)] if previous is not None else ("untied", None)


def as_sums(insight: Insight) -> dict[Path, Sums]:
    paths, table = insight["paths"], insight["path_steps"]
    whole: list[Path] = []
    for parent, kind, name, backward in zip(
        *(paths[key].tolist() for key in ("parent", "kind", "name", "backward")), strict=True
    ):
        whole.append(
            (*(whole[parent] if parent >= 0 else ()), (kind, insight.strings[name], bool(backward)))
        )
    found: dict[Path, Sums] = defaultdict(Sums)
    for row in range(table.n):
        path = int(table["path"][row])
        values = {
            key: int(table[key][row]) // (1 if key == "calls" else 1000)
            for key in Sums.__dataclass_fields__
        }
        add(found[whole[path] if path >= 0 else ()], **values)
    return found


def forward() -> list[Call]:
    """Modules that make the nodes 0 to 2, so that most functions have a forward."""

    def operator(name: str, number: int) -> Call:
        return Call(name, number, backward=False, inner=[], kernel=0)

    inner = Call(
        "nn.Module: B_0",
        -1,
        backward=False,
        inner=[operator("aten::mm", 0), operator("aten::add", 1)],
        kernel=0,
    )
    return [
        Call("nn.Module: A_0", -1, backward=False, inner=[operator("aten::mm", 2), inner], kernel=0)
    ]


@examples(200)
@given(st.lists(st.tuples(st.booleans(), CALLS), min_size=1, max_size=2))
def test_paths_are_those_of_a_slow_reading(threads: list[tuple[bool, list[Call]]]) -> None:
    listed: list[Call] = []
    for thread, (usual, roots) in enumerate(threads):
        listed += in_order([*(forward() if usual else []), *roots], thread, 1000 * thread)[0]
    expected = read_slowly(sorted(listed, key=lambda call: call.begin))
    insight = insight_of(trace_of(recorded(listed)))
    zero = Sums()
    assert {k: v for k, v in as_sums(insight).items() if v != zero} == {
        k: v for k, v in expected.sums.items() if v != zero
    }
    assert insight.about["backward"] == expected.counts
