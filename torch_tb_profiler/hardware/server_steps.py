"""What an inference server's annotation says about one iteration.

The forms, with what public code of the servers writes:

==============  =============================================================================
vLLM            ``execute_<tokens>_context_<R>(sq<Σ>sk<Σ>sqsq<Σ>sqsk<Σ>)_generation_<R>(…)``,
                ``execute_context_<R>(<tokens>)_generation_<R>(<tokens>)``,
                ``execute_new_<R>_cached_<R>``, ``execute_model``
SGLang          ``step[DECODE bs=32]``, ``step[EXTEND bs=4 toks=8192]`` and other modes, on request
                with sums (``c_sq=… g_sqsk=…``); also vLLM's words
ATOM            ``prefill[bs=2 tok=16384 ctx=…]``, ``decode[bs=117/128 tok=117 …]``
TensorRT-LLM    ``[Executor] _forward_step 12: 3 ctx reqs, 512 ctx tokens, 8 gen reqs``
others          ``prefill``, ``decode``, ``verify``, with or without a count: Text Generation Inference
                and loops that people annotate themselves; whatever has the word ``draft`` in it
==============  =============================================================================

sq are query tokens of a request, sk its key/value tokens.
"""

from __future__ import annotations

import re

import msgspec

from torch_tb_profiler.patterns import regex

__all__ = ["PHASES", "Requests", "ServerStep", "server_step"]

PHASES = ("prefill", "decode", "mixed", "other", "draft")
LONGEST = 1000
"""Characters beyond which no text is an annotation of a server."""
_INT64 = 2**63 - 1
_DIGITS = len(str(_INT64))

_SUMS = r"\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)"
_DETAILED = regex(rf"execute_(\d+)_context_(\d+){_SUMS}_generation_(\d+){_SUMS}(?!\w)", re.ASCII)
_PLAIN = regex(
    r"execute_context_(\d+)(?:\((\d+)(?:_\d+)?\))?_generation_(\d+)(?:\((\d+)(?:_\d+)?\))?(?![\w(])",
    re.ASCII,
)
"""Some builds write a product of tokens behind them, ``(888_788544)``, which does not say of what."""
_NEW = regex(r"execute_new_(\d+)_cached_(\d+)(?!\w)", re.ASCII)
_SGLANG = regex(r"step\[([A-Z][A-Z0-9_]*)((?: [a-z_]+=\d+)*)\]", re.ASCII)
_ATOM = regex(r"(?:eager_)?(prefill|decode)\[([^\]]*)", re.ASCII)
_FIELD = regex(r"(?<![\w=])([a-z_]+)=(\d+)(?:/(\d+))?(?![\w.])", re.ASCII)
_TENSORRT = regex(
    r"(?:\[Executor\] )?_forward_step(?: \d+)?: (\d+) ctx reqs,(?: (\d+) ctx tokens,)? (\d+) gen reqs"
    r"(?:, (\d+) gen tokens)?(?!\w)",
    re.ASCII,
)
_WORDS = regex(r"(prefill|decode|verify)(?:[ _#:]{1,2}\d{1,18})?\Z", re.ASCII | re.IGNORECASE)
_DRAFT = regex(r"(?<![A-Za-z])(?i:draft(?:s|ing|er)?)(?![a-z])")

_MODES = {
    "EXTEND": "prefill",
    "SPLIT_PREFILL": "prefill",
    "DECODE": "decode",
    "TARGET_VERIFY": "decode",
    "VERIFY": "decode",
    "DRAFT_EXTEND": "draft",
    "DRAFT_EXTEND_V2": "draft",
    "MIXED": "mixed",
}
"""SGLang's mode → phase. Drafts are verified for requests that are being generated."""


class Requests(msgspec.Struct, frozen=True):
    """Sums over the requests of one kind, −1 where the annotation does not tell.

    requests: their number; query: Σ sq, tokens that were computed; keys: Σ sk, tokens attended to;
    query_squares: Σ sq²; query_keys: Σ sq·sk.
    """

    requests: int = -1
    query: int = -1
    keys: int = -1
    query_squares: int = -1
    query_keys: int = -1

    @property
    def there(self) -> bool | None:
        """Whether there is any such request; None where nothing tells."""
        if self.requests > 0 or self.query > 0:
            return True
        return False if self.requests == 0 else None


NO_REQUESTS = Requests(0, 0, 0, 0, 0)
UNKNOWN = Requests()


class ServerStep(msgspec.Struct, frozen=True):
    """One iteration of a server.

    server: whose words they are; ``""`` for words that anybody uses.
    context, generation: requests whose prompt is computed, and those that generate.
    batch: the batch as stated, padded if the padded one is stated; vLLM counts tokens, SGLang and
        ATOM requests; −1 unknown.
    stated: the phase, where the annotation names it; ``""`` where only the numbers tell.
    """

    server: str
    context: Requests
    generation: Requests
    batch: int = -1
    stated: str = ""

    @property
    def phase(self) -> str:
        """One of ``PHASES``; ``other`` for idle iterations and those that say nothing."""
        if self.stated:
            return self.stated
        there = (self.context.there, self.generation.there)
        known: dict[tuple[bool | None, ...], str] = {
            (True, True): "mixed",
            (True, False): "prefill",
            (False, True): "decode",
        }
        return known.get(there, "other")


def server_step(annotation: str) -> ServerStep | None:
    """The iteration that an annotation describes; None if it is of no server."""
    if len(annotation) > LONGEST:
        return None
    for read in (_vllm, _sglang, _atom, _tensorrt, _worded):
        found = read(annotation)
        if found:
            return found
    return None


def _vllm(text: str) -> ServerStep | None:
    if not text.startswith("execute_"):
        return None
    if match := _DETAILED.match(text):
        batch, *numbers = map(_number, match.groups())
        return ServerStep("vLLM", Requests(*numbers[:5]), Requests(*numbers[5:]), batch)
    if match := _PLAIN.match(text):
        numbers = [_number(group) for group in match.groups()]
        return ServerStep("vLLM", _counted(*numbers[:2]), _counted(*numbers[2:]))
    if match := _NEW.match(text):
        new, cached = map(_number, match.groups())
        return ServerStep("vLLM", _counted(new), _counted(cached))
    return ServerStep("vLLM", UNKNOWN, UNKNOWN) if text == "execute_model" else None


def _sglang(text: str) -> ServerStep | None:
    match = _SGLANG.match(text)
    if not match:
        return None
    mode = match[1]
    field = _fields(match[2])
    batch = field.get("bs", -1)
    phase = _MODES.get(mode, "other")
    context, generation = _sums(field, "c_"), _sums(field, "g_")
    if phase == "mixed":
        context = _with(context, field.get("c", -1), -1)
        generation = _with(generation, field.get("g", -1), -1)
        if context.requests == 0 or generation.requests == 0:
            phase = ""
    elif phase == "prefill":
        context = _with(context, batch, field.get("toks", -1))
        generation = NO_REQUESTS
    elif phase in ("decode", "draft"):
        # The draft's requests are those that generate, though its sums are written as context.
        sums = generation if generation != UNKNOWN else context
        generation = _with(sums, batch, batch if mode == "DECODE" else field.get("toks", -1))
        context = NO_REQUESTS
    elif batch == 0:
        context = generation = NO_REQUESTS
    return ServerStep("SGLang", context, generation, batch, phase)


def _atom(text: str) -> ServerStep | None:
    match = _ATOM.match(text)
    if not match:
        return None
    # The list of contexts, ctx=[7803, 6918], ends at the first bracket; sums follow behind it.
    body = text[match.start(2) :]
    real, padded = -1, -1
    field: dict[str, int] = {}
    for name, number, other in _FIELD.findall(body):
        field[name] = _number(number)
        if name == "bs":
            real, padded = field[name], _number(other or number)
    if "bs" not in field:
        return None
    found = _with(_sums(field, ""), real, field.get("tok", -1))
    if match[1] == "prefill":
        return ServerStep("ATOM", found, NO_REQUESTS, padded, "prefill")
    prompts = field.get("p", 0)
    if prompts > 0:
        both = (Requests(prompts), Requests(field.get("d", -1)))
        return ServerStep("ATOM", *both, padded, "mixed")
    return ServerStep("ATOM", NO_REQUESTS, found, padded, "decode")


def _tensorrt(text: str) -> ServerStep | None:
    match = _TENSORRT.match(text)
    if not match:
        return None
    requests, tokens, generating, generated = (_number(group) for group in match.groups())
    return ServerStep("TensorRT-LLM", _counted(requests, tokens), _counted(generating, generated))


def _worded(text: str) -> ServerStep | None:
    match = _WORDS.match(text)
    if not match:
        drafts = ServerStep("", NO_REQUESTS, UNKNOWN, stated="draft")
        return drafts if _DRAFT.search(text) else None
    if match[1].lower() == "prefill":
        return ServerStep("", UNKNOWN, NO_REQUESTS, stated="prefill")
    return ServerStep("", NO_REQUESTS, UNKNOWN, stated="decode")


def _number(text: str | None) -> int:
    """A decimal number; −1 without one, and for what no counter can hold."""
    if not text or len(digits := text.lstrip("0")) > _DIGITS:
        return -1
    value = int(digits or "0")
    return value if value <= _INT64 else -1


def _fields(text: str) -> dict[str, int]:
    return {name: _number(number) for name, number, _ in _FIELD.findall(text)}


def _sums(field: dict[str, int], prefix: str) -> Requests:
    names = ("sq", "sk", "sqsq", "sqsk")
    return Requests(-1, *(field.get(prefix + name, -1) for name in names))


def _with(sums: Requests, requests: int, query: int) -> Requests:
    """Sums of so many requests; the query tokens are those of the sums where they have them."""
    query = sums.query if sums.query >= 0 else query
    return Requests(requests, query, sums.keys, sums.query_squares, sums.query_keys)


def _counted(requests: int, query: int = -1) -> Requests:
    return NO_REQUESTS if requests == 0 and query <= 0 else Requests(requests, query)
