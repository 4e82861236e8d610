"""Values → HTTP responses: JSON, compression, validation by ETag, and the one error shape."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from isal import isal_zlib
from werkzeug.datastructures import Headers
from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import Busy, NotReady, ProfilerError
from torch_tb_profiler.untrusted import readable
from torch_tb_profiler.views.wire import ErrorBody, ErrorPayload, Wire, to_json
from torch_tb_profiler.web.deadline import Deadline

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

logger = logging.getLogger(__name__)

Handler = Callable[[Request], Response]
"""What answers one route."""

COMPRESS_FROM_BYTES = 1024
LARGE_BYTES = 1 << 20
GZIP_WBITS = 31
_SAFE = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}


class _NotModified(Response):
    """A 304 with a Content-Type, which werkzeug removes and TensorBoard insists on."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        headers = super().get_wsgi_headers(environ)
        headers["Content-Type"] = self.headers["Content-Type"]
        return headers


class Body:
    """An encoded payload, kept to be sent again; large ones are kept compressed only."""

    def __init__(self, data: bytes) -> None:
        self.etag = hashlib.blake2b(data, digest_size=12).hexdigest()
        self.size = len(data)
        self._compressed = (
            isal_zlib.compress(data, 1, wbits=GZIP_WBITS) if self.size >= LARGE_BYTES else None
        )
        self._data = data if self._compressed is None else None

    @property
    def data(self) -> bytes:
        """The payload."""
        if self._data is not None:
            return self._data
        data: bytes = isal_zlib.decompress(self._compressed, wbits=GZIP_WBITS)
        return data

    @property
    def compressed(self) -> bytes:
        """The payload by gzip, level 1."""
        if self._compressed is None:
            self._compressed = isal_zlib.compress(self._data, 1, wbits=GZIP_WBITS)
        return self._compressed


def encode(payload: Wire) -> Body:
    """A payload as JSON."""
    return Body(to_json(payload))


def send(
    request: Request,
    body: Body,
    content_type: str = "application/json",
    cache: str = "no-cache",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The body, gzipped if worthwhile, or 304 when the client has it."""
    always = {**_SAFE, "Cache-Control": cache, "Vary": "Accept-Encoding", **(headers or {})}
    if request.if_none_match.contains_weak(body.etag):
        response: Response = _NotModified(
            status=HTTPStatus.NOT_MODIFIED, headers=always, content_type=content_type
        )
        response.set_etag(body.etag, weak=True)
        return response
    packed = body.size >= COMPRESS_FROM_BYTES and takes_gzip(request)
    data = body.compressed if packed else body.data
    if packed:
        always["Content-Encoding"] = "gzip"
    response = Response(data, headers=always, content_type=content_type)
    # Weak, because one tag stands for both encodings.
    response.set_etag(body.etag, weak=True)
    return response


def takes_gzip(request: Request) -> bool:
    """Whether the client accepts gzip."""
    return request.accept_encodings.quality("gzip") > 0


def stream(
    pieces: object, content_type: str, headers: Mapping[str, str], length: int | None = None
) -> Response:
    """A streamed download."""
    safe = {**_SAFE, "Cache-Control": "no-store", **headers}
    response = Response(pieces, headers=safe, content_type=content_type)  # type: ignore[arg-type]
    if length is not None:
        response.content_length = length
    return response


def error(failure: ProfilerError, headers: Mapping[str, str] | None = None) -> Response:
    """The one error shape of every route."""
    progress = failure.details.get("progress") if isinstance(failure, NotReady) else None
    payload = ErrorPayload(
        error=ErrorBody(
            code=failure.code,
            message=readable(failure.message),
            hint=readable(failure.hint),
            progress=progress,
        )
    )
    extra = {"Retry-After": "1"} if isinstance(failure, (Busy, NotReady)) else {}
    return Response(
        to_json(payload),
        status=failure.status,
        headers={**_SAFE, "Cache-Control": "no-store", **extra, **(headers or {})},
        content_type="application/json",
    )


class MethodNotAllowed(ProfilerError, code="method_not_allowed", status=405):
    """No route changes anything."""


READING = ("GET", "HEAD")


def guarded(handle: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """A handler that ends in time and whose failures become error replies; unexpected ones are logged only."""
    deadline = Deadline[Response]()

    def answer(request: Request) -> Response:
        if request.method not in READING:
            method = request.method[:20]
            return error(
                MethodNotAllowed(f"The method is {method!r}, expected {' or '.join(READING)}."),
                {"Allow": ", ".join(READING)},
            )
        try:
            headers = (request.headers.get(name) for name in ("Accept-Encoding", "If-None-Match"))
            return deadline.answer((request.full_path, *headers), lambda: handle(request))
        except ProfilerError as failure:
            return error(failure)
        except Exception:
            logger.exception("a request for %s failed", request.path)
            return error(
                ProfilerError(
                    "This request failed because of a bug in the plugin.",
                    "See the server's log; please report it.",
                )
            )

    return answer
