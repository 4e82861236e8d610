"""Finds and starts a Chromium: the one of ``CHROMIUM``, an installed one, or, tried once,
Playwright's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from playwright.sync_api import Browser, Playwright
from playwright.sync_api import Error as PlaywrightError

from tests.examples import absent

NAMES = (
    # Half as much work as those that could also open a window.
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
PLACES = (
    "/usr/bin/chromium",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
)
DOWNLOAD_SECONDS = 300


def installed() -> str | None:
    """Path of an installed Chromium or Chrome, ``None`` when there is none."""
    given = os.environ.get("CHROMIUM")
    if given:
        return shutil.which(given) or given
    found = (shutil.which(name) for name in (*NAMES, *PLACES))
    return next((path for path in found if path), None)


def launch(playwright: Playwright) -> Browser:
    """A headless browser; without one the test is skipped with the reason, and fails where ``CI``
    is set.
    """
    path = installed()
    try:
        if path is None and not os.path.exists(playwright.chromium.executable_path):
            download()
        return playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
    except (PlaywrightError, OSError, subprocess.SubprocessError) as error:
        absent(f"no browser: {path or 'none installed'}, and {str(error).splitlines()[0]}")


def download() -> None:
    """Playwright's own Chromium, from its servers."""
    subprocess.run(
        [sys.executable, "-m", "playwright", "install", "chromium"],
        check=True,
        capture_output=True,
        timeout=DOWNLOAD_SECONDS,
    )
