"""The device table: names in traces, variants of one name, and required fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torch_tb_profiler.analysis.efficiency.device import busiest_device, device_peaks
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.hardware.accelerators import GIB, PRECISIONS, TABLE, Accelerator, find
from torch_tb_profiler.hardware.peaks import peaks_of
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings

LINES = [(vendor, line) for vendor, lines in TABLE.items() for line in lines]


@pytest.mark.parametrize(
    ("name", "vendor", "units", "gigabytes", "expected"),
    [
        ("Tesla V100-SXM2-16GB", "nvidia", 80, 16, "NVIDIA V100 SXM2"),
        ("Tesla V100-DGXS-32GB", "nvidia", 80, 32, "NVIDIA V100 SXM2"),
        ("Tesla V100-PCIE-16GB", "nvidia", 80, 16, "NVIDIA V100 PCIe"),
        ("Tesla T4", "nvidia", 40, 15, "NVIDIA T4"),
        ("NVIDIA A100-SXM4-40GB", "nvidia", 108, 40, "NVIDIA A100 SXM 40GB"),
        ("NVIDIA A100-SXM4-80GB", "nvidia", 108, 79, "NVIDIA A100 SXM 80GB"),
        ("NVIDIA A100 80GB PCIe", "nvidia", 108, 79, "NVIDIA A100 PCIe 80GB"),
        ("NVIDIA A100-PCIE-40GB", "nvidia", 108, 40, "NVIDIA A100 PCIe 40GB"),
        ("NVIDIA A10", "nvidia", 72, 22, "NVIDIA A10"),
        ("NVIDIA A10G", "nvidia", 80, 22, "NVIDIA A10G"),
        ("NVIDIA H100 80GB HBM3", "nvidia", 132, 79, "NVIDIA H100 SXM"),
        ("NVIDIA H100 PCIe", "nvidia", 114, 79, "NVIDIA H100 PCIe"),
        ("NVIDIA H100 NVL", "nvidia", 132, 94, "NVIDIA H100 NVL"),
        ("NVIDIA H20", "nvidia", 78, 96, "NVIDIA H20"),
        ("NVIDIA H200", "nvidia", 132, 140, "NVIDIA H200"),
        ("NVIDIA GH200 480GB", "nvidia", 132, 95, "NVIDIA GH200 (HBM3)"),
        ("NVIDIA B200", "nvidia", 148, 178, "NVIDIA B200"),
        ("NVIDIA L4", "nvidia", 58, 22, "NVIDIA L4"),
        ("NVIDIA L40S", "nvidia", 142, 45, "NVIDIA L40S"),
        ("NVIDIA RTX 6000 Ada Generation", "nvidia", 142, 48, "NVIDIA RTX 6000 Ada"),
        ("NVIDIA GeForce RTX 4090", "nvidia", 128, 24, "NVIDIA GeForce RTX 4090"),
        ("AMD Instinct MI300X", "amd", 304, 192, "AMD Instinct MI300X"),
        ("AMD Instinct MI325X", "amd", 304, 256, "AMD Instinct MI325X"),
        ("AMD Instinct MI250X", "amd", 110, 64, "AMD Instinct MI250X (one of its two GCDs)"),
        ("", "amd", 304, 192, "AMD Instinct MI300X"),
        ("AMD Radeon Graphics", "amd", 110, 64, "AMD Instinct MI250X (one of its two GCDs)"),
        (
            "Intel(R) Data Center GPU Max 1550",
            "intel",
            512,
            64,
            "Intel Data Center GPU Max 1550 (one of its two stacks)",
        ),
        ("NVIDIA H100 80GB HBM2e", "nvidia", 114, 79, "NVIDIA H100 PCIe"),
        ("NVIDIA H800 PCIe", "nvidia", 114, 79, "NVIDIA H800 PCIe"),
        ("NVIDIA H20-3e", "nvidia", 78, 140, "NVIDIA H20 141GB"),
        ("NVIDIA H200 NVL", "nvidia", 132, 140, "NVIDIA H200 NVL"),
        ("NVIDIA GH200 144G HBM3e", "nvidia", 132, 140, "NVIDIA GH200 (HBM3e)"),
        ("NVIDIA GB200", "nvidia", 152, 184, "NVIDIA GB200"),
    ],
)
def test_names_as_they_occur(
    name: str, vendor: str, units: int, gigabytes: int, expected: str
) -> None:
    accelerator = find(name, vendor, units, gigabytes * GIB)
    assert accelerator is not None
    assert accelerator.name == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM"),
        ("NVIDIA H100 PCIe", "NVIDIA H100 PCIe"),
        ("NVIDIA H100 80GB HBM2e", "NVIDIA H100 PCIe"),
        ("NVIDIA H800", "NVIDIA H800 SXM"),
        ("NVIDIA A100-SXM4-40GB", "NVIDIA A100 SXM 40GB"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100 SXM 80GB"),
        ("NVIDIA A100-PCIE-40GB", "NVIDIA A100 PCIe 40GB"),
        ("NVIDIA A100 80GB PCIe", "NVIDIA A100 PCIe 80GB"),
        ("NVIDIA GH200 480GB", "NVIDIA GH200 (HBM3)"),
        ("NVIDIA GH200 144G HBM3e", "NVIDIA GH200 (HBM3e)"),
        ("NVIDIA H20", "NVIDIA H20"),
    ],
)
def test_the_name_alone_tells_where_units_and_memory_are_not_known(
    name: str, expected: str
) -> None:
    accelerator = find(name, "nvidia")
    assert accelerator is not None
    assert accelerator.name == expected


@pytest.mark.parametrize(
    ("name", "vendor", "units", "gigabytes"),
    [
        ("Tesla V100-FHHL-16GB", "nvidia", 80, 16),  # clocked lower than the full-height card
        ("AMD Instinct MI308X", "amd", 80, 192),  # AMD has no public data sheet
        ("Orin", "nvidia", 8, 15),  # Orin NX and Nano, of several power modes
        ("NVIDIA GeForce RTX 5090 Laptop GPU", "nvidia", 82, 24),
        ("NVIDIA RTX 5000 Ada Generation Laptop GPU", "nvidia", 76, 16),
        ("NVIDIA RTX PRO 5000 Blackwell Generation Laptop GPU", "nvidia", 82, 24),
        ("NVIDIA GeForce RTX 5090 D", "nvidia", 170, 31),
        ("Ascend910B3", "npu", 20, 61),
        ("Tesla P100-PCIE-16GB", "nvidia", 56, 16),  # before matrix cores
        ("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "nvidia", 42, 39),  # a part of a device
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "nvidia", 76, 16),
        ("NVIDIA GeForce RTX 3080", "nvidia", 72, 12),  # no device of that name has so many
        ("NVIDIA H100 80GB HBM3", "nvidia", 66, 40),
        ("AMD Instinct MI300X", "amd", 38, 24),  # a partition
        ("", "nvidia", 304, 192),
        ("", "amd", -1, -1),
        ("AMD Radeon Graphics", "amd", 12, 4),
        ("ARTEMIS", "mtia", -1, -1),
    ],
)
def test_what_is_not_known_is_said_to_be_unknown(
    name: str, vendor: str, units: int, gigabytes: int
) -> None:
    assert find(name, vendor, units, gigabytes * GIB if gigabytes > 0 else -1) is None


@pytest.mark.parametrize(("vendor", "line"), LINES, ids=[line.name for _, line in LINES])
def test_lines_are_whole_and_plausible(vendor: str, line: Accelerator) -> None:
    assert "https://" in line.source or "no public data sheet" in line.source
    assert 100 < line.bandwidth < 20_000
    for rates in (line.matrix, line.vector):
        assert set(rates) <= set(PRECISIONS)
        assert all(1 <= rate <= 20_000 or precision == "fp64" for precision, rate in rates.items())
    # Never "with sparsity": eight bits are at most twice as fast as sixteen, those at most twice as
    # fast as TF32. GeForce halves FP8 but not FP4.
    for wide, narrow in (("tf32", "bf16"), ("bf16", "fp8"), ("fp16", "fp8"), ("fp8", "fp4")):
        if wide in line.matrix and narrow in line.matrix:
            assert line.matrix[narrow] <= line.matrix[wide] * (2.05 if narrow != "fp4" else 4.05)
    if "fp32" in line.vector:
        assert line.matrix.get("fp16", 1e9) > line.vector["fp32"]


def test_no_line_hides_behind_another() -> None:
    for vendor, line in LINES:
        if line.units > 0 and line.memory:
            accelerator = find(line.name.split(" (")[0], vendor, line.units, line.memory * GIB)
            assert accelerator is not None
            assert accelerator.bandwidth == line.bandwidth, line.name


def test_public_traces(real_traces: Path) -> None:
    entries = {}
    for opened in load_all(str(real_traces), Settings()):
        if isinstance(opened, Opened) and busiest_device(opened.facts) >= 0:
            entries[opened.run.name] = device_peaks(opened.facts).entry
    assert entries["h100_vit"] == "NVIDIA H100 SXM"
    assert entries["a100_nccl"] == "NVIDIA A100 SXM 40GB"
    assert entries["h800_deepseek_train"] == "NVIDIA H800 SXM"
    assert entries["mi300_bert_small"] == entries["mi300_vllm_graph"] == "AMD Instinct MI300X"
    assert entries["mi210_gpu_only"] == entries["mi250_minitoy"]
    assert {name for name, entry in entries.items() if entry is None} == {
        "ascend_torch_npu",
        "ibm_aiu",
        "mtia_inference",
        "ddp128_sampled",
        "ancient_categories",
    }


def _file(folder: Path, content: object) -> str:
    path = folder / "peaks.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def test_the_users_figures_go_before_the_table(tmp_path: Path) -> None:
    file = _file(
        tmp_path,
        {
            "nvidia h100*": {"peaks": {"matrix_bf16": 700}, "source": "measured"},
            "*": {"bandwidth_gbps": 100},
        },
    )
    changed = peaks_of("NVIDIA H100 80GB HBM3", "nvidia", 132, 79 * GIB, file)
    assert changed.rates["matrix", "bf16"] == (700e12, "measured")
    assert changed.rate("matrix", "fp8") == 1978.9e12
    assert changed.bandwidth == 3350e9
    other = peaks_of("Tesla P100", "nvidia", 56, 16 * GIB, file)
    assert (other.bandwidth, other.bandwidth_source, other.rates) == (100e9, "peaks.json, *", {})
    assert other.entry == "* (peaks.json)"


def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    file = _file(tmp_path, {"*": {"bandwidth_gbps": 100}})
    assert peaks_of("x", "other", -1, -1, file).bandwidth == 100e9
    Path(file).write_text(json.dumps({"*": {"bandwidth_gbps": 200}}), encoding="utf-8")
    assert peaks_of("x", "other", -1, -1, file).bandwidth == 200e9


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ([], "is not a JSON object"),
        ({"*": 3}, "no object"),
        ({"*": {"bandwith": 3}}, "'bandwith'"),
        ({"*": {"peaks": {"bf16": 3}}}, "'bf16'"),
        ({"*": {"peaks": []}}, "peaks that are no object"),
        ({"*": {"bandwidth_gbps": "fast"}}, "'fast'"),
        ({"*": {"bandwidth_gbps": 0}}, "above 0"),
        ({"*": {"peaks": {"matrix_bf16": True}}}, "True"),
        ({"*": {"source": 3}}, "source"),
        ('{"*": {"bandwidth_gbps": NaN}}', "not JSON"),
        ({"*": {"bandwidth_gbps": 1e300}}, "1e+300"),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, content: object, part: str) -> None:
    with pytest.raises(SourceError, match=r"peaks\.json") as raised:
        peaks_of("x", "other", -1, -1, _file(tmp_path, content))
    assert part in raised.value.message
    assert "\n" not in raised.value.message
    assert str(tmp_path) not in raised.value.message


def test_the_file_may_lie_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    _file(tmp_path, {"*": {"bandwidth_gbps": 100}})
    assert peaks_of("x", "other", -1, -1, "~/peaks.json").bandwidth == 100e9


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        peaks_of("x", "other", -1, -1, str(tmp_path / "none.json"))


def test_the_name_of_an_entry_is_that_entry() -> None:
    for vendor, entries in TABLE.items():
        for entry in entries:
            assert find(entry.name, vendor, entry.units or -1, entry.memory * GIB or -1) is entry
