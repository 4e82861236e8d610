"""Every tool of the MCP server about a folder, and what it offers besides. Its child processes are forks of this one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client

from torch_tb_profiler.cli.agents.server import server
from torch_tb_profiler.cli.commands import COMMANDS
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.sources.places import Place

from . import forks
from .kept import Reply

SECONDS = 300.0
STATEMENT = "select name, count(*) as n from kernels group by name order by n desc, name limit 5"


def replies(logs: Path, name: str, pair: tuple[str, str] | None, few: bool) -> Iterator[Reply]:
    """Those of all tools; those that take only a trace by their schemas."""
    yield from _asked(logs, lambda client: _calls(client, name, pair))


def alone(logs: Path) -> Iterator[Reply]:
    """What the server says of itself."""
    yield from _asked(logs, _offers)


def _asked(logs: Path, use: Any) -> list[Reply]:
    found: list[Reply] = []

    async def run() -> None:
        async with Client(server(Place(str(logs)))) as client:
            found.extend([reply async for reply in use(client)])

    usual = anyio.open_process
    anyio.open_process = _forked  # type: ignore[assignment]
    try:
        anyio.run(run)
    finally:
        anyio.open_process = usual
    return found


async def _calls(client: Client, name: str, pair: tuple[str, str] | None) -> AsyncIterator[Reply]:
    known: dict[str, list[dict[str, Any]]] = {
        "list_runs": [{}],
        "what_if": [{"trace": name}, {"trace": name, "changes": ["no-sync"]}],
        "event": [{"trace": name, "ids": [0, 5]}],
        "diff": [{"a": pair[0], "b": pair[1]}] if pair else [],
        "query": [
            {"trace": name, "sql": STATEMENT},
            {"trace": name, "table": "steps", "limit": 5},
        ],
    }
    for tool in (await client.list_tools()).tools:
        takes = tool.input_schema.get("required", [])
        given = known.get(tool.name, [{"trace": name}] if takes == ["trace"] else [])
        for arguments in given:
            yield await _call(client, tool.name, arguments)


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> Reply:
    shown = ", ".join(f"{key}={value}" for key, value in arguments.items())
    try:
        answer: Any = await client.call_tool(tool, arguments)
    except Exception as error:
        return Reply(f"{tool}({shown})", forks.RAISED, f"Traceback: {error!r}", False)
    text = "".join(part.text for part in answer.content)
    return Reply(f"{tool}({shown})", int(bool(answer.is_error)), text, False)


async def _offers(client: Client) -> AsyncIterator[Reply]:
    for tool in (await client.list_tools()).tools:
        yield Reply(f"tool {tool.name}", 0, tool.model_dump_json(), True)
    for resource in (await client.list_resources()).resources:
        answer = await client.read_resource(resource.uri)
        text = "".join(getattr(part, "text", "") for part in answer.contents)
        yield Reply(f"resource {resource.uri}", 0, text, False)
    for prompt in (await client.list_prompts()).prompts:
        yield Reply(f"prompt {prompt.name}", 0, prompt.model_dump_json(), True)


async def _forked(command: Sequence[str], **options: Any) -> Any:
    """Instead of a new interpreter, which takes half a second to import everything."""
    words = list(command)
    at = next((i for i, word in enumerate(words) if word in COMMANDS), None)
    if at is None:
        raise OSError(f"no command of ours: {command}")
    return _Child(words[at:], options.get("env"), options.get("cwd"))


class _Child:
    """What ``anyio.open_process`` gives, of a fork."""

    def __init__(self, arguments: list[str], env: Any, cwd: Any) -> None:
        def work() -> int:
            os.environ.update(env or {})
            if cwd:
                os.chdir(cwd)
            return main(arguments)

        ends = [os.pipe(), os.pipe()]
        self.pid = forks.start(work, ends[0][1], ends[1][1])
        for _, end in ends:
            os.close(end)
        self.stdout, self.stderr = (_stream(end) for end, _ in ends)
        self.returncode: int | None = None

    async def wait(self) -> int:
        self.returncode = await anyio.to_thread.run_sync(forks.ended, self.pid, SECONDS)
        return self.returncode

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, 9)

    async def aclose(self) -> None:
        await self.wait()


async def _stream(end: int) -> AsyncIterator[bytes]:
    while part := await anyio.to_thread.run_sync(os.read, end, 1 << 16):
        yield part
    os.close(end)
