"""A C++ demangler; nvprof stores mangled kernel names.

``_ZN2at6native13reduce_kernelILi512ELi1EEEvT1_`` → ``void at::native::reduce_kernel<512, 1>(…)``

Covers scopes, templates, literals, lambdas, local names, function types and substitutions. Names
with anything else (expressions in types) stay mangled. Names are untrusted and may expand without
limit, so steps and length are bounded.

Source: Itanium C++ ABI, section 5.1, https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
"""

from __future__ import annotations

from functools import lru_cache

import msgspec


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


class Type(msgspec.Struct, frozen=True):
    """A type around a name: ``void (*`` name ``)(int)``; ``wraps``: a pointer to it needs brackets."""

    left: str
    right: str = ""
    wraps: bool = False

    @property
    def text(self) -> str:
        """The type without a name."""
        return self.left + self.right


class Name(msgspec.Struct, frozen=True):
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


_LONGEST_NAME, _LONGEST_TEXT, _MOST_STEPS, _DEEPEST = 1 << 14, 1 << 16, 1 << 15, 120


class _NotCoveredError(Exception):
    """The name is not mangled, or uses unsupported features."""


@lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """The readable form of a name; the name itself if it cannot be demangled."""
    if not name.startswith("_Z") or len(name) > _LONGEST_NAME:
        return name
    reader = _Reader(name)
    reader.position = 2
    try:
        text = reader.encoding()
        # A dot begins a compiler suffix (".kd", ".constprop.0").
        if reader.position < len(name) and name[reader.position] != ".":
            return name
    except (_NotCoveredError, IndexError, ValueError):
        return name
    return text


class _Reader(msgspec.Struct):
    name: str
    position: int = 0
    steps: int = 0
    depth: int = 0
    seen: list[Type] = msgspec.field(default_factory=list)
    arguments: list[list[Type]] = msgspec.field(default_factory=list)
    """The meaning of ``T_``, ``T0_`` …: a type or value each, or those of a pack."""
    element: int = -1
    """Index of the pack element being expanded; −1 outside an expansion."""
    pack: int = -1
    """Size of the pack met in this expansion; −1 none yet."""

    def look(self, n: int = 1) -> str:
        return self.name[self.position : self.position + n]

    def take(self, text: str) -> bool:
        if self.name.startswith(text, self.position):
            self.position += len(text)
            return True
        return False

    def need(self, text: str) -> None:
        if not self.take(text):
            raise _NotCoveredError

    def next_letter(self) -> str:
        letter = self.name[self.position]
        self.position += 1
        return letter

    def enter(self) -> None:
        self.steps += 1
        self.depth += 1
        if self.steps > _MOST_STEPS or self.depth > _DEEPEST:
            raise _NotCoveredError

    def bounded(self, text: str) -> str:
        if len(text) > _LONGEST_TEXT:
            raise _NotCoveredError
        return text

    def remember(self, kind: Type) -> Type:
        self.bounded(kind.text)
        self.seen.append(kind)
        return kind

    def number(self) -> int:
        first = self.position
        while self.look().isdecimal():
            self.position += 1
        return int(self.name[first : self.position])

    def sequence(self, base: int) -> int:
        """``_`` is 0, ``0_`` is 1 and so on."""
        if self.take("_"):
            return 0
        first = self.position
        while self.look() != "_":
            self.next_letter()
        value = int(self.name[first : self.position], base) + 1
        self.position += 1
        return value

    def encoding(self, *, within: bool = False) -> str:
        """A function with its parameters, or an object. ``within``: omit the return type."""
        self.enter()
        outer = self.arguments
        name = self.entity()
        text = name.text
        if self.position < len(self.name) and self.look() not in ("E", "."):
            returned = self.type() if name.template and not name.untyped else None
            parameters = self.parameters()
            text += f"({parameters}){name.qualifiers}"
            if returned is not None and not within:
                text = (
                    f"{returned.left} {text}{returned.right}"
                    if not returned.right
                    else f"{returned.left}{text}{returned.right}"
                )
        self.arguments = outer
        self.depth -= 1
        return self.bounded(text)

    def parameters(self) -> str:
        listed = []
        while self.position < len(self.name) and self.look() not in ("E", "."):
            if self.look(2) in ("RE", "OE"):
                break
            listed.append(self.type().text)
        return "" if listed == ["void"] else self.bounded(", ".join(filter(None, listed)))

    def entity(self) -> Name:
        self.enter()
        if self.take("N"):
            name = self.nested()
        elif self.take("Z"):
            name = self.local()
        else:
            name = self.unscoped()
        self.depth -= 1
        return name

    def unscoped(self) -> Name:
        if self.look() == "S" and self.look(2) != "St":
            base = self.substitution()
            last = Name(base.text, base.text.rpartition("::")[2])
        else:
            scope = "std::" if self.take("St") else ""
            part = self.part("")
            last = Name(scope + part.text, part.text, untyped=part.untyped)
            if self.look() == "I":
                self.remember(Type(last.text))
        return self.templated(last) if self.look() == "I" else last

    def templated(self, base: Name) -> Name:
        return Name(
            self.bounded(base.text + self.template_arguments(keep=True)),
            base.last,
            True,
            base.untyped,
        )

    def nested(self) -> Name:
        qualifiers = self.qualifiers()
        qualifiers += " &" if self.take("R") else " &&" if self.take("O") else ""
        current = Name("")
        while not self.take("E"):
            self.steps += 1
            if self.look() == "I":
                current = self.templated(current)
                if self.look() != "E":
                    self.remember(Type(current.text))
                continue
            if self.look() == "S" and self.look(2) != "St":
                base = self.substitution()
                current = Name(base.text, base.text.partition("<")[0].rpartition("::")[2])
                continue
            if self.look(2) == "St":
                self.position += 2
                current = Name("std", "std")
                continue
            if self.look() == "T":
                current = Name(self.template_parameter().text)
                continue
            part = self.part(current.last)
            text = f"{current.text}::{part.text}" if current.text else part.text
            current = Name(self.bounded(text), part.last or part.text, untyped=part.untyped)
            if self.look() != "E":
                self.remember(Type(text))
        # The caller remembers the complete name if it is a type.
        return Name(current.text, current.last, current.template, current.untyped, qualifiers)

    def qualifiers(self) -> str:
        qualifiers = []
        while self.look() in ("r", "V", "K") and self.look():
            qualifiers.append(
                {"r": " restrict", "V": " volatile", "K": " const"}[self.next_letter()]
            )
        return "".join(reversed(qualifiers))

    def part(self, scope: str) -> Name:
        """One part of a name; ``scope``: the part before it."""
        if self.look().isdecimal():
            length = self.number()
            text = self.look(length)
            if len(text) != length:
                raise _NotCoveredError
            self.position += length
            while self.take("B"):
                text += f"[abi:{self.part('').text}]"
            return Name("(anonymous namespace)" if text.startswith("_GLOBAL__N_") else text)
        if self.take("Ul"):
            parameters = self.parameters()
            self.need("E")
            return Name(f"{{lambda({parameters})#{self.sequence(10) + 1}}}")
        if self.take("Ut"):
            return Name(f"{{unnamed type#{self.sequence(10) + 1}}}")
        if self.take("L"):
            return self.part(scope)
        if self.look() == "C" and self.look(2)[1:] in ("1", "2", "3", "4", "5"):
            self.position += 2
            return Name(scope, scope, untyped=True)
        if self.look() == "D" and self.look(2)[1:] in ("0", "1", "2", "4", "5"):
            self.position += 2
            return Name("~" + scope, scope, untyped=True)
        if self.take("cv"):
            return Name(f"operator {self.type().text}", untyped=True)
        operation = OPERATORS.get(self.look(2))
        if operation is None:
            raise _NotCoveredError
        self.position += 2
        return Name("operator" + operation)

    def local(self) -> Name:
        """A name within a function."""
        function = self.encoding(within=True)
        self.need("E")
        if self.take("s"):
            self.discriminator()
            return Name(f"{function}::string literal")
        if self.take("d"):
            self.sequence(10)
        name = self.entity()
        self.discriminator()
        return Name(
            self.bounded(f"{function}::{name.text}"),
            name.last,
            name.template,
            name.untyped,
            name.qualifiers,
        )

    def discriminator(self) -> None:
        if self.look() != "_":
            return
        if self.take("__"):
            self.number()
            self.need("_")
        elif self.look(2)[1:].isdecimal():
            self.position += 2

    def template_arguments(self, keep: bool) -> str:
        """``<4, float>``. ``keep``: ``T_`` refers to them from here on."""
        self.need("I")
        listed = self.argument_list()
        if keep:
            self.arguments = listed
        shown = ", ".join(filter(None, (argument.text for pack in listed for argument in pack)))
        return self.bounded(f"<{shown}{' ' if shown.endswith('>') else ''}>")

    def argument_list(self) -> list[list[Type]]:
        listed = []
        while not self.take("E"):
            listed.append(self.argument())
        return listed

    def argument(self) -> list[Type]:
        self.enter()
        outer = self.arguments
        if self.take("L"):
            argument = [Type(self.literal())]
        elif self.take("J"):
            argument = [part for pack in self.argument_list() for part in pack]
        elif self.look() == "X":
            raise _NotCoveredError
        else:
            argument = [self.type()]
        self.arguments = outer
        self.depth -= 1
        self.bounded("".join(part.text for part in argument))
        return argument

    def literal(self) -> str:
        if self.take("_Z"):
            function = self.encoding()
            self.need("E")
            return function
        kind = self.look()
        if kind in ("f", "d", "e"):
            raise _NotCoveredError
        kind_name = self.type().text
        sign = "-" if self.take("n") else ""
        if self.take("E"):
            return f"({kind_name})0"
        value = sign + str(self.number())
        self.need("E")
        if kind == "b":
            return {"0": "false", "1": "true"}.get(value, value)
        return (
            value
            if kind == "i"
            else value + ENDING[kind]
            if kind in ENDING
            else f"({kind_name}){value}"
        )

    def type(self) -> Type:
        self.enter()
        result = self.type_within()
        self.depth -= 1
        return result

    def type_within(self) -> Type:
        letter = self.look()
        if letter in PLAIN and letter:
            self.position += 1
            return Type(PLAIN[letter])
        if letter in ("r", "V", "K") and letter:
            qualifiers, inner = self.qualifiers(), self.type()
            # Do not repeat qualifiers of a substituted type.
            return self.remember(
                Type(inner.left.removesuffix(qualifiers) + qualifiers, inner.right, inner.wraps)
            )
        if letter in ("P", "R", "O") and letter:
            self.position += 1
            return self.remember(pointer_to(self.type(), {"P": "*", "R": "&", "O": "&&"}[letter]))
        if letter == "F":
            return self.remember(self.function())
        if letter == "A":
            self.position += 1
            size = str(self.number()) if self.look().isdecimal() else ""
            self.need("_")
            inner = self.type()
            return self.remember(Type(f"{inner.left} ", f"[{size}]{inner.right}", wraps=True))
        if letter == "T":
            base = self.template_parameter()
            return (
                self.remember(Type(base.text + self.template_arguments(keep=False)))
                if self.look() == "I"
                else base
            )
        if letter == "S" and self.look(2) != "St":
            base = self.substitution()
            return (
                self.remember(Type(base.text + self.template_arguments(keep=False)))
                if self.look() == "I"
                else base
            )
        if letter == "D":
            return self.type_of_d()
        if letter == "U":
            raise _NotCoveredError
        outer = self.arguments
        name = self.entity().text
        self.arguments = outer
        return self.remember(Type(name))

    def type_of_d(self) -> Type:
        self.position += 1
        letter = self.next_letter()
        if letter == "p":
            return self.remember(self.expansion())
        if letter == "o":
            self.need("F")
            self.position -= 1
            return self.type()
        if letter == "F" and self.look().isdecimal():
            size = self.number()
            self.need("_")
            return Type(f"_Float{size}")
        if letter not in PLAIN_D:
            raise _NotCoveredError
        return Type(PLAIN_D[letter])

    def expansion(self) -> Type:
        """A type repeated for each element of a pack."""
        first, seen, outer = self.position, len(self.seen), (self.element, self.pack)
        listed: list[str] = []
        self.element, self.pack = 0, -1
        while not listed or self.element < self.pack:
            self.position = first
            del self.seen[seen:]
            listed.append(self.type().text)
            self.bounded("".join(listed))
            self.element += 1
        empty = self.pack == 0
        self.element, self.pack = outer
        return Type("" if empty else ", ".join(listed))

    def function(self) -> Type:
        self.need("F")
        self.take("Y")
        returned = self.type()
        parameters = self.parameters()
        self.need("E")
        return Type(f"{returned.left} ", f"({parameters}){returned.right}", wraps=True)

    def template_parameter(self) -> Type:
        self.need("T")
        number = self.sequence(10)
        if number >= len(self.arguments):
            raise _NotCoveredError
        chosen = self.arguments[number]
        if self.element >= 0 and len(chosen) != 1:
            self.pack = len(chosen)
            chosen = chosen[self.element : self.element + 1]
        return self.remember(
            chosen[0] if len(chosen) == 1 else Type(", ".join(part.text for part in chosen))
        )

    def substitution(self) -> Type:
        self.need("S")
        letter = self.look()
        if letter in STANDARD and letter:
            self.position += 1
            return Type(STANDARD[letter])
        number = self.sequence(36)
        if number >= len(self.seen):
            raise _NotCoveredError
        return self.seen[number]
