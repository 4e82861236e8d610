"""Annotations as inference servers write them, each with what it says."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

NONE = (0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Said:
    """An annotation and its truth; sums as in ``server_steps.Requests``, −1 where it does not say."""

    text: str
    server: str
    phase: str
    context: tuple[int, ...]
    generation: tuple[int, ...]
    batch: int = -1


@dataclass(frozen=True)
class Batch:
    """Query and key tokens of each request, the prompts' first."""

    prompts: list[tuple[int, int]]
    generating: list[tuple[int, int]]

    @property
    def phase(self) -> str:
        if self.prompts and self.generating:
            return "mixed"
        return "prefill" if self.prompts else "decode" if self.generating else "other"

    @property
    def tokens(self) -> int:
        return sum(query for query, _ in self.prompts + self.generating)


def sums(requests: list[tuple[int, int]]) -> tuple[int, int, int, int, int]:
    """Their number, Σsq, Σsk, Σsq², Σsq·sk."""
    return (
        len(requests),
        sum(query for query, _ in requests),
        sum(keys for _, keys in requests),
        sum(query**2 for query, _ in requests),
        sum(query * keys for query, keys in requests),
    )


def counted(requests: list[tuple[int, int]], tokens: bool = True) -> tuple[int, ...]:
    """Sums as far as requests and tokens, or only requests, tell."""
    if not requests:
        return NONE
    return (len(requests), sums(requests)[1] if tokens else -1, -1, -1, -1)


def random_batch(random: random.Random, prompts: bool, generating: bool, drafts: int = 0) -> Batch:
    """A batch of some requests of each kind that is asked for."""

    def prompt() -> tuple[int, int]:
        query = random.randint(2, 8192)
        return query, query + random.choice((0, random.randint(1, 30000)))

    context = [prompt() for _ in range(random.randint(1, 12) if prompts else 0)]
    queries = 1 + drafts
    generation = [
        (queries, random.randint(queries, 40000))
        for _ in range(random.randint(1, 256) if generating else 0)
    ]
    return Batch(context, generation)


def vllm_detailed(random: random.Random, batch: Batch) -> Said:
    def written(requests: list[tuple[int, int]]) -> str:
        number, query, keys, squares, products = sums(requests)
        return f"{number}(sq{query}sk{keys}sqsq{squares}sqsk{products})"

    padded = batch.tokens + random.choice((0, random.randint(1, 64)))
    text = (
        f"execute_{padded}_context_{written(batch.prompts)}_generation_{written(batch.generating)}"
    )
    return Said(text, "vLLM", batch.phase, sums(batch.prompts), sums(batch.generating), padded)


def vllm_plain(random: random.Random, batch: Batch) -> Said:
    context, generation = sums(batch.prompts)[:2], sums(batch.generating)[:2]
    text = "execute_context_{}({})_generation_{}({})".format(*context, *generation)
    return Said(text, "vLLM", batch.phase, counted(batch.prompts), counted(batch.generating))


def vllm_new(random: random.Random, batch: Batch) -> Said:
    text = f"execute_new_{len(batch.prompts)}_cached_{len(batch.generating)}"
    sides = (counted(batch.prompts, False), counted(batch.generating, False))
    return Said(text, "vLLM", batch.phase, *sides)


def sglang_plain(random: random.Random, batch: Batch) -> Said:
    unknown = (-1, -1, -1, -1, -1)
    size = len(batch.prompts) + len(batch.generating)
    if batch.phase == "prefill":
        text = f"step[EXTEND bs={size} toks={batch.tokens}]"
        return Said(text, "SGLang", "prefill", counted(batch.prompts), NONE, size)
    if batch.phase == "decode":
        text = f"step[DECODE bs={size}]"
        return Said(text, "SGLang", "decode", NONE, (size, size, -1, -1, -1), size)
    if batch.phase == "mixed":
        return Said(f"step[MIXED bs={size}]", "SGLang", "mixed", unknown, unknown, size)
    return Said("step[IDLE bs=0]", "SGLang", "other", NONE, NONE, 0)


def sglang_detailed(random: random.Random, batch: Batch) -> Said:
    def written(prefix: str, requests: list[tuple[int, int]]) -> str:
        names = ("sq", "sk", "sqsq", "sqsk")
        values = zip(names, sums(requests)[1:], strict=True)
        return " ".join(f"{prefix}{name}={value}" for name, value in values)

    size = len(batch.prompts) + len(batch.generating)
    context, generation = written("c_", batch.prompts), written("g_", batch.generating)
    texts = {
        "prefill": f"step[EXTEND bs={size} toks={batch.tokens} {context}]",
        "decode": f"step[{random.choice(('DECODE', 'TARGET_VERIFY'))} bs={size} {generation}]",
        "mixed": (
            f"step[MIXED bs={size} c={len(batch.prompts)} g={len(batch.generating)}"
            f" {context} {generation}]"
        ),
        "other": "step[IDLE bs=0]",
    }
    sides = (sums(batch.prompts), sums(batch.generating))
    return Said(texts[batch.phase], "SGLang", batch.phase, *sides, size)


def atom(random: random.Random, batch: Batch) -> Said:
    word, requests = (
        ("prefill", batch.prompts) if batch.phase == "prefill" else ("decode", batch.generating)
    )
    number, query, keys, squares, products = sums(requests)
    padded = number + random.choice((0, random.randint(1, 64)))
    size = f"{number}/{padded}" if padded > number else str(number)
    lengths = [keys for _, keys in requests]
    more = f"...+{len(lengths) - 3}" if len(lengths) > 5 else ""
    shown = (
        f" ctx={lengths[:3] if more else lengths}{more}" if word == "prefill" else f" d={number}"
    )
    text = f"{word}[bs={size} tok={query}{shown} sqsq={squares} sqsk={products} sk={keys}]"
    told = (number, query, keys, squares, products)
    sides = (told, NONE) if word == "prefill" else (NONE, told)
    return Said(text, "ATOM", word, *sides, padded)


def tensorrt(random: random.Random, batch: Batch) -> Said:
    told = random.random() < 0.5
    number, tokens = sums(batch.prompts)[:2]
    text = (
        f"[Executor] _forward_step {random.randint(1, 10**6)}: {number} ctx reqs,"
        + (f" {tokens} ctx tokens," if told else "")
        + f" {len(batch.generating)} gen reqs"
    )
    context = counted(batch.prompts, told)
    return Said(text, "TensorRT-LLM", batch.phase, context, counted(batch.generating, False))


Form = Callable[[random.Random, Batch], Said]
FORMS: dict[str, tuple[Form, tuple[str, ...]]] = {
    "vllm_detailed": (vllm_detailed, ("prefill", "decode", "mixed", "other")),
    "vllm_plain": (vllm_plain, ("prefill", "decode", "mixed", "other")),
    "vllm_new": (vllm_new, ("prefill", "decode", "mixed", "other")),
    "sglang_plain": (sglang_plain, ("prefill", "decode", "mixed", "other")),
    "sglang_detailed": (sglang_detailed, ("prefill", "decode", "mixed", "other")),
    "atom": (atom, ("prefill", "decode")),
    "tensorrt": (tensorrt, ("prefill", "decode", "mixed", "other")),
}
"""Name of a form, how it is written, and the phases that it can express."""


def written_by_servers(form: str, count: int = 100, seed: int = 13) -> Iterator[Said]:
    """That many annotations of one form, all its phases among them."""
    draw = random.Random(f"{form} {seed}")
    write, phases = FORMS[form]
    drafts_written = form in {"vllm_detailed", "sglang_detailed", "atom", "vllm_plain"}
    for number in range(count):
        phase = phases[number % len(phases)]
        drafts = draw.choice((0, 0, 3)) if drafts_written else 0
        prompts, generating = phase in {"prefill", "mixed"}, phase in {"decode", "mixed"}
        yield write(draw, random_batch(draw, prompts, generating, drafts))
