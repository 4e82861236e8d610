"""The tour of the samples leads to places that are there, and says of them what the samples' own
story says.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import torch_tb_profiler
from torch_tb_profiler.views.ask.names import SECTIONS

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
TOUR = json.loads((SAMPLES / "tour.json").read_text("utf-8"))
STORY = json.loads((SAMPLES / "synthetic_ddp8/rank0.expected.json").read_text("utf-8"))


def _links() -> list[tuple[str, dict[str, str]]]:
    return [(place["text"], dict(parse_qsl(place["link"]))) for place in TOUR["places"]]


def test_three_sentences_and_four_places() -> None:
    assert (len(TOUR["sentences"]), len(TOUR["places"])) == (3, 4)


def test_each_place_is_there() -> None:
    for text, link in _links():
        assert link["view"] in SECTIONS, text
        files = list((SAMPLES / link["run"]).glob(f"{link.get('worker', '')}*.pt.trace.json*"))
        assert files, text
        if "steps" in link:
            steps = torch_tb_profiler.open(files[0]).steps
            assert int(link["steps"]) < len(steps), text


def test_what_is_said_of_the_synthetic_run_is_its_story() -> None:
    story: dict[str, Any] = STORY["story"]
    late, held, *_ = _links()
    names = [step["name"] for step in STORY["steps"]]
    number = re.search(r"\d+", late[0])
    assert number is not None
    assert f"ProfilerStep#{number[0]}" == story["odd_step"]
    assert names[int(late[1]["steps"])] == story["odd_step"]
    assert f"Rank {story['straggler_rank']} " in held[0]
