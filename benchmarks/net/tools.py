"""Every tool of the MCP server about a folder, and what it offers besides."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client

from torch_tb_profiler.cli.agents.server import server
from torch_tb_profiler.sources.places import Place

from . import forks
from .kept import Reply

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

    anyio.run(run)
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
