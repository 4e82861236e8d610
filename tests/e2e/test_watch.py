"""The watch and the rules of accessibility find what they are there for: without this, silence
would prove nothing.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe


@pytest.fixture
def tab(open_tab: OpenTab, sample_server: Server) -> Tab:
    """A page without a fault so far."""
    opened = open_tab(sample_server, inside=True).load("diagnosis")
    assert opened.watch.take() == []
    return opened


FAULTS = (
    ("console.error('oh no')", "oh no"),
    ("setTimeout(() => { throw new Error('thrown later'); }, 0)", "thrown later"),
    ("fetch('https://example.org/x').catch(() => 0)", "CSP violation"),
    ("fetch('no_such_route').catch(() => 0)", "404 from"),
    (
        "const s = document.createElement('script'); s.textContent = '1'; document.body.append(s)",
        "CSP violation",
    ),
)


def test_faults_of_the_page_are_found(tab: Tab) -> None:
    for program, sign in FAULTS:
        tab.frame.evaluate(f"() => {{ {program} }}")
        found: list[str] = []

        def said(found: list[str] = found, sign: str = sign) -> bool:
            found.extend(tab.watch.take())
            return any(sign in line for line in found)

        tab.becomes(said, True)


def test_a_request_to_another_origin_is_found(tab: Tab) -> None:
    # TensorBoard's policy stops everything else, so that only leaving the page is left to try.
    with pytest.raises(PlaywrightError):
        tab.page.goto("http://127.0.0.2:9/x", timeout=5000)
    assert [line for line in tab.watch.take() if "another origin" in line]


def test_a_fault_of_accessibility_is_found(tab: Tab) -> None:
    need_axe()
    tab.frame.evaluate(
        "() => { const i = document.createElement('img'); i.src = 'data:,';"
        " document.querySelector('main').append(i); }"
    )
    assert [line for line in accessibility(tab.frame) if line.startswith("image-alt")]
    tab.watch.take()
