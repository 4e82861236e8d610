"""A safe reader for pickles of plain containers.

A pickle is a program, and the standard library runs it. This reader has no opcode that imports,
calls, extends or builds: it can only make lists, dicts with text keys, tuples, texts, numbers,
booleans and None.

::

    } ( X"segments" ] u .      {"segments": []}          \\x93 R b c i o Q \\x82 …      refused, with the byte

Costs are bounded too: texts by ``TEXT_BYTES``, nesting by ``DEPTH``, the number of containers by
the bytes read, memo slots by the memo's length. ``absorb`` can take over records as they arrive.

Source of the opcodes: the standard library's ``pickletools``.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Callable
from typing import Any

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.window import Progress, Text
from torch_tb_profiler.units import format_count

Absorb = Callable[[list[Any], list[Any]], list[Any]]
"""Called with (list, values to append); returns what is appended instead."""

READ_BYTES = 1 << 20
TEXT_BYTES = 1 << 20
DEPTH = 100
CONTAINERS, BYTES_PER_CONTAINER = 1_000_000, 6
"""Containers allowed: a million, plus one per six bytes. PyTorch needs more than twelve bytes for
one.
"""
_ARGUMENT_BYTES = 9
"""The longest opcode with an argument of fixed length."""
HINT = "Choose the file that torch.cuda.memory._dump_snapshot wrote."
_U16, _U32, _I32, _U64, _F64 = (
    struct.Struct(f).unpack_from for f in ("<H", "<I", "<i", "<Q", ">d")
)


def load(stream: Text, absorb: Absorb, progress: Progress | None = None) -> object:
    """The object that a pickle of protocol 2 or later describes.

    Raises:
        NotATrace: it is damaged, truncated, or needs more than plain containers.
        SourceError: reading failed.
    """
    machine = _Machine(stream, absorb, progress)
    collects = gc.isenabled()
    # Millions of containers and no garbage: the cycle collector would double the time.
    gc.disable()
    try:
        return machine.run()
    except (IndexError, struct.error):
        raise NotATrace(
            f"The pickle is damaged at byte {format_count(machine.position)}, or ends there.", HINT
        ) from None
    finally:
        if collects:
            gc.enable()


class _Machine:
    def __init__(self, stream: Text, absorb: Absorb, progress: Progress | None) -> None:
        self._stream, self._absorb, self._progress = stream, absorb, progress
        self._buffer = b""
        self._offset = 0
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
        """Current byte of the inflated pickle."""
        return self._before + self._offset

    def run(self) -> object:  # noqa: PLR0915  (a call for each opcode would cost more than it does)
        """Execute opcodes to the end; the frequent ones here, on local names."""
        rare, memo = self._rare, self._memo
        while True:
            self._fill(_ARGUMENT_BYTES)
            buffer, position, stack = self._buffer, self._offset, self._stack
            limit = len(buffer) if self._ended else len(buffer) - _ARGUMENT_BYTES
            if position >= limit:
                raise NotATrace(
                    f"The pickle ends in the middle, at byte {format_count(self.position)}.", HINT
                )
            while position < limit:
                code = buffer[position]
                position += 1
                if code == 0x68:  # h BINGET
                    stack.append(memo[buffer[position]])
                    position += 1
                elif code == 0x6A:  # j LONG_BINGET
                    stack.append(memo[_U32(buffer, position)[0]])
                    position += 4
                elif code == 0x8A and buffer[position] < _ARGUMENT_BYTES:  # LONG1
                    end = position + 1 + buffer[position]
                    stack.append(int.from_bytes(buffer[position + 1 : end], "little", signed=True))
                    position = end
                elif code == 0x94:  # MEMOIZE
                    memo.append(stack[-1])
                elif code == 0x7D:  # } EMPTY_DICT
                    self._made += 1
                    stack.append({})
                elif code == 0x4B:  # K BININT1
                    stack.append(buffer[position])
                    position += 1
                elif code == 0x4A:  # J BININT
                    stack.append(_I32(buffer, position)[0])
                    position += 4
                elif code == 0x4D:  # M BININT2
                    stack.append(_U16(buffer, position)[0])
                    position += 2
                elif code == 0x28:  # ( MARK
                    stack = self._open()
                elif code == 0x75:  # u SETITEMS
                    stack = self._set_items()
                elif code == 0x65:  # e APPENDS
                    stack = self._appends()
                elif code == 0x8C:  # SHORT_BINUNICODE
                    self._offset = position + 1
                    self._text(buffer[position])
                    buffer, position = self._buffer, self._offset
                    limit = len(buffer) if self._ended else len(buffer) - _ARGUMENT_BYTES
                elif code == 0x2E:  # . STOP
                    return stack[-1]
                else:
                    self._offset = position
                    self._other(rare, code)
                    buffer, position, stack = self._buffer, self._offset, self._stack
                    limit = len(buffer) if self._ended else len(buffer) - _ARGUMENT_BYTES
            self._offset = position

    def _other(self, rare: dict[int, Callable[[], Any]], code: int) -> None:
        act = rare.get(code)
        if act is None:
            raise NotATrace(
                f"The pickle was refused: at byte {format_count(self.position - 1)} it has opcode"
                f" 0x{code:02x}, which no memory snapshot needs (only plain lists, dicts, texts and"
                " numbers are read; nothing in it was run).",
                HINT,
            )
        act()

    def _fill(self, want: int) -> None:
        """Ensure that more than ``want`` bytes follow the position, unless the stream ends."""
        if len(self._buffer) - self._offset > want or self._ended:
            return
        if self._made > CONTAINERS + self.position // BYTES_PER_CONTAINER:
            raise NotATrace(
                f"The pickle was refused at byte {format_count(self.position)}: it creates more containers than"
                " a snapshot of its size.",
                HINT,
            )
        parts, size = [self._buffer[self._offset :]], len(self._buffer) - self._offset
        while size <= want:
            data = self._stream.read(READ_BYTES)
            if not data:
                self._ended = True
                break
            parts.append(data)
            size += len(data)
        self._before += self._offset
        self._buffer, self._offset = b"".join(parts), 0
        if self._progress is not None:
            self._progress(self._stream.done, self._stream.size)

    def _byte(self) -> int:
        self._offset += 1
        return self._buffer[self._offset - 1]

    def _number(self, read: Callable[[bytes, int], tuple[int, ...]], size: int) -> int:
        value = read(self._buffer, self._offset)[0]
        self._offset += size
        return value

    def _protocol(self) -> None:
        version = self._byte()
        if not 2 <= version <= 5:
            raise NotATrace(f"The pickle has protocol {version}, which is not supported.", HINT)

    def _take(self, size: int) -> bytes:
        if size > TEXT_BYTES:
            raise NotATrace(
                f"The pickle holds a text of {format_count(size)} bytes at byte {format_count(self.position)}, which no"
                " memory snapshot has.",
                HINT,
            )
        self._fill(size + _ARGUMENT_BYTES)
        data = self._buffer[self._offset : self._offset + size]
        if len(data) < size:
            raise NotATrace(
                f"The pickle ends in the middle, at byte {format_count(self.position + len(data))}.",
                HINT,
            )
        self._offset += size
        return data

    def _text(self, size: int) -> None:
        self._stack.append(self._take(size).decode("utf-8", "replace"))

    def _long(self) -> None:
        self._stack.append(int.from_bytes(self._take(self._byte()), "little", signed=True))

    def _float(self) -> None:
        self._stack.append(_F64(self._buffer, self._offset)[0])
        self._offset += 8

    def _list(self) -> None:
        self._made += 1
        self._stack.append([])

    def _open(self) -> list[Any]:
        if len(self._outer) >= DEPTH:
            raise NotATrace(
                f"The pickle nests more than {DEPTH} containers, which no memory snapshot does.",
                HINT,
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

    def _put(self, slot: int) -> None:
        # Writers number memo slots in sequence; a jump would only waste memory.
        if slot < len(self._memo):
            self._memo[slot] = self._stack[-1]
        elif slot == len(self._memo):
            self._memo.append(self._stack[-1])
        else:
            raise NotATrace(
                f"The pickle skips memo slots at byte {format_count(self.position)}, which no writer does.",
                HINT,
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
        remaining = self._absorb(target, items)
        target.extend(remaining)
        if len(remaining) < len(items):
            self._forget()

    def _forget(self) -> None:
        """Release emptied containers: the memo would hold millions of them to the end."""
        memo = self._memo
        for slot in range(self._swept, len(memo)):
            if memo[slot] == {}:
                memo[slot] = None
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
