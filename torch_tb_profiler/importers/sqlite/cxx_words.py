"""The vocabulary of mangled C++ names, and the names and types that ``demangle`` builds from it.

Source: Itanium C++ ABI, section 5.1, https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
"""

from __future__ import annotations

from dataclasses import dataclass


def _words(text: str) -> dict[str, str]:
    """``code word; code word …`` as a dict."""
    return dict(entry.strip().split(" ", 1) for entry in text.split(";"))


PLAIN = _words("""
    v void; w wchar_t; b bool; c char; a signed char; h unsigned char; s short; t unsigned short; i int;
    j unsigned int; l long; m unsigned long; x long long; y unsigned long long; n __int128;
    o unsigned __int128; f float; d double; e long double; g __float128; z ...
""")
PLAIN_D = _words("""
    d decimal64; e decimal128; f decimal32; h half; i char32_t; s char16_t; u char8_t; a auto;
    c decltype(auto); n decltype(nullptr)
""")
ENDING = {"l": "l", "m": "ul", "j": "u", "x": "ll", "y": "ull"}
STANDARD = {
    "t": "std",
    "a": "std::allocator",
    "b": "std::basic_string",
    "s": "std::string",
    "i": "std::istream",
    "o": "std::ostream",
    "d": "std::iostream",
}
OPERATORS = _words("""
    nw  new; na  new[]; dl  delete; da  delete[]; ps +; ng -; ad &; de *; co ~; pl +; mi -; ml *; dv /; rm %;
    an &; or |; eo ^; aS =; pL +=; mI -=; mL *=; dV /=; rM %=; aN &=; oR |=; eO ^=; ls <<; rs >>; lS <<=; rS >>=;
    eq ==; ne !=; lt <; gt >; le <=; ge >=; ss <=>; nt !; aa &&; oo ||; pp ++; mm --; cm ,; pm ->*; pt ->;
    cl (); ix []
""")
"""The names of new and delete begin with a blank."""


@dataclass(frozen=True)
class Type:
    """A type around a name: ``void (*`` name ``)(int)``; ``wraps``: a pointer to it needs brackets."""

    left: str
    right: str = ""
    wraps: bool = False

    @property
    def text(self) -> str:
        """The type without a name."""
        return self.left + self.right


@dataclass(frozen=True)
class Name:
    """A qualified name; ``last``: its last part; ``template``: ends with template arguments.

    ``untyped``: a constructor or conversion, without return type; ``qualifiers``: of a method.
    """

    text: str
    last: str = ""
    template: bool = False
    untyped: bool = False
    qualifiers: str = ""


def pointer_to(inner: Type, mark: str) -> Type:
    """A pointer (``*``) or reference (``&``, ``&&``) to a type."""
    if mark != "*" and inner.left.endswith("&"):
        # Reference collapsing: & wins over &&.
        return inner if mark == "&&" else Type(inner.left.rstrip("&") + "&", inner.right)
    closing = ") " if inner.right.startswith("[") else ")"
    return (
        Type(f"{inner.left}({mark}", closing + inner.right)
        if inner.wraps
        else Type(inner.left + mark, inner.right)
    )
