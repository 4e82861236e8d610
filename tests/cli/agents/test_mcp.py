"""The MCP server by the official client: over standard input and output, and over HTTP."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.architecture import tree
from torch_tb_profiler.cli.agents import asking
from torch_tb_profiler.cli.markdown import estimate

pytestmark = [
    pytest.mark.processes,
    pytest.mark.slow,
    # Of the package itself, when a client leaves.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
COMMAND = ("-m", "torch_tb_profiler", "mcp")
TOOLS: dict[str, dict[str, Any]] = {
    "list_runs": {},
    "summary": {"trace": "ddp"},
    "findings": {"trace": "ddp"},
    "critical_path": {"trace": "ddp", "worker": "0", "steps": "1"},
    "what_if": {"trace": "ddp", "worker": "0", "changes": ["no-sync"]},
    "iterations": {"trace": "inference"},
    "event": {"trace": "ddp/rank0.pt.trace.json.gz", "ids": [40]},
    "diff": {"a": "ddp/rank0.pt.trace.json.gz", "b": "ddp/rank1.pt.trace.json.gz"},
    "query": {"trace": "linked", "sql": "select id, dur from kernels limit 3"},
    "memory": {"trace": "inference"},
    "find": {"trace": "ddp", "question": "softmax"},
}
"""A right call of each."""


@pytest.fixture(scope="module")
def logdir(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mcp")
    home = root / "log"
    (home / "ddp").mkdir(parents=True)
    for rank in (0, 1):
        name = f"rank{rank}.pt.trace.json.gz"
        shutil.copy(repository / "samples/synthetic_ddp8" / name, home / "ddp" / name)
    shutil.copytree(repository / "samples/inference", home / "inference")
    (root / "elsewhere").mkdir()
    shutil.copy(home / "ddp/rank0.pt.trace.json.gz", root / "elsewhere")
    (home / "linked").symlink_to(root / "elsewhere", target_is_directory=True)
    return home


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    cache = tmp_path_factory.mktemp("mcp_cache")
    return {"PYTHONPATH": str(tree.ROOT), "TORCH_TB_PROFILER_CACHE_DIR": str(cache)}


@pytest.fixture(scope="module")
def url(logdir: Path, environment: dict[str, str]) -> Iterator[str]:
    """Of one server over HTTP, which keeps the traces open from test to test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *COMMAND, str(logdir), "--http", "--port", str(port)],
        env=os.environ | environment,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(30)


def asking_it(server: Any, use: Callable[[Client], Awaitable[None]]) -> None:
    """A client's questions to a server: its URL, or how to speak to its process."""

    async def run() -> None:
        async with Client(server) as client:
            await use(client)

    anyio.run(run)


async def text(client: Client, tool: str, arguments: dict[str, Any], *, wrong: bool = False) -> str:
    answer: Any = await client.call_tool(tool, arguments)
    said = "".join(part.text for part in answer.content)
    assert bool(answer.is_error) == wrong, f"{tool} {arguments}: {said}"
    return said


async def tools(client: Client, *asked: str) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(listed) == set(TOOLS)
    assert len(listed) <= 11
    for name in asked:
        arguments = TOOLS[name]
        tool: Any = listed[name]
        assert tool.annotations.read_only_hint
        said = await text(client, name, arguments)
        assert re.search(r"\*About \d", said), name
        assert estimate(said) <= asking.TOKENS, name
        assert "/log/" not in said, "folders of this machine are not named"


def test_tools_answer_over_stdio(logdir: Path, environment: dict[str, str]) -> None:
    arguments = [*COMMAND, str(logdir)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    asking_it(stdio_client(server), lambda client: tools(client, "list_runs", "event", "query"))


def test_every_tool_answers_over_http(url: str) -> None:
    asking_it(url, lambda client: tools(client, *TOOLS))


@pytest.mark.parametrize(
    "header", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}], ids=str
)
def test_pages_of_other_sites_are_refused(url: str, header: dict[str, str]) -> None:
    accepted = "application/json, text/event-stream"
    headers = {"Content-Type": "application/json", "Accept": accepted, **header}
    asked = urllib.request.Request(url, data=b"{}", headers=headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(asked)
    assert refused.value.code in (403, 421)
    refused.value.close()


def test_definitions_tables_and_prompts_are_there(url: str) -> None:
    async def use(client: Client) -> None:
        uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
        assert uris == {f"profiler://{name}" for name in ("definitions", "tables", "changes")}
        one: Any = await client.read_resource("profiler://definitions/critical_path")
        assert one.contents[0].text.startswith("# Critical path")
        tables: Any = await client.read_resource("profiler://tables")
        assert "- `kernels`: " in tables.contents[0].text
        with pytest.raises(Exception, match=r"no definition nothing"):
            await client.read_resource("profiler://definitions/nothing")
        for prompt in (await client.list_prompts()).prompts:
            given = {argument.name: "ddp" for argument in prompt.arguments or ()}
            found: Any = await client.get_prompt(prompt.name, given)
            assert "ddp" in found.messages[0].content.text
            named = set(re.findall(r"[a-z]+(?:_[a-z]+)*", found.messages[0].content.text))
            assert named & set(TOOLS)

    asking_it(url, use)
