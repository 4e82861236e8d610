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

    def __init_subclass__(cls, code: str = "", status: int = 0) -> None:
        """``code``, ``status``: those of its base where none is given."""
        super().__init_subclass__()
        cls.code, cls.status = code or cls.code, status or cls.status

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


class BadRequest(ProfilerError, code="bad_request", status=400):
    """A parameter is missing or has a value that is not allowed."""


class NotFound(ProfilerError, code="not_found", status=404):
    """The named run, worker, span, view or file does not exist."""


class NotReady(ProfilerError, code="not_ready", status=202):
    """The trace is known but not imported yet."""


class ImportFailed(ProfilerError, code="import_failed", status=409):
    """The trace could not be imported; the message says why."""


class Outdated(ProfilerError, code="outdated", status=409):
    """The file changed since: the requested version of the trace no longer exists."""


class SourceError(ProfilerError, code="source_error", status=502):
    """A file or URL cannot be read: missing, forbidden, or the connection failed."""


class MissingDriver(SourceError, code="missing_driver"):
    """The fsspec driver for a URL scheme is not installed."""


class NotATrace(ProfilerError, code="not_a_trace", status=422):
    """The content of a file is not a trace."""


class OverLimit(NotATrace, code="over_limit", status=409):
    """An import needs more than a setting allows."""

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


class MissingPackage(ProfilerError, ImportError, code="missing_package", status=501):
    """An optional package is required and not installed."""


class SidecarError(ProfilerError, code="sidecar", status=503):
    """A cache file is damaged or of another version; it is rebuilt."""


class SidecarMissing(SidecarError):
    """A cache file is not there: somebody removed it, or nobody wrote it."""


class Busy(ProfilerError, code="busy", status=503):
    """As many costly requests of this kind as are answered at a time are being answered."""


class FrontendMissing(ProfilerError, code="frontend_missing", status=503):
    """The page's JavaScript bundle was not built."""
