"""Every error that this package raises on purpose.

``message`` says what was found, where, and what was expected; ``hint`` says what to do. ``str()``
gives both. ``status`` is the HTTP status of the reply.
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
        """The JSON of an error reply: ``{"error": {"code", "message", "hint", ...}}``."""
        return {
            "error": {"code": self.code, "message": self.message, "hint": self.hint, **self.details}
        }


class BadRequest(ProfilerError):
    """A parameter is missing or has a value that is not allowed."""

    code = "bad_request"
    status = 400


class NotFound(ProfilerError):
    """The named run, worker, span, view or file does not exist."""

    code = "not_found"
    status = 404


class NotReady(ProfilerError):
    """The trace is known but not imported yet."""

    code = "not_ready"
    status = 202


class ImportFailed(ProfilerError):
    """The trace could not be imported; the message says why."""

    code = "import_failed"
    status = 409


class Outdated(ProfilerError):
    """The file changed since: the requested version of the trace no longer exists."""

    code = "outdated"
    status = 409


class SourceError(ProfilerError):
    """A file or URL cannot be read: missing, forbidden, or the connection failed."""

    code = "source_error"
    status = 502


class MissingDriver(SourceError):
    """The fsspec driver for a URL scheme is not installed."""

    code = "missing_driver"


class NotATrace(ProfilerError):
    """The content of a file is not a trace."""

    code = "not_a_trace"
    status = 422


class OverLimit(NotATrace):
    """An import needs more than a setting allows."""

    code = "over_limit"
    status = 409

    def __init__(self, what: str, setting: str) -> None:
        super().__init__(
            f"{what}, the limit of an import.",
            f"If you trust the file, set TORCH_TB_PROFILER_{setting} to more.",
        )


def install(*packages: str) -> str:
    """How to get what an extra of ours brings. It names the packages themselves: by our name pip would fetch a project of
    others from the index, or not what is installed here.
    """
    return f"pip install {' '.join(packages)}"


class MissingPackage(ProfilerError, ImportError):
    """An optional package is required and not installed."""

    code = "missing_package"
    status = 501


class SidecarError(ProfilerError):
    """A cache file is damaged or of another version; it is rebuilt."""

    code = "sidecar"
    status = 503


class SidecarMissing(SidecarError):
    """A cache file is not there: somebody removed it, or nobody wrote it."""


class Busy(ProfilerError):
    """As many costly requests of this kind as are answered at a time are being answered."""

    code = "busy"
    status = 503


class FrontendMissing(ProfilerError):
    """The page's JavaScript bundle was not built."""

    code = "frontend_missing"
    status = 503
