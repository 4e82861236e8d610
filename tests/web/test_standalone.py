"""The server without TensorBoard answers on the address that it was given, and says why when it cannot have it."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator

import pytest

from tests.web.served import WHERE, WrittenCatalogue
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.standalone import HOST, server


@pytest.fixture
def address() -> Iterator[str]:
    listening = server(Application(WrittenCatalogue(), Settings()))
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield f"http://{HOST}:{listening.port}"
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def test_page_and_payloads(address: str) -> None:
    with urllib.request.urlopen(address + "/") as response:
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    with urllib.request.urlopen(f"{address}/overview?{WHERE}") as response:
        assert len(json.load(response)["steps"]) == 3


def test_a_taken_port_is_said(address: str) -> None:
    port = int(address.rpartition(":")[2])
    with pytest.raises(SourceError, match=f"{HOST}:{port} cannot be used"):
        server(Application(WrittenCatalogue(), Settings()), port=port)
