"""Which names a server answers to. A page of another site can have its own name resolve to this
machine (DNS rebinding) and would then read the traces; the name in the Host header gives it away.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from torch_tb_profiler.errors import ProfilerError
from torch_tb_profiler.web import replies

LONGEST_SHOWN = 100
ANY = "*"
Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class HostNotAllowed(ProfilerError):
    """The server was addressed by a name that is not its own."""

    code = "host_not_allowed"
    status = 403


class HostCheck:
    """An application that answers only under the machine's own names and those allowed.

    Addresses are always answered: a browser sends one only if no name was resolved. What a proxy
    adds (``X-Forwarded-Host``) is not read: any client can send it.
    """

    def __init__(self, application: Wsgi, host: str, allowed: Iterable[str] = ()) -> None:
        """``host``: the address or name that is listened on; ``allowed``: names, ``*.example.com``
        for all below one, ``*`` for any.
        """
        self._application = application
        self._names = {"localhost", _plain(host), *map(_plain, allowed)}

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        # Without a Host header it is no browser's request.
        named = environ.get("HTTP_HOST", "")
        if not named or self.answers(named):
            return self._application(environ, start_response)
        return replies.error(_refused(named))(environ, start_response)

    def answers(self, host: str) -> bool:
        """Whether requests with this Host header are answered."""
        name = _plain(host)
        return (
            _is_address(name)
            or name.endswith(".localhost")
            or self._is_among(self._names, name)
            or name in self._own
        )

    @staticmethod
    def _is_among(names: set[str], name: str) -> bool:
        return ANY in names or any(
            name.endswith(known[1:]) if known.startswith("*.") else name == known for known in names
        )

    @cached_property
    def _own(self) -> set[str]:
        # Looked up late: a resolver without an answer takes seconds.
        own = _plain(socket.gethostname())
        return {own, f"{own}.local", _plain(socket.getfqdn())}


def _refused(host: str) -> HostNotAllowed:
    shown = ascii(host[:LONGEST_SHOWN])
    return HostNotAllowed(
        f"The Host header is {shown}, which is no name of this server.",
        "Use the address that it printed, or start it with --allowed-hosts and this name.",
    )


def _plain(host: str) -> str:
    """Without port, brackets, the root's dot and capitals."""
    name = host.strip()
    if name.startswith("["):
        return name[1:].partition("]")[0].lower()
    if name.count(":") == 1:
        name = name.partition(":")[0]
    return name.rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True
