"""Rules of a device that waits: a trace that fires each, and a near miss that must not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.findings.cases import drawn, item, launched, made, rules, span, steps

STEADY = """
    main   (ProfilerStep#1                                                )(ProfilerStep#2               )
    main   <L #1> <L #2>                                                     <L #3> <L #4>
    gpu 7  {k #1          }{k #2                                           }{k #3         }{k #4        }
    """


def test_a_busy_device_has_no_finding() -> None:
    found = drawn(STEADY)
    assert found["found"] == []
    assert found["steps"] == 2
    assert found["busy"] == pytest.approx(0.98, abs=0.02)


def test_the_device_waits_for_the_next_batch() -> None:
    found = drawn("""
    main   (ProfilerStep#1               )(ProfilerStep#2               )
    main    (load      )<L #1>             (load      )<L #2>
    gpu 7                   {k #1        }                  {k #2       }
    """)
    # Within the DataLoader's 12 columns of each step of 32 the device has nothing to do.
    one = item(found, "input_bound")
    assert one["recoverable_ns"] == pytest.approx(120_000, rel=0.03)
    assert one["numbers"]["single_process"] == 1.0
    assert one["count"] == 2


def test_a_batch_that_loads_behind_running_kernels_costs_nothing() -> None:
    found = drawn("""
    main   (ProfilerStep#1               )(ProfilerStep#2               )
    main    <L #1>(load           )        <L #2>(load           )
    gpu 7    {k #1                                  }{k #2                            }
    """)
    assert "input_bound" not in rules(found)


def test_loading_on_a_host_alone_counts_in_full() -> None:
    fires = drawn("""
    main   (ProfilerStep#1               )
    main    (fetch     )[aten::mm      ]
    """)
    assert rules(fires)["input_bound"] == round(12 / 31, 2)
    assert item(fires, "input_bound")["numbers"]["worker_processes"] == 1.0
    misses = drawn("""
    main   (ProfilerStep#1                                                                                                      )
    main    [load][aten::mm                                                                                                    ]
    """)
    assert item(misses, "input_bound")["share"] == pytest.approx(6 / 118, abs=0.002)
    one = drawn("main (ProfilerStep#1" + " " * 400 + ")\nmain  (load)")
    assert "input_bound" not in rules(one)


SYNCHRONISED = """
    main   (ProfilerStep#1                              )
    main    <L #1>[item             ]      <L #2>
    main           <sync           >
    gpu 7     {k #1                }           {k #2    }
    """


def test_a_wait_costs_what_the_device_idles_after_it() -> None:
    found = drawn(SYNCHRONISED)
    one = item(found, "host_synchronisation")
    # The gap of 11 columns, not the 17 that the host is blocked.
    assert one["recoverable_ns"] == pytest.approx(110_000, rel=0.03)
    assert one["words"]["operators"] == "aten::_local_scalar_dense (1 times)"
    assert one["numbers"]["blocked"] == 170_000


def test_a_wait_is_not_to_blame_for_more_than_it_lasts() -> None:
    found = drawn("""
    main   (ProfilerStep#1                              )
    main    <L #1>          <sync>                <L #2>
    gpu 7     {k #1       }                        {k #2}
    """)
    assert "host_synchronisation" in rules(found)
    assert item(found, "host_synchronisation")["recoverable_ns"] == pytest.approx(60_000, rel=0.03)


def test_a_wait_for_what_was_not_recorded_saves_nothing() -> None:
    """Work from before the recording: without the wait, nobody knows when it would have been done."""
    entries = [
        *steps((0, 650)),
        span("cuda_runtime", "cudaStreamSynchronize", 5, 600),
        *launched("k", 1, 610, 612, 300),
        *launched("l", 2, 620, 913, 80),
    ]
    assert "host_synchronisation" not in rules(made(entries))


def test_a_wait_without_a_gap_behind_it_costs_nothing() -> None:
    found = drawn("""
    main   (ProfilerStep#1                              )
    main    <L #1><L #3>[item          ]      <L #2>
    main                 <sync        >
    gpu 7     {k #1                   }
    gpu 8            {k #3                                 }
    gpu 9                                        {k #2 }
    """)
    assert "host_synchronisation" not in rules(found)


def test_memory_from_the_driver() -> None:
    fires = drawn("""
    main   (ProfilerStep#1                              )
    main    <L #1>   <malloc     >         <L #2>
    gpu 7     {k #1 }                          {k #2    }
    """)
    assert item(fires, "allocator_churn")["recoverable_ns"] == pytest.approx(130_000, rel=0.03)
    misses = drawn("""
    main   (ProfilerStep#1                              )
    main    <L #1>   <malloc     > <L #2>
    gpu 7     {k #1                      }{k #2           }
    """)
    assert "allocator_churn" not in rules(misses)


def _train_of_kernels(
    length: float, pause: float, ahead: float, count: int = 20, apart: float | None = None
) -> list[dict[str, object]]:
    """Kernels at regular distances. The first is launched ``ahead`` µs before it begins, the others ``apart``
    after each other: as far as they begin, unless given. Nothing follows on the host.
    """
    every = length + pause
    called = [98 - ahead + number * (apart or every) for number in range(count)]
    entries = steps((0, called[-1] + 2))
    for number in range(count):
        entries += launched("k", number + 1, called[number], 100 + number * every, length)
    return entries


def test_many_launches_that_come_late() -> None:
    fires = rules(made(_train_of_kernels(5, 15, 2)))
    # Of 485 µs those before the first launch and the kernels themselves stay.
    assert fires["launch_bound"] == pytest.approx(1 - 200 / 485, abs=0.03)
    assert "launch_bound" not in rules(made(_train_of_kernels(5, 15, 60)))
    assert "launch_bound" not in rules(made(_train_of_kernels(60, 2, 2, count=3)))


def test_pauses_between_kernels_that_were_launched_in_time() -> None:
    fires = rules(made(_train_of_kernels(5, 2, 3, apart=2)))
    assert fires["idle_queue"] == pytest.approx(38 / 238, abs=0.01)
    assert "idle_queue" not in rules(made(_train_of_kernels(200, 2, 3, apart=2)))
    assert "idle_queue" not in rules(made(_train_of_kernels(5, 50, 3, apart=2)))


def test_idle_for_an_unknown_reason() -> None:
    found = made(_train_of_kernels(50, 50, 90))
    one = item(found, "idle_other")
    assert (one["share"], one["certainty"]) == (None, None)
    assert one["numbers"]["idle"] == pytest.approx(19 * 50_000, rel=0.2)
    assert "idle_other" not in rules(made(_train_of_kernels(50, 50, 2)))


def test_a_host_that_does_something_else() -> None:
    busy = [
        *steps((0, 10_000)),
        *launched("k", 1, 10, 12, 3000),
        *launched("k", 2, 8000, 8010, 1900),
        span("cpu_op", "aten::sort", 3100, 4800),
    ]
    found = made(busy)
    one = item(found, "idle_host")
    assert one["recoverable_ns"] == pytest.approx(4_800_000, abs=20_000)
    assert one["numbers"]["longest"] == 4_800_000
    assert one["words"]["doing"] == "aten::sort"
    ahead = [
        *steps((0, 10_000)),
        *launched("k", 1, 10, 12, 3000),
        *launched("k", 2, 20, 3012, 6900),
        span("cpu_op", "aten::sort", 3100, 4800),
    ]
    assert "idle_host" not in rules(made(ahead))


def test_the_evidence_is_what_the_host_did_in_the_gap() -> None:
    entries = [
        *steps((0, 10_000)),
        *launched("k", 1, 10, 12, 3000),
        *launched("k", 2, 8000, 8010, 1900),
        span("cpu_op", "aten::sort", 3100, 4800),
    ]
    finding = item(made(entries), "idle_host")
    # Rows are in the order of begins: step, launch, kernel, sort.
    assert finding["rows"][0] == 3


@settings(max_examples=8, deadline=None)
@given(st.integers(10, 40), st.integers(60, 700), st.integers(0, 9000))
def test_what_another_thread_launches_is_launched_by_the_host(
    count: int, apart: int, pause: int
) -> None:
    """Within an annotation of the loop's thread another one launches a kernel of 30 µs now and then, and once pauses."""
    entries, bounds, now = [], [], 0.0
    for step in range(3):
        begin = now
        for number in range(count):
            at = {"correlation": count * step + number + 1}
            entries += [
                span("cpu_op", "aten::mul", now + 2, 20, 2),
                span("cuda_runtime", "cudaLaunchKernel", now + 4, 4, 2, **at),
                span("kernel", f"k{number % 4}", now + 10, 30, 7, **at),
            ]
            now += apart + (pause if number == count // 2 else 0)
        entries.append(span("user_annotation", "## backward ##", begin + 1, now - begin - 2))
        bounds.append((begin, now))
    found = made([*steps(*bounds), *entries])
    # Before the first and after the last launch of all nothing is launched, either.
    if "idle_host" in rules(found):
        one = item(found, "idle_host")
        assert one["numbers"]["longest"] <= 1e3 * (pause + apart)
        assert one["recoverable_ns"] <= 1e3 * (pause + apart - 30)


LOADER = """
    main   (ProfilerStep#1               )(ProfilerStep#2               )
    main    /{}                      /     /{}                      /
    main    {}                        <L #1>                          <L #2>
    gpu 7                              {{k #1}}                        {{k #2}}
    """


def test_an_iterator_of_ones_own() -> None:
    alone = item(drawn(LOADER.format("own", "own", "      ")), "input_bound")
    assert "input_bound" not in rules(drawn(LOADER.format("lib", "lib", "      ")))
    # An iterator that runs the model is none that loads.
    one_of_two = item(
        drawn(LOADER.format("own", "own", "<L #3>") + "    gpu 7             {k #3}\n"),
        "input_bound",
    )
    assert (alone["count"], one_of_two["count"]) == (2, 1)


@pytest.mark.parametrize(
    "server", ["vllm/v1/worker/model_runner.py", "sglang/srt/managers/scheduler.py"]
)
def test_a_server_launches_graphs_by_its_own_options(server: str) -> None:
    entries = _train_of_kernels(5, 15, 2)
    own = item(made(entries), "launch_bound")
    assert "attempt" not in own["words"]
    frame = span("python_function", f"{server}(12): execute", 0, 480)
    told = item(made([*entries, frame]), "launch_bound")["words"]
    assert server.partition("/")[0] in told["attempt"].lower()
    assert "https://docs." in told["source"]
    launch = span("cuda_runtime", "cudaGraphLaunch", 1, 0.5, 3)
    assert "attempt" not in item(made([*entries, frame, launch]), "launch_bound")["words"]
