"""A page of another site whose name resolves to this machine (DNS rebinding) reads nothing."""

from __future__ import annotations

import http.client
import json
import socket

import pytest

from tests.web.served import WHERE, WrittenCatalogue
from tests.web.test_standalone import running
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.standalone import HostCheck

OWN = ("localhost", "127.0.0.1:6007", "[::1]:6007", "[fe80::1%25eth0]", "10.0.0.7", "LOCALHOST.:80")
FOREIGN = (
    "attacker.example",
    "attacker.example:6007",
    "localhost.attacker.example",
    "127.0.0.1.nip.io",
    "xlocalhost",
    f"{socket.gethostname()}.attacker.example",
    "b.example.com.attacker.example",
    "b.example.com",
    "a:b:c",
)


def _check(*allowed: str, host: str = "127.0.0.1") -> HostCheck:
    return HostCheck(lambda environ, start: [], host, allowed)


@pytest.mark.processes
def test_a_rebound_name_reads_no_trace() -> None:
    application = Application(WrittenCatalogue(), Settings())  # type: ignore[arg-type]
    with running(application) as at:
        connection = http.client.HTTPConnection(at.removeprefix("http://"))
        for path in (f"/overview?{WHERE}", "/", "/runs"):
            connection.request("GET", path, headers={"Host": "attacker.example:6007"})
            response = connection.getresponse()
            answer = json.load(response)["error"]
            assert (response.status, answer["code"]) == (403, "host_not_allowed")
            assert "attacker.example" in answer["message"]
            assert "--allowed-hosts" in answer["hint"]
        forwarded = {"Host": "attacker.example", "X-Forwarded-Host": "localhost"}
        connection.request("GET", "/runs", headers=forwarded)
        assert connection.getresponse().status == 403
        connection.close()


@pytest.mark.parametrize("host", [*OWN, socket.gethostname()])
def test_its_own_names_and_addresses_are_answered(host: str) -> None:
    assert _check().answers(host)


@pytest.mark.parametrize("host", FOREIGN)
def test_other_names_are_not(host: str) -> None:
    assert not _check("*.b.example.com").answers(host)


def test_names_that_were_allowed_are_answered() -> None:
    check = _check("proxy.example", "*.b.example.com", host="named.example")
    for host in ("proxy.example", "Proxy.Example:443", "a.b.example.com", "named.example:6007"):
        assert check.answers(host)
    assert _check("*").answers("anything.example")
