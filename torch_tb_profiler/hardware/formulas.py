"""Formulas that are often written out of pointwise operators and reductions, and the call that does each in one pass.

Each operator is a letter; what only changes the view or the type is none. Formulas are regular expressions
over the letters of operators that follow each other::

    mean sub pow mean add sqrt div mul add      m s p m a q d x a      F.layer_norm
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from torch_tb_profiler.patterns import regex

_LETTERS = {
    "m": "mean",
    "s": "sub rsub subtract",
    "p": "pow square",
    "x": "mul multiply",
    "a": "add",
    "q": "sqrt",
    "r": "rsqrt",
    "d": "div divide true_divide reciprocal",
    "v": "var var_mean",
    "V": "std std_mean norm linalg_vector_norm",
    "h": "tanh",
    "f": "erf",
    "e": "exp",
    "S": "sum",
    "M": "max amax",
    "l": "log log1p log2",
    "g": "sigmoid",
    "n": "neg",
    "o": "softmax",
    "O": "log_softmax",
    "G": "gather index take_along_dim nll_loss",
    "c": "cat concat concatenate",
    "b": "abs",
    "k": "clamp clamp_min clamp_max clip minimum maximum relu where masked_fill lerp",
    "w": "gt lt ge le eq ne logical_and logical_not",
    "t": "cos sin",
}
_LETTER = {name: letter for letter, names in _LETTERS.items() for name in names.split()}
_VIEWS = (
    "view reshape unsqueeze squeeze expand expand_as transpose permute t slice select detach detach_ alias"
    " chunk split unbind contiguous flatten unflatten numpy_t"
)
_MADE = "to _to_copy float half type_as zeros ones empty full ones_like zeros_like scalar_tensor lift_fresh"
_NEUTRAL = frozenset(f"{_VIEWS} {_MADE}".split())
BREAK, NONE = "|", ""


class Formula(msgspec.Struct, frozen=True):
    """A formula: its name in a sentence, the call that does it, and the letters."""

    name: str
    call: str
    letters: re.Pattern[str]


FORMULAS = tuple(
    Formula(name, call, regex(letters))
    for name, call, letters in (
        (
            "a layer norm",
            "torch.nn.functional.layer_norm",
            r"ms[spx]{1,3}m[sxad]{0,4}[qr][xdsa]{1,5}",
        ),
        ("a layer norm", "torch.nn.functional.layer_norm", r"m[vV][sadx]{1,4}[qr]?[xda]{1,4}"),
        ("a layer norm", "torch.nn.functional.layer_norm", r"ms[vV][a]?[qr]?[xda]{1,4}"),
        ("an RMS norm", "torch.nn.functional.rms_norm", r"[px]ma?[qr][xd]{1,3}"),
        ("GELU", 'torch.nn.functional.gelu(approximate="tanh")', r"[xap]{2,7}h[ax]{1,3}"),
        ("GELU", "torch.nn.functional.gelu", r"[xd]{1,2}fa[x]{1,3}"),
        (
            "cross entropy",
            "torch.nn.functional.cross_entropy",
            r"(?:O|ol|M?s?eSls|M?s?eSdl)[Gx][nmSd]{1,3}",
        ),
        ("a distance", "torch.cdist", r"s[px]S[ka]{0,2}q"),
        ("logsumexp", "torch.logsumexp", r"M?s?eSla?"),
        ("a softmax", "torch.softmax", r"M?s?eS[d]"),
        (
            "binary cross entropy",
            "torch.nn.functional.binary_cross_entropy_with_logits",
            r"k?lx[snak]{0,3}lx?a[nmS]{1,2}",
        ),
        ("softplus", "torch.nn.functional.softplus", r"eal"),
        ("rotary embedding", "torch.compile", r"x[nc]{2}xa"),
        ("a smooth L1 loss", "torch.nn.functional.smooth_l1_loss", r"sb[wxpsak]{3,6}m"),
        ("a mean squared error", "torch.nn.functional.mse_loss", r"s[px]m"),
        ("SiLU", "torch.nn.functional.silu", r"gx"),
        ("a chain of pointwise operators", "torch.compile", r"[spxaqrdhfelgnbkwt]{6,}"),
    )
)
"""The first that fits at a place stands."""


def letter_of(operator: str) -> str:
    """The letter of an operator; ``NONE`` for what computes nothing, ``BREAK`` for all others."""
    namespace, _, name = operator.partition("::")
    if namespace != "aten":
        return BREAK
    if name in _NEUTRAL:
        return NONE
    return _LETTER.get(name) or _LETTER.get(name.rstrip("_")) or BREAK


def formulas_in(letters: str) -> Iterator[tuple[Formula, int, int]]:
    """The formulas in a text of letters, with first and last (excluded) place; none overlap."""
    taken = bytearray(len(letters))
    for formula in FORMULAS:
        for match in formula.letters.finditer(letters):
            first, last = match.span()
            if not any(taken[first:last]):
                taken[first:last] = b"\1" * (last - first)
                yield formula, first, last
