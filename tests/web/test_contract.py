"""The table of routes, walked: right, missing, doubled, wrong and hostile parameters of each; the
status, the shape, and nothing that should not be seen.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import Client

from tests.examples import examples
from tests.web import timeline_asked
from tests.web.served import TIMELINE_ID, WHERE, WrittenCatalogue, body, client, error_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views import wire
from torch_tb_profiler.views.timeline.tiles import MAGIC
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.downloads import Download
from torch_tb_profiler.web.parameters import (
    REQUIRED,
    Kind,
    Names,
    OfTrace,
    OneOf,
    Ranges,
    StepsOf,
    Switch,
    Text,
    Time,
    Whole,
    Wholes,
    WindowOf,
)
from torch_tb_profiler.web.route import IMMUTABLE
from torch_tb_profiler.web.route_table import ROUTES

LONGEST_ERROR = 1500
OF_MEMORY = (
    *(
        f"/memory/{name}"
        for name in ("curve", "blocks", "statistics", "alive", "source", "map", "changes")
    ),
)
"""They answer 404 for a trace without allocator records; ``test_memory.py`` asks them about one that
has some.
"""
OF_A_FILE = ("/trace/file", "/trace/event/args")
"""They read the trace's file again, which the written catalogue does not have."""
OF_A_TRACE = [path for path, route in ROUTES.items() if route.opens]
SIDE_B = {"run2": "run", "worker2": "w0", "span2": "1"}
NEEDED = {
    **timeline_asked.PARAMETERS,
    "/callers": {"name": "aten::mm"},
    "/waiting": {"run": "run", "worker": "w0", "span": "1"},
    "/critical_path/step": {"step": "0"},
    "/table": {"name": "operators"},
    "/sql": {"q": "select name from events"},
    "/diff": SIDE_B,
    "/diff/aligned": SIDE_B,
    "/diff/axis": SIDE_B,
    "/diff/file": SIDE_B,
    "/memory/changes": SIDE_B,
}
"""What a right request gives besides the trace and its content."""
FEW = [
    "",
    "&steps=all",
    "&steps=0",
    "&steps=0-2",
    "&steps=1-1",
    "&skip_cold=1",
    "&steps=all&skip_cold=0",
]
WRONG: dict[type[Kind], tuple[str, ...]] = {
    OneOf: ("everything", ""),
    Switch: ("maybe", ""),
    Whole: ("x", "-1"),
    Time: ("x", "1e3"),
    Wholes: ("x", "0,,1"),
    Ranges: ("x", "2-1"),
    StepsOf: ("x", "2-1"),
    WindowOf: ("a", "-5"),
    Text: (),
    Names: (),
}
"""Values that no parameter of the kind takes; ``test_parameters.py`` has all of them."""


def right(path: str, **changed: str | None) -> dict[str, str]:
    """A right request's parameters; ``None`` leaves one out."""
    route = ROUTES[path]
    places = {"run": "run", "worker": "w0", "span": "1"} if route.opens else {}
    content = {"id": TIMELINE_ID} if "id" in route.places else {}
    values = {**places, **content, **NEEDED.get(path, {}), **changed}
    return {name: value for name, value in values.items() if value is not None}


def url(path: str, query: str = WHERE) -> str:
    more = {k: v for k, v in right(path).items() if k not in ("run", "worker", "span")}
    return f"{path}?{query}" + "".join(f"&{key}={value}" for key, value in more.items())


@pytest.fixture(scope="module")
def asked() -> Client:
    return client(timeline_asked.catalogue())


def refusal(asked: Client, path: str, query: dict[str, Any]) -> str:
    """The message of a 400 in the one error shape; empty for every other answer."""
    response = asked.get(path, query_string=query)
    if response.status_code != 400:
        return ""
    assert len(body(response)) < LONGEST_ERROR
    assert response.headers["Cache-Control"] == "no-store"
    found = error_of(response).error
    assert found.code == "bad_request"
    return found.message


def test_every_route_is_named_rightly_asked() -> None:
    """A new parameter that is needed, or a renamed one, is said here first."""
    for path, route in ROUTES.items():
        entries = {entry.name: default for entry, default in route.entries()}
        optional = {entry.name for entry, _ in route.entries() if entry.optional is not None}
        assert set(right(path)) <= set(entries), path
        required = {name for name, default in entries.items() if default is REQUIRED} - optional
        assert required <= set(right(path)), path


def test_every_answer_has_the_declared_shape(asked: Client) -> None:
    for path, route in ROUTES.items():
        if path in (*OF_MEMORY, *OF_A_FILE) or route.answers is Download:
            continue
        steps = FEW if "steps" in route.parameters else [""]
        for client_of, more in ((asked, steps[:1]), (client(), steps)):
            if client_of is not asked and "id" in route.places:
                continue
            for query in more:
                response = client_of.get(url(path) + query)
                assert response.status_code == 200, (path, query, body(response)[:300])
                if route.answers is bytes:
                    assert body(response)[:4] == MAGIC
                    continue
                assert b"/secret" not in body(response)
                msgspec.json.decode(body(response), type=route.answers, strict=True)
                declared = {f.encode_name for f in msgspec.structs.fields(route.answers)}
                assert set(json.loads(body(response))) == declared, path


def test_groups() -> None:
    for group in ("name", "shape", "stack"):
        assert (
            json.loads(body(client().get(url("/operator") + f"&group={group}")))["group"] == group
        )
    for group in ("name", "operator", "properties"):
        assert json.loads(body(client().get(url("/kernel") + f"&group={group}")))["group"] == group
    callers = json.loads(body(client().get(url("/callers"))))
    assert len(callers["rows"]["name"]) == 4


def test_rescan() -> None:
    catalogue = WrittenCatalogue()
    assert client(catalogue).get("/runs").status_code == 200
    assert catalogue.rescans == 0
    assert client(catalogue).get("/runs?rescan=1").status_code == 200
    assert catalogue.rescans == 1


def test_what_is_missing_is_named(asked: Client) -> None:
    found, expected = [], []
    for path, route in ROUTES.items():
        for entry, default in route.entries():
            if default is REQUIRED and entry.optional is None:
                expected.append((path, f"Parameter {entry.name} is missing."))
                query = {k: v for k, v in right(path).items() if k != entry.name}
                found.append((path, refusal(asked, path, query)))
    assert found == expected
    assert len(expected) > 100


def test_what_is_given_twice_is_named(asked: Client) -> None:
    for path, route in ROUTES.items():
        for entry, _ in route.entries():
            more = {"t0": "0", "t1": "9"} if entry.name in ("t0", "t1") else {}
            message = refusal(asked, path, {**right(path), **more, entry.name: ["0", "0"]})
            assert message == f"Parameter {entry.name} is given 2 times, expected once.", path


def test_wrong_values_are_named(asked: Client) -> None:
    count = 0
    for path, route in ROUTES.items():
        kinds = {**route.places, **{n: p.kind for n, p in route.parameters.items()}}
        for name, kind in kinds.items():
            for entry in kind.entries(name):
                long = "1" * (kind.longest + 1)
                more = {"t0": "0", "t1": "9"} if isinstance(kind, WindowOf) else {}
                of_kind = WRONG[Switch] if entry.words == ("0", "1") else WRONG[type(kind)]
                for value in (*of_kind, long):
                    message = refusal(asked, path, {**right(path), **more, entry.name: value})
                    assert f"Parameter {entry.name} " in message, (path, entry.name, value[:20])
                    count += 1
    assert count > 300


def test_limits_are_kept_to(asked: Client) -> None:
    """The largest value is taken, the next one is refused by name."""
    timeline = timeline_asked.catalogue().timeline("run", "w0", "1")
    for path, route in ROUTES.items():
        values = {"level": 0}
        for name, parameter in route.parameters.items():
            kind = parameter.kind
            if not isinstance(kind, Whole | Wholes | Ranges) or isinstance(kind, WindowOf):
                continue
            limit = kind.highest
            largest = limit.limit(timeline, values) if isinstance(limit, OfTrace) else limit
            message = refusal(asked, path, {**right(path), name: str(largest)})
            assert not (f"Parameter {name} " in message and "expected" in message), path
            message = refusal(asked, path, {**right(path), name: str(largest + 1)})
            assert f"Parameter {name} " in message, path
            if isinstance(kind, Wholes):
                assert kind.most is not None
                many = ",".join(["0"] * (kind.most + 1))
                message = refusal(asked, path, {**right(path), name: many})
                assert f"at most {kind.most} are accepted" in message


def test_steps_that_the_trace_has_not() -> None:
    for path, route in ROUTES.items():
        for name in ("steps", "steps2"):
            for value in ("3", "2-9") if name in route.parameters else ():
                message = refusal(client(), path, {**right(path), name: value})
                assert f"Parameter {name}: " in message, path


@pytest.mark.parametrize(
    ("path", "changed", "status"),
    [
        ("/trace/file", {"t0": "1"}, 400),
        ("/trace/file", {"t1": "1"}, 400),
        ("/trace/file", {"t0": "5", "t1": "5"}, 400),
        ("/callers", {"shapes": "[[1]]"}, 404),
    ],
)
def test_values_that_do_not_go_together(path: str, changed: dict[str, str], status: int) -> None:
    response = client().get(path, query_string=right(path, **changed))
    assert response.status_code == status
    assert error_of(response).error.message


def test_states_of_a_trace(caplog: pytest.LogCaptureFixture) -> None:
    def ask(path: str, run: str) -> tuple[int, wire.ErrorBody]:
        response = client().get(url(path, f"run={run}&worker=w0&span=1"))
        return response.status_code, error_of(response).error

    for path in OF_A_TRACE:
        status, found = ask(path, "slow")
        assert (status, found.code, found.progress) == (202, "not_ready", 0.25), path
        status, found = ask(path, "broken")
        assert (status, found.code, found.progress) == (409, "import_failed", None), path
        status, found = ask(path, "nobody")
        assert (status, found.code) == (404, "not_found"), path
        caplog.clear()
        with caplog.at_level(logging.ERROR):
            status, found = ask(path, "bug")
        assert (status, found.code) == (500, "internal"), path
        assert "/secret" not in found.message + found.hint
        assert "/secret/place: something else" in caplog.text, path


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_only_reading_is_offered(method: str) -> None:
    for path in [*ROUTES, "/static/index.js", "/", "/nothing"]:
        response = client().open(path, method=method)
        assert response.status_code == 405, path
        assert response.headers["Allow"] == "GET, HEAD"
        assert error_of(response).error.code == "method_not_allowed"


@pytest.mark.parametrize(
    "route", ["/nothing", "/runs/more", "/trace/file/x", "/static", "/%2e%2e/etc/passwd"]
)
def test_unknown_routes(route: str) -> None:
    response = client().get(route)
    assert response.status_code == 404
    assert error_of(response).error.code == "not_found"


def test_a_slash_at_the_end_changes_nothing() -> None:
    assert client().get(f"/steps/?{WHERE}").data == client().get(f"/steps?{WHERE}").data


def test_every_reply_is_safe_to_sniff_and_to_cache(asked: Client) -> None:
    for path in ROUTES:
        for query in (WHERE, "run=nobody&worker=w0&span=1"):
            response = asked.get(url(path, query))
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            kept = path in timeline_asked.OF_A_CONTENT and response.status_code == 200
            allowed = (IMMUTABLE,) if kept else ("no-cache", "no-store")
            assert response.headers["Cache-Control"] in allowed, path
            assert response.headers.get("Content-Type"), path


def test_head(asked: Client) -> None:
    for path in set(ROUTES) - {*OF_A_FILE, *OF_MEMORY}:
        response = asked.head(url(path))
        assert (response.status_code, response.data) == (200, b""), path


HOSTILE = [
    "run",
    "w0",
    "1",
    "../..",
    "<script>",
    "%00",
    "'\"",
    "0-1",
    "name",
    TIMELINE_ID,
    "0",
    "7",
]
VALUES = st.one_of(
    st.text(max_size=40),
    st.integers(-(1 << 65), 1 << 65).map(str),
    st.sampled_from([*HOSTILE, "0,1", "gemm", "launch", "next", "(", "\ud800", "\x00", "-"]),
)
ASKED = client(timeline_asked.catalogue())


@examples(300)
@given(path=st.sampled_from([*ROUTES]), data=st.data(), rightly=st.booleans())
def test_no_parameter_breaks_the_server(path: str, data: st.DataObject, rightly: bool) -> None:
    names = [entry.name for entry, _ in ROUTES[path].entries()]
    few = st.sampled_from([*names, "unknown"])
    changed = data.draw(st.dictionaries(few, VALUES, max_size=3 if rightly else 8))
    query = {**(right(path) if rightly else {}), **changed}
    response = ASKED.get(
        path, query_string={k: v.encode("utf-8", "surrogatepass") for k, v in query.items()}
    )
    assert response.status_code in (200, 202, 400, 404, 409, 502), body(response)[:300]
    if response.status_code != 200:
        assert error_of(response).error.message


def test_long_values_are_refused_and_not_repeated() -> None:
    response = client().get(f"/overview?run={'x' * 5000}&worker=w0&span=1")
    assert response.status_code == 400
    assert len(body(response)) < 500


def test_the_plugin_apps_are_the_same_routes_the_one_that_records_and_catch_the_rest() -> None:
    apps = Application(WrittenCatalogue(), Settings()).plugin_apps()  # type: ignore[arg-type]
    others = {"/static/index.js", "/static/*", "/*"}
    assert set(ROUTES) | others == set(apps)
