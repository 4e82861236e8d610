"""The overview's payload says what the facts say."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.listed import facts_listed
from tests.builders.step_programs import TRAINS, VALIDATES, Step, steps_listed
from tests.examples import examples
from tests.views import hand_made
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.overview.payload import RankInJob, overview_payload
from torch_tb_profiler.views.steps import choose, step_objects, window_text
from torch_tb_profiler.views.wire import OverviewPayload, to_json
from torch_tb_profiler.views.words.vocabulary import device_details, device_title, vendor_words

US = hand_made.US
PLACE = RankInJob(workers=2, rank=1, rank_source="file name", world_size=2)


def overview(
    facts: Facts, first: int | None = None, last: int | None = None, skip_cold: bool = False
) -> OverviewPayload:
    payload = overview_payload(facts, choose(facts, first, last, skip_cold), PLACE)
    return msgspec.json.decode(to_json(payload), type=OverviewPayload)


def test_steps_and_average() -> None:
    found = overview(hand_made.facts())
    columns = (found.steps[key] for key in ("name", "wall_ns", "cold", "odd", "cut", "selected"))
    assert list(zip(*columns, strict=True)) == [
        ("ProfilerStep#1", 100 * US, True, False, False, True),
        ("ProfilerStep#2", 60 * US, False, False, False, True),
        ("ProfilerStep#3", 200 * US, False, True, False, True),
    ]
    assert found.average is not None
    # The cold step speaks for no other.
    assert (found.average.steps, found.average.wall_ns, found.average.categories_ns.kernel) == (
        2,
        130 * US,
        40 * US,
    )
    assert found.subject.steps == "1-2"
    for step in step_objects(found.steps):
        assert sum(step["categories_ns"].values()) == step["wall_ns"]


def test_cold_steps_are_left_out_on_request() -> None:
    found = overview(hand_made.facts(), skip_cold=True)
    assert found.steps["selected"] == [False, True, True]
    assert found.average is not None
    assert (found.average.steps, found.average.wall_ns) == (2, 130 * US)


def test_one_step() -> None:
    found = overview(hand_made.facts(), 1, 1)
    assert found.average is not None
    assert found.average.wall_ns == 60 * US
    assert found.devices[0].utilization == 0.5


def test_a_step_that_does_not_exist() -> None:
    with pytest.raises(BadRequest, match="there are 3"):
        choose(hand_made.facts(), 3, 3)


def test_the_collective_library_of_amd_has_its_own_name() -> None:
    for vendor, name in (("nvidia", "NCCL"), ("amd", "RCCL")):
        lines = {
            f.label: f.value
            for f in overview(
                hand_made.facts(vendor=vendor, versions={"NCCL": "2.26.6"})
            ).configuration
        }
        assert lines[name] == "2.26.6"


def test_configuration_holds_only_what_is_known() -> None:
    lines = {f.label: f.value for f in overview(hand_made.facts(backend=None)).configuration}
    assert lines == {
        "Workers": "2",
        "Rank": "1",
        "World size": "2",
        "Communication": "nccl",
        "Device": "NVIDIA H100",
        "CUDA runtime": "12.4",
    }


def test_a_device_says_what_is_not_known_of_it() -> None:
    device = overview(hand_made.facts(), 1, 1).devices[0]
    assert device.sm_efficiency is None
    assert device.occupancy is None
    assert [text.split(":")[0] for text in device.unknown] == [
        "Estimated SM efficiency",
        "Achieved occupancy",
    ]
    partly = overview(hand_made.facts(), 0, 1).devices[0]
    assert any("37.5 %" in text for text in partly.unknown)


def test_the_odd_step_has_its_reason() -> None:
    reasons = overview(hand_made.facts()).steps["odd_reason"]
    assert reasons[:2] == ["", ""]
    assert "µs more uncategorised time than the median step" in reasons[2]


def test_health() -> None:
    item = overview(hand_made.facts()).health[0]
    assert (item.name, item.severity, item.count, item.touched_ns, item.touched_share) == (
        "truncated_file",
        "data_loss",
        1,
        36 * US,
        0.1,
    )


def test_no_device_is_said_with_the_call_that_records_one() -> None:
    found = overview(hand_made.facts(device=False))
    assert found.devices == []
    assert [m.what for m in found.missing] == ["Accelerator activity", "Memory records"]
    compile(found.missing[0].call, "call", "exec")


def test_what_was_not_recorded_is_unknown_not_0() -> None:
    facts = hand_made.with_steps(
        hand_made.facts(device=False), kernel=[0] * 3, communication=[0] * 3
    )
    found = overview(facts)
    assert found.average is not None
    steps = [step["categories_ns"] for step in step_objects(found.steps)]
    for times in (msgspec.structs.asdict(found.average.categories_ns), *steps):
        assert [times[key] for key in ("kernel", "memcpy", "memset", "runtime")] == [None] * 4
        # Collectives of the host are recorded without a device.
        assert times["communication"] == 0
        assert times["other"] is not None
    assert found.headline[0].key == "time"


def test_what_occurs_in_any_step_is_known_in_all() -> None:
    facts = hand_made.with_steps(hand_made.facts(device=False), runtime=[0, 5, 0])
    assert overview(facts).steps["runtime_ns"] == [0, 5, 0]


def test_notes() -> None:
    synthetic = overview(hand_made.facts(synthetic=True, step_source="whole span"))
    assert len(synthetic.notes) == 3
    # The hand-made operators have 5 calls outside the steps.
    assert synthetic.notes[2].startswith("8.00 µs of host operators (11.1 %) ran outside the steps")
    assert "synthetic" in synthetic.notes[0]


def test_a_device_has_one_name_and_its_vendors_details() -> None:
    known = ("AMD Instinct MI300X", 192 << 30, "9.4", 304)
    for vendor, title, details in (
        ("nvidia", "GPU 9", "192 GiB · 304 SMs · compute capability 9.4"),
        ("amd", "GPU 9", "192 GiB · 304 compute units"),
        ("other", "Accelerator 9", "192 GiB · 304 compute units"),
    ):
        words = vendor_words(vendor)
        assert device_title(words, 9) == title
        assert device_details(words, *known) == f"AMD Instinct MI300X · {details}"
    assert device_details(words, None, None, None) == "name unknown"


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [(None, None, "3 steps"), (0, 1, "2 of 3 steps"), (2, 2, "ProfilerStep#3")],
)
def test_the_window_is_named(first: int | None, last: int | None, text: str) -> None:
    facts = hand_made.facts()
    assert window_text(facts, choose(facts, first, last)) == text


def test_a_recording_without_steps_is_its_own_window() -> None:
    facts = hand_made.with_steps(hand_made.facts(), flags=[StepFlag.WHOLE] * 3)
    assert window_text(facts, choose(facts)) == "the recording"


def test_the_first_look_is_of_the_median_step() -> None:
    found = overview(hand_made.facts())
    assert found.first_look == "A step takes about 60.0 µs."
    assert overview(hand_made.facts(), 0, 0).first_look == "The step takes about 100 µs."


@examples(6)
@given(st.integers(2, 5), st.integers(1, 4), st.integers(2, 4))
def test_kinds_lead_by_time_and_each_can_be_looked_at_alone(
    trains: int, validates: int, times: int
) -> None:
    train = Step(4000, TRAINS, kernels=("gemm",), rows=64)
    validate = Step(1500, VALIDATES, kernels=("gemm", "softmax"), rows=64)
    facts = facts_listed(steps_listed(([train] * trains + [validate] * validates) * times))
    kinds = overview(facts).kinds
    assert [kind.name for kind in kinds] == ["training", "validation"]
    assert kinds[0].median_ns * kinds[0].steps >= kinds[1].median_ns * kinds[1].steps
    chosen = []
    for kind in kinds:
        selection = choose(facts, kind=kind.name)
        found = overview_payload(facts, selection, PLACE)
        assert found.subject.kind == kind.name
        assert kind.median_ns in step_lengths(facts["steps"])[selection.steps].tolist()
        chosen += selection.steps.tolist()
    assert len(chosen) == len(set(chosen)) <= facts["steps"].n
    with pytest.raises(BadRequest):
        choose(facts, kind="prefill")


def test_steps_of_one_kind_are_no_choice() -> None:
    assert overview(hand_made.facts()).kinds == []
