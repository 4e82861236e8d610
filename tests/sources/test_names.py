"""File names ⇄ (worker, span), ranks in names, and the order of spans."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from torch_tb_profiler.sources import names
from torch_tb_profiler.sources.names import TraceName

WORKERS = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=30
)
SUFFIXES = st.sampled_from(
    [
        ".pt.trace.json",
        ".pt.trace.json.gz",
        ".json",
        ".json.gz",
        ".json.zst",
        ".gz",
        ".PT.Trace.JSON.GZ",
        ".pickle",
        ".pkl.zst",
        ".raw.json.gz",
    ]
)


@pytest.mark.parametrize(
    "file", ["events.out.tfevents.1", "model.pt", "readme.md", ".json", ".gz", "json"]
)
def test_other_files_have_no_trace_name(file: str) -> None:
    assert names.parse(file) is None


NS = "1752829956515000000"


@pytest.mark.parametrize(
    ("framework", "path", "run", "worker", "span"),
    [
        ("torchtitan", "job/profiling/traces/iteration_10/rank3_trace.json.gz", "job/profiling/traces", "rank3_trace", "iteration_10"),
        ("torchtitan, old", "profile_trace/iteration_100/rank0_trace.json", "profile_trace", "rank0_trace", "iteration_100"),
        ("torchtitan, the only folder", "iteration_5/rank0_trace.json", "", "rank0_trace", "iteration_5"),
        ("torchtitan, memory", "memory_snapshot/iteration_4_exit/rank1_memory_snapshot.pickle", "memory_snapshot", "rank1_memory_snapshot", "iteration_4_exit"),
        ("torchtitan, torchft", "traces/iteration_10/replica_1/rank0_trace.json.gz", "traces/replica_1", "rank0_trace", "iteration_10"),
        ("torchtune", "profiling_outputs/iteration_10/rank9_stacks.txt", "profiling_outputs", "rank9_stacks", "iteration_10"),
        ("Megatron-LM", "torch_profile/rank-12.json.gz", "torch_profile", "rank-12", "trace"),
        ("Megatron-LM, handler", f"tb/host1_4242.{NS}.pt.trace.json", "tb", "host1_4242", NS),
        ("Megatron Bridge", "torch_profile/iter_20/rank-1.json.gz", "torch_profile", "rank-1", "iter_20"),
        ("Primus", f"tb/primus-megatron-exp[llama2-70b]-rank[3].{NS}.pt.trace.json.gz", "tb", "primus-megatron-exp[llama2-70b]-rank[3]", NS),
        ("NeMo", "traces/device/rank-0.json", "traces/device", "rank-0", "trace"),
        ("vLLM", f"t/dp0_pp1_tp0_dcp0_ep0_rank2.{NS}.pt.trace.json.gz", "t", "dp0_pp1_tp0_dcp0_ep0_rank2", NS),
        ("vLLM, old", f"t/vllm-6fb1-rank-1.{NS}.pt.trace.json.gz", "t", "vllm-6fb1-rank-1", NS),
        ("vLLM, front end", f"t/host_77.async_llm.{NS}.pt.trace.json.gz", "t", "host_77.async_llm", NS),
        ("SGLang", "1758012345.678901-TP-0.trace.json.gz", "", "TP-0", "1758012345.678901"),
        ("SGLang, by stage", "p/1758012345.678901-TP-1-DECODE.trace.json.gz", "p", "TP-1", "1758012345.678901-DECODE"),
        ("SGLang, parallel", "run7-1758012345.6-TP-3-DP-1-PP-0-EP-3-prefill.trace.json.gz", "", "TP-3-DP-1-PP-0-EP-3", "run7-1758012345.6-prefill"),
        ("SGLang, memory", "1758012345.678901-TP-0-memory.pickle", "", "TP-0", "1758012345.678901-memory"),
        ("SGLang, diffusion", "logs/abc-5_steps-global-rank0.trace.json.gz", "logs", "rank0", "abc-5_steps"),
        ("TensorRT-LLM", "trace-rank-1.json", "", "trace-rank-1", "trace"),
        ("ATOM", f"torch_trace/rank_3/host_77.{NS}.pt.trace.json.gz", "torch_trace", "rank_3", NS),
        ("Ray Train", "pytorch_profiler/worker_1_epoch_3.pt.trace.json", "pytorch_profiler", "worker_1", "epoch_3"),
        ("LLaMA-Factory", f"saves/profiler/host_77.{NS}.pt.trace.json", "saves/profiler", "host_77", NS),
        ("Lightning", f"fit-0-[Strategy]DDPStrategy.training_step.{NS}.pt.trace.json", "", "0", f"fit-[Strategy]DDPStrategy.training_step.{NS}"),
        ("Lightning, named", f"logs/validate-perf-logs-1-validation_step.{NS}.pt.trace.json", "logs", "perf-logs-1", f"validate-validation_step.{NS}"),
        ("Lightning, old", "1_trace.json", "", "1_trace", "trace"),
        ("Accelerate", "profile_0.json", "", "profile_0", "trace"),
        ("verl", "e2e/a_rank0-of-8_tp0-pp1_pid42_20261122154121000_cycle1.json.gz", "e2e", "a_rank0-of-8_tp0-pp1", "20261122154121000_cycle1"),
        ("verl, without Megatron", "rank3_pid4242_20261122154121000.json.gz", "", "rank3", "20261122154121000"),
        ("verl, old", "prof/actor_update/step1_prof_rank-0.json.gz", "prof/actor_update", "prof_rank-0", "step1"),
        ("verl, a folder a step", "prof/step_20/actor_prof_rank-0.json.gz", "prof", "actor_prof_rank-0", "step_20"),
        ("slime", f"tb/train_actor_rank_0.{NS}.pt.trace.json.gz", "tb", "rank_0", f"train_actor.{NS}"),
        ("Axolotl", "outputs/lora/profiler_trace.json", "outputs/lora", "profiler_trace", "trace"),
        ("NequIP", "prof/rank0.cycle1.pt.trace.json", "prof", "rank0", "cycle1"),
        ("steps of ranks", "rank_0/global_step_7/a.pt.trace.json", "", "rank_0", "global_step_7"),
        ("ranks of iterations", "iteration_7/rank_0/a.pt.trace.json", "", "rank_0", "iteration_7"),
        ("nobody's", "step_by_step/iterations_10/rank_x/a.json", "step_by_step/iterations_10/rank_x", "a", "trace"),
    ],
)  # fmt: skip
def test_the_paths_that_frameworks_write(
    framework: str, path: str, run: str, worker: str, span: str
) -> None:
    folder, _, file = path.rpartition("/")
    name = names.parse(file, folder)
    assert name is not None
    assert (name.run, name.worker, names.span_names([name])[0]) == (run, worker, span), framework


@pytest.mark.parametrize("row", names.FORMS, ids=lambda row: row.frameworks)
def test_each_row_of_the_table_takes_its_example(row: names.Form) -> None:
    folder, _, file = row.example.rpartition("/")
    name = names.parse(file, folder)
    assert name is not None
    assert (name.run != folder) if row.folder else name.recording


@given(WORKERS, SUFFIXES)
def test_a_file_name_is_its_parts(worker: str, suffix: str) -> None:
    parsed = names.parse(worker + suffix)
    assert parsed is not None
    assume(not parsed.recording)
    span = f".{parsed.span}" if parsed.span else ""
    assert parsed.worker + span + parsed.suffix == worker + suffix


@given(
    st.from_regex(r"[A-Za-z_-][\w.-]{0,20}[A-Za-z_-]", fullmatch=True),
    st.integers(0, 10**19).map(str),
    st.sampled_from(["", ".gz"]),
)
def test_what_the_handler_writes_comes_back(worker: str, span: str, gz: str) -> None:
    assert names.parse(f"{worker}.{span}.pt.trace.json{gz}") == TraceName(
        worker, span, f".pt.trace.json{gz}"
    )


@given(st.lists(st.integers(0, 10**6), unique=True))
def test_spans_stand_in_numeric_order(numbers: list[int]) -> None:
    files = [TraceName("w", str(n), ".pt.trace.json") for n in numbers]
    assert [int(f.span) for f in sorted(files, key=names.span_order)] == sorted(numbers)


@given(st.lists(st.tuples(st.sampled_from(["", "1", "01", "2"]), SUFFIXES), unique=True))
def test_span_names_are_unique(parts: list[tuple[str, str]]) -> None:
    labels = names.span_names([TraceName("w", span, suffix) for span, suffix in parts])
    assert len(set(labels)) == len(parts)


def test_only_a_clash_puts_the_suffix_into_the_name() -> None:
    files = [
        TraceName("w", "7", ".pt.trace.json"),
        TraceName("w", "7", ".pt.trace.json.gz"),
        TraceName("w", "8", ".pt.trace.json"),
    ]
    assert names.span_names(files) == ["7.pt.trace.json", "7.pt.trace.json.gz", "8"]


def test_files_of_memory_or_stacks_stand_behind_the_traces_of_their_worker() -> None:
    parsed = [
        names.parse(f)
        for f in (
            "w.folded",
            "w.pickle",
            "w.raw.json.gz",
            "w.7.pt.trace.json",
            "w.pt.trace.json",
            "w.8.json",
        )
    ]
    files = sorted((f for f in parsed if f is not None and f.worker == "w"), key=names.span_order)
    assert [f.suffix for f in files] == [
        ".pt.trace.json",
        ".pt.trace.json",
        ".folded",
        ".pickle",
        ".raw.json.gz",
    ]
    assert [f.extra for f in files] == [False, False, True, True, True]


def test_texts_are_stacks_by_their_name_only() -> None:
    assert [
        names.parse(f) is not None
        for f in (
            "stacks.txt",
            "Profiler_Stack_cpu.TXT",
            "w0.ns.folded.txt",
            "x.stacks",
            "x.folded.gz",
        )
    ] == [True] * 5
    others = ("requirements.txt", "log.txt", "stack/notes.md", "chromium_events.json")
    assert [names.parse(f) for f in others] == [None] * len(others)


@given(st.text(max_size=12), st.text(max_size=12))
def test_natural_order_is_total(a: str, b: str) -> None:
    assert (names.natural(a) == names.natural(b)) == (a == b)
    assert (names.natural(a) < names.natural(b)) == (names.natural(b) > names.natural(a))


@pytest.mark.parametrize(
    ("workers", "ranks"),
    [
        (["rank-0.Apr_03_18_51_38"], [0]),
        (["rank-3", "rank_4", "rank5", "RANK=6"], [3, 4, 5, 6]),
        (["worker0", "worker11"], [0, 11]),
        (["job_rank12_host"], [12]),
        (["trace_0", "trace_1", "trace_10"], [0, 1, 10]),
        (["0", "1"], [0, 1]),
        (["node7_4242", "node7_4243"], [None, None]),
        (["frank3"], [None]),
        (["bert_small"], [None]),
        (["trace_1", "trace_1.a"], [None, None]),
        (["x-rank[3]", "x-rank[4]"], [3, 4]),
        (["0_trace", "1_trace"], [0, 1]),
        (["dp1_pp0_tp0_dcp0_ep0_rank2"], [2]),
        (["TP-2"], [2]),
        (["TP-0", "TP-1"], [0, 1]),
        (["TP-0-PP-0", "TP-1-PP-0", "TP-0-PP-1", "TP-1-PP-1"], [0, 1, 2, 3]),
        (["TP-0-DP-0-EP-0", "TP-1-DP-0-EP-1", "TP-2-DP-1-EP-2", "TP-3-DP-1-EP-3"], [0, 1, 2, 3]),
        (["TP-0-DP-0", "TP-1-DP-0", "TP-0-DP-1", "TP-1-DP-1"], [0, 1, 2, 3]),
        (["llama_tp4", "llama_tp8"], [None, None]),
        (["ep0", "ep1"], [None, None]),
        (["h100_2gpu_1s"], [None]),
        (["dp0rank1", "step10rank3"], [1, 3]),
        (["gpu0", "gpu1"], [0, 1]),
        (["gpu1", "gpu2"], [None, None]),
        (["lora_rank_8", "lora_rank_16"], [None, None]),
    ],
)
def test_ranks_that_names_tell(workers: list[str], ranks: list[int | None]) -> None:
    assert names.ranks_by_name(workers) == ranks


_UNITS = (
    "gpu",
    "gpus",
    "x",
    "s",
    "node",
    "nodes",
    "worker",
    "workers",
    "rank",
    "ranks",
    "proc",
    "way",
)
_BEFORE = (
    "gpus",
    "x",
    "tp",
    "dp",
    "pp",
    "bs",
    "batch",
    "world",
    "nproc",
    "ranks",
    "h",
    "gpu",
    "seq",
    "num_worker_",
)
_SAYS = (
    "rank{}",
    "rank-{}",
    "rank_{}",
    "RANK={}",
    "worker{}",
    "worker_{}",
    "trainer-{}",
    "process_{}",
)
SIZES = st.one_of(
    st.builds("{}{}".format, st.integers(1, 4096), st.sampled_from(_UNITS)),
    st.builds("{}{}".format, st.sampled_from(_BEFORE), st.integers(1, 4096)),
)
WORDS = st.sampled_from(("llama", "a100", "bf16", "eager", "bench", "trace", "resnet50"))


@given(st.lists(st.one_of(SIZES, WORDS), min_size=1, max_size=5), st.sampled_from("_-."))
def test_sizes_are_no_ranks(parts: list[str], between: str) -> None:
    assert names.ranks_by_name([between.join(parts)]) == [None]


@given(
    st.lists(st.one_of(SIZES, WORDS), max_size=3),
    st.lists(st.one_of(SIZES, WORDS), max_size=3),
    st.sampled_from("_-."),
    st.sampled_from(_SAYS),
    st.integers(0, 99_999),
)
def test_a_rank_among_sizes_is_told(
    before: list[str], behind: list[str], between: str, form: str, number: int
) -> None:
    assume(not (before and before[-1].endswith("_")))
    name = between.join([*before, form.format(number), *behind])
    assert names.ranks_by_name([name]) == [number]


def test_places_are_told_by_names_of_one_kind_only() -> None:
    grid = [f"dp{d}_pp0_tp{t}_dcp0_ep{2 * d + t}_rank{2 * d + t}" for d in (0, 1) for t in (0, 1)]
    assert names.places_by_name(grid) == {
        "DP": (0, 0, 1, 1), "PP": (0, 0, 0, 0), "TP": (0, 1, 0, 1), "DCP": (0, 0, 0, 0), "EP": (0, 1, 2, 3),
    }  # fmt: skip
    assert names.places_by_name([*grid, "host_77"]) == {}
    assert names.places_by_name(["tp2_dp1", "tp4_dp1"]) == {}
    assert names.places_by_name([]) == {}


def test_recordings_of_a_rank_stand_in_their_order() -> None:
    parsed = [names.parse("rank0_trace.json", f"iteration_{n}") for n in (100, 20, 3)]
    files = sorted((f for f in parsed if f), key=names.span_order)
    assert names.span_names(files) == ["iteration_3", "iteration_20", "iteration_100"]


def test_files_of_one_rank_folder_have_distinct_names() -> None:
    parsed = [names.parse(f"{host}.7.pt.trace.json", "rank_0") for host in ("a_1", "b_2")]
    assert names.span_names([f for f in parsed if f]) == [
        "7.pt.trace.json",
        "7.pt.trace.json (2)",
    ]


@pytest.mark.parametrize(
    ("span", "label"),
    [
        ("1623143089861", "3 · 8 June 2021 09:04"),
        ("1752829956515000000", "3 · 18 July 2025 09:12"),
        ("1102", "3 · 1102"),
        ("iteration_10", "3 · iteration_10"),
        ("train_actor.1752829956515000000", "3 · train_actor · 18 July 2025 09:12"),
        ("1758012345.678901-DECODE", "3 · DECODE · 16 September 2025 08:45"),
        ("", "3"),
    ],
)
def test_labels_say_when(span: str, label: str) -> None:
    assert names.span_label(2, span) == label
