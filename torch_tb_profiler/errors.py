"""Every error that this package raises on purpose.

::

    ProfilerError                  code, message, hint, HTTP status
    ├── BadRequest        400      a parameter is missing or has a wrong value
    ├── NotFound          404      no such run, worker, span, view or file
    ├── NotReady          202      the trace is known but not imported yet
    ├── ImportFailed      409      the trace could not be imported; the reason is in the message
    ├── Outdated          409      the asked content of a trace is no longer there; ask for its description again
    ├── SourceError       502      a file or a remote place could not be read
    │   └── MissingDriver 502      the fsspec driver for a URL scheme is not installed
    ├── NotATrace         422      the content of a file is not a trace
    ├── MissingPackage    501      what was asked for needs a package that is not installed; an ImportError as well
    ├── SidecarError      500      a cache file is damaged or of another version (always rebuilt)
    └── FrontendMissing   503      the bundle was not built

``message`` says what was found, where and what was expected; ``hint`` says what to do. As a text,
such as below a traceback, an error is both.
"""

from __future__ import annotations

from typing import Any


class ProfilerError(Exception):
    """Base of all errors of this package."""

    code = "internal"
    status = 500

    def __init__(self, message: str, hint: str = "", **details: Any) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()

    def payload(self) -> dict[str, Any]:
        """The one error shape of the wire: ``{"error": {"code", "message", "hint", ...}}``."""
        return {
            "error": {"code": self.code, "message": self.message, "hint": self.hint, **self.details}
        }


class BadRequest(ProfilerError):
    """A request parameter is missing or has a value outside what is allowed."""

    code = "bad_request"
    status = 400


class NotFound(ProfilerError):
    """The named run, worker, span, view or file does not exist."""

    code = "not_found"
    status = 404


class NotReady(ProfilerError):
    """The trace is in the catalogue and waits for, or is in, its import."""

    code = "not_ready"
    status = 202


class ImportFailed(ProfilerError):
    """The import of a trace ended without a result."""

    code = "import_failed"
    status = 409


class Outdated(ProfilerError):
    """A reply about one content of a trace was asked for, and the file changed since."""

    code = "outdated"
    status = 409


class SourceError(ProfilerError):
    """Bytes could not be had: missing file, refused permission, broken connection."""

    code = "source_error"
    status = 502


class MissingDriver(SourceError):
    """A URL scheme needs a package that is not installed."""

    code = "missing_driver"


class NotATrace(ProfilerError):
    """The bytes of a file are not those of a trace."""

    code = "not_a_trace"
    status = 422


class MissingPackage(ProfilerError, ImportError):
    """A function needs a package that is not installed and that nothing else needs."""

    code = "missing_package"
    status = 501


class SidecarError(ProfilerError):
    """A cache file is damaged, cut off, or was written by another version."""

    code = "sidecar"


class FrontendMissing(ProfilerError):
    """The page's bundle is not installed."""

    code = "frontend_missing"
    status = 503
