"""A pickle of plain containers, read by a machine that knows nothing else.

A pickle is a program. The standard library's reader may call what the file names; this one has no
opcode that imports, calls, extends or builds, so there is nothing to forbid: lists, dicts with text
keys, tuples, texts, numbers, booleans and None are all that it can make.

::

    } ( X"segments" ] u .      {"segments": []}          \\x93 R b c i o Q \\x82 …      refused, with the byte

What a file may cost is bounded too: texts by ``TEXT_BYTES``, open containers by ``DEPTH``,
containers in all by the bytes read, positions of the memo by its own length. The text is read in
pieces, and lists of records can be taken over by ``absorb`` while they come in.

Source of the opcodes: the standard library's ``pickletools``.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Callable
from typing import Any

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.window import Text
from torch_tb_profiler.units import format_count

Absorb = Callable[[list[Any], list[Any]], list[Any]]
"""Called with (list, values about to be appended to it); what it returns is appended instead."""

READ_BYTES = 1 << 20
TEXT_BYTES = 1 << 20
DEPTH = 100
CONTAINERS, BYTES_PER_CONTAINER = 1_000_000, 6
"""Containers that a file may hold: so many, and one more per so many bytes. PyTorch spends more
than twice that on its smallest.
"""
_ARGUMENT_BYTES = 9
"""The most that an opcode and an argument of fixed length take."""
_HINT = "Give the file that torch.cuda.memory._dump_snapshot wrote."
_U16, _U32, _I32, _U64, _F64 = (
    struct.Struct(f).unpack_from for f in ("<H", "<I", "<i", "<Q", ">d")
)


def load(
    stream: Text, absorb: Absorb, progress: Callable[[int, int | None], None] | None = None
) -> object:
    """The object that a pickle of protocol 2 or later describes.

    Raises:
        NotATrace: it is damaged, ends early, or wants more than plain containers; nothing of it was
            carried out then.
        SourceError: the source broke off.
    """
    machine = _Machine(stream, absorb, progress)
    collects = gc.isenabled()
    # Millions of containers come in and none of them is garbage: looking for cycles again and again
    # would double the time.
    gc.disable()
    try:
        return machine.run()
    except (IndexError, struct.error):
        raise NotATrace(
            f"The pickle is damaged at byte {format_count(machine.position)}, or ends there.", _HINT
        ) from None
    finally:
        if collects:
            gc.enable()


class _Machine:
    def __init__(
        self, stream: Text, absorb: Absorb, progress: Callable[[int, int | None], None] | None
    ) -> None:
        self._stream, self._absorb, self._progress = stream, absorb, progress
        self._buffer = b""
        self._at = 0
        self._before = 0
        self._ended = False
        self._stack: list[Any] = []
        self._outer: list[list[Any]] = []
        self._memo: list[Any] = []
        self._swept = 0
        self._made = 0
        self._rare = {
            b"]"[0]: self._list,
            b")"[0]: lambda: self._stack.append(()),
            b"t"[0]: self._tuple,
            0x85: lambda: self._tuple_of(1),
            0x86: lambda: self._tuple_of(2),
            0x87: lambda: self._tuple_of(3),
            b"N"[0]: lambda: self._stack.append(None),
            0x88: lambda: self._stack.append(True),
            0x89: lambda: self._stack.append(False),
            0x8A: self._long,
            b"G"[0]: self._float,
            b"X"[0]: lambda: self._text(self._number(_U32, 4)),
            0x8D: lambda: self._text(self._number(_U64, 8)),
            b"a"[0]: self._append,
            b"s"[0]: self._set_item,
            b"q"[0]: lambda: self._put(self._byte()),
            b"r"[0]: lambda: self._put(self._number(_U32, 4)),
            0x80: self._protocol,
            0x95: lambda: self._number(_U64, 8),
        }

    @property
    def position(self) -> int:
        """Byte of the inflated pickle that was reached."""
        return self._before + self._at

    def run(self) -> object:
        """Carry out opcodes up to the end; the frequent ones here, on local names."""
        rare, memo = self._rare, self._memo
        while True:
            self._fill(_ARGUMENT_BYTES)
            buffer, at, stack = self._buffer, self._at, self._stack
            limit = len(buffer) if self._ended else len(buffer) - _ARGUMENT_BYTES
            if at >= limit:
                raise NotATrace(
                    f"The pickle ends in the middle, at byte {format_count(self.position)}.", _HINT
                )
            while at < limit:
                code = buffer[at]
                at += 1
                if code == 0x68:  # h BINGET
                    stack.append(memo[buffer[at]])
                    at += 1
                elif code == 0x6A:  # j LONG_BINGET
                    stack.append(memo[_U32(buffer, at)[0]])
                    at += 4
                elif code == 0x8A and buffer[at] < _ARGUMENT_BYTES:  # LONG1
                    end = at + 1 + buffer[at]
                    stack.append(int.from_bytes(buffer[at + 1 : end], "little", signed=True))
                    at = end
                elif code == 0x94:  # MEMOIZE
                    memo.append(stack[-1])
                elif code == 0x7D:  # } EMPTY_DICT
                    self._made += 1
                    stack.append({})
                elif code == 0x4B:  # K BININT1
                    stack.append(buffer[at])
                    at += 1
                elif code == 0x4A:  # J BININT
                    stack.append(_I32(buffer, at)[0])
                    at += 4
                elif code == 0x4D:  # M BININT2
                    stack.append(_U16(buffer, at)[0])
                    at += 2
                elif code == 0x28:  # ( MARK
                    stack = self._open()
                elif code == 0x75:  # u SETITEMS
                    stack = self._set_items()
                elif code == 0x65:  # e APPENDS
                    stack = self._appends()
                elif code == 0x8C:  # SHORT_BINUNICODE
                    self._at = at + 1
                    self._text(buffer[at])
                    buffer, at = self._buffer, self._at
                    limit = len(buffer) if self._ended else len(buffer) - _ARGUMENT_BYTES
                elif code == 0x2E:  # . STOP
                    return stack[-1]
                else:
                    self._at = at
                    self._other(rare, code)
                    buffer, at, stack = self._buffer, self._at, self._stack
                    limit = len(buffer) if self._ended else len(buffer) - _ARGUMENT_BYTES
            self._at = at

    def _other(self, rare: dict[int, Callable[[], Any]], code: int) -> None:
        act = rare.get(code)
        if act is None:
            raise NotATrace(
                f"The pickle was not read: at byte {format_count(self.position - 1)} it wants opcode"
                f" 0x{code:02x}, which no memory snapshot needs (only plain lists, dicts, texts and"
                " numbers are read; nothing in it was run).",
                _HINT,
            )
        act()

    def _fill(self, want: int) -> None:
        """Have ``want`` bytes behind the position where the stream gives them."""
        if len(self._buffer) - self._at > want or self._ended:
            return
        if self._made > CONTAINERS + self.position // BYTES_PER_CONTAINER:
            raise NotATrace(
                f"The pickle was not read on at byte {format_count(self.position)}: it makes more containers"
                " than a snapshot of its size holds.",
                _HINT,
            )
        parts, size = [self._buffer[self._at :]], len(self._buffer) - self._at
        while size <= want:
            data = self._stream.read(READ_BYTES)
            if not data:
                self._ended = True
                break
            parts.append(data)
            size += len(data)
        self._before += self._at
        self._buffer, self._at = b"".join(parts), 0
        if self._progress is not None:
            self._progress(self._stream.done, self._stream.size)

    def _byte(self) -> int:
        self._at += 1
        return self._buffer[self._at - 1]

    def _number(self, read: Callable[[bytes, int], tuple[int, ...]], size: int) -> int:
        value = read(self._buffer, self._at)[0]
        self._at += size
        return value

    def _protocol(self) -> None:
        version = self._byte()
        if not 2 <= version <= 5:
            raise NotATrace(f"The pickle says protocol {version}, which is not read.", _HINT)

    def _take(self, size: int) -> bytes:
        if size > TEXT_BYTES:
            raise NotATrace(
                f"The pickle holds a text of {format_count(size)} bytes at byte {format_count(self.position)}, which no"
                " memory snapshot has.",
                _HINT,
            )
        self._fill(size + _ARGUMENT_BYTES)
        found = self._buffer[self._at : self._at + size]
        if len(found) < size:
            raise NotATrace(
                f"The pickle ends in the middle, at byte {format_count(self.position + len(found))}.",
                _HINT,
            )
        self._at += size
        return found

    def _text(self, size: int) -> None:
        self._stack.append(self._take(size).decode("utf-8", "replace"))

    def _long(self) -> None:
        self._stack.append(int.from_bytes(self._take(self._byte()), "little", signed=True))

    def _float(self) -> None:
        self._stack.append(_F64(self._buffer, self._at)[0])
        self._at += 8

    def _list(self) -> None:
        self._made += 1
        self._stack.append([])

    def _open(self) -> list[Any]:
        if len(self._outer) >= DEPTH:
            raise NotATrace(
                f"The pickle nests more than {DEPTH} containers, which no memory snapshot does.",
                _HINT,
            )
        self._outer.append(self._stack)
        self._stack = []
        return self._stack

    def _close(self) -> list[Any]:
        """The values since the last mark."""
        items = self._stack
        self._stack = self._outer.pop()
        return items

    def _tuple(self) -> None:
        self._made += 1
        items = tuple(self._close())
        self._stack.append(items)

    def _tuple_of(self, size: int) -> None:
        self._made += 1
        if len(self._stack) < size:
            raise IndexError
        items = tuple(self._stack[-size:])
        del self._stack[-size:]
        self._stack.append(items)

    def _put(self, place: int) -> None:
        # Writers number their places one after the other; a jump would only make us keep room for
        # nothing.
        if place < len(self._memo):
            self._memo[place] = self._stack[-1]
        elif place == len(self._memo):
            self._memo.append(self._stack[-1])
        else:
            raise NotATrace(
                f"The pickle skips places of its memo at byte {format_count(self.position)}, which no writer"
                " does.",
                _HINT,
            )

    def _appends(self) -> list[Any]:
        self._extend(self._close())
        return self._stack

    def _append(self) -> None:
        self._extend([self._stack.pop()])

    def _extend(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) is not list:
            raise IndexError
        kept = self._absorb(target, items)
        target.extend(kept)
        if len(kept) < len(items):
            self._forget()

    def _forget(self) -> None:
        """Let go of emptied containers: the memo would hold millions of them to the end."""
        memo = self._memo
        for place in range(self._swept, len(memo)):
            if memo[place] == {}:
                memo[place] = None
        self._swept = len(memo)

    def _set_items(self) -> list[Any]:
        self._update(self._close())
        return self._stack

    def _set_item(self) -> None:
        value = self._stack.pop()
        self._update([self._stack.pop(), value])

    def _update(self, items: list[Any]) -> None:
        keys, target = items[::2], self._stack[-1]
        # Texts only: the hash of a deeply nested tuple would leave the C stack.
        if type(target) is not dict or len(items) % 2 or not set(map(type, keys)) <= {str}:
            raise IndexError
        target.update(zip(keys, items[1::2], strict=True))
