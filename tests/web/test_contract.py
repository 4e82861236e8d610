"""Every route, with right, missing, wrong and hostile parameters: the status, the shape, and
nothing that should not be seen.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.web import timeline_asked
from tests.web.served import TIMELINE_ID, WHERE, WrittenCatalogue, body, client, error_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views import counters_wire, diff_wire, efficiency_wire, module_wire, wire
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.routes import Routes
from torch_tb_profiler.web.timeline_host import IMMUTABLE

STEPPED: dict[str, type[wire.Wire]] = {
    "/steps": wire.StepsPayload,
    "/overview": wire.OverviewPayload,
    "/operator": wire.OperatorPayload,
    "/kernel": wire.KernelPayload,
    "/trace": wire.TracePayload,
    "/module": module_wire.ModulePayload,
    "/module/flame": module_wire.FlamePayload,
    "/diff": diff_wire.DiffPayload,
    "/efficiency": efficiency_wire.EfficiencyPayload,
    "/counters": counters_wire.CountersTablePayload,
}
OF_MEMORY = ("/memory", "/memory/curve", "/memory/blocks", "/memory/statistics", "/memory/alive")
"""All but the first answer 404 for a trace without allocator records; ``test_memory.py`` asks them
about one that has some.
"""
OF_A_TRACE = (
    *STEPPED,
    *OF_MEMORY,
    "/diff/file",
    "/distributed",
    "/findings",
    "/module/flame/file",
    "/operator/stacks",
    "/trace/file",
    *timeline_asked.TYPES,
)
OF_A_FILE = ("/trace/file", "/trace/event/args")
"""They read the trace's file again, which the written catalogue does not have."""
PLAIN: dict[str, type[wire.Wire]] = {
    "/runs": wire.RunsPayload,
    "/diagnosis": wire.DiagnosisPayload,
    "/definitions": wire.DefinitionsPayload,
}
ALL = (*OF_A_TRACE, *PLAIN)


def url(route: str, query: str = WHERE) -> str:
    more = {"name": "aten::mm"} if route == "/operator/stacks" else {}
    if route.startswith("/diff"):
        more = {"run2": "run", "worker2": "w0", "span2": "1"}
    if route in timeline_asked.TYPES:
        more = {
            k: v
            for k, v in timeline_asked.query(route).items()
            if k not in ("run", "worker", "span")
        }
    return f"{route}?{query}" + "".join(f"&{key}={value}" for key, value in more.items())


def test_this_file_knows_every_route() -> None:
    assert set(Routes(WrittenCatalogue(), Settings()).handlers) == set(ALL)


def test_every_route_is_documented(repository: Path) -> None:
    text = (repository / "docs" / "http_api.md").read_text(encoding="utf-8")
    for route in (*ALL, "/static/"):
        assert f"\n### `{route}" in text, f"docs/http_api.md has no heading for {route}"


@pytest.mark.parametrize("route", list(STEPPED))
@pytest.mark.parametrize(
    "steps",
    [
        "",
        "&steps=all",
        "&steps=0",
        "&steps=0-2",
        "&steps=1-1",
        "&skip_cold=1",
        "&steps=all&skip_cold=0",
    ],
)
def test_payloads_have_the_declared_shape(route: str, steps: str) -> None:
    response = client().get(url(route) + steps)
    assert response.status_code == 200
    msgspec.json.decode(body(response), type=STEPPED[route], strict=True)
    declared = {f.encode_name for f in msgspec.structs.fields(STEPPED[route])}
    assert set(json.loads(body(response))) == declared


@pytest.mark.parametrize("route", list(PLAIN))
def test_catalogue_payloads_have_the_declared_shape(route: str) -> None:
    response = client().get(route)
    assert response.status_code == 200
    msgspec.json.decode(body(response), type=PLAIN[route], strict=True)
    assert b"/secret" not in body(response)


def test_groups() -> None:
    for group in ("name", "shape", "stack"):
        assert (
            json.loads(body(client().get(url("/operator") + f"&group={group}")))["group"] == group
        )
    for group in ("name", "properties"):
        assert json.loads(body(client().get(url("/kernel") + f"&group={group}")))["group"] == group
    stacks = json.loads(body(client().get(url("/operator/stacks"))))
    assert len(stacks["stacks"]) == 2


def test_rescan() -> None:
    catalogue = WrittenCatalogue()
    assert client(catalogue).get("/runs").status_code == 200
    assert catalogue.rescans == 0
    assert client(catalogue).get("/runs?rescan=1").status_code == 200
    assert catalogue.rescans == 1


@pytest.mark.parametrize("route", OF_A_TRACE)
@pytest.mark.parametrize("missing", ["run", "worker", "span"])
def test_a_missing_parameter_is_named(route: str, missing: str) -> None:
    query = "&".join(part for part in WHERE.split("&") if not part.startswith(missing))
    response = client().get(url(route, query))
    assert response.status_code == 400
    assert error_of(response).error.message == f"Parameter {missing} is missing."


@pytest.mark.parametrize("route", list(STEPPED))
@pytest.mark.parametrize(
    "wrong",
    [
        "steps=x",
        "steps=-1",
        "steps=1-",
        "steps=1.5",
        "steps=3",
        "steps=2-9",
        "steps=2-1",
        "steps=99999999999999999999",
        "steps=٣",
        "steps=0&steps=1",
        "skip_cold=yes",
        "skip_cold=2",
        "steps=0%00",
        "skip_cold=",
    ],
)
def test_wrong_steps(route: str, wrong: str) -> None:
    response = client().get(url(route) + "&" + wrong)
    assert response.status_code == 400
    found = error_of(response).error
    assert found.code == "bad_request"
    assert wrong.split("=")[0] in found.message


@pytest.mark.parametrize(
    ("route", "wrong", "status"),
    [
        ("/operator", "group=everything", 400),
        ("/operator", "group=", 400),
        ("/kernel", "group=shape", 400),
        ("/module/flame", "tree=everything", 400),
        ("/module/flame/file", "format=pdf", 400),
        ("/module/flame/file", "metric=all", 400),
        ("/runs", "rescan=maybe", 400),
        ("/trace/file", "t0=1", 400),
        ("/trace/file", "t1=1", 400),
        ("/trace/file", "t0=5&t1=5", 400),
        ("/trace/file", "t0=-5&t1=5", 400),
        ("/trace/file", "t0=a&t1=5", 400),
        ("/trace/file", "t0=1e3&t1=5e3", 400),
        ("/trace/file", "t0=0&t1=99999999999999999999", 400),
        ("/operator/stacks", "shapes=[[1]]", 404),
        ("/operator/stacks", "name=again", 400),
    ],
)
def test_wrong_values(route: str, wrong: str, status: int) -> None:
    response = client().get(url(route) + "&" + wrong)
    assert response.status_code == status
    assert error_of(response).error.message


def test_an_operator_needs_its_name() -> None:
    response = client().get(f"/operator/stacks?{WHERE}")
    assert response.status_code == 400
    assert "name" in error_of(response).error.message


@pytest.mark.parametrize("route", OF_A_TRACE)
def test_states_of_a_trace(route: str, caplog: pytest.LogCaptureFixture) -> None:
    def ask(run: str) -> tuple[int, wire.ErrorBody]:
        response = client().get(url(route, f"run={run}&worker=w0&span=1"))
        return response.status_code, error_of(response).error

    status, found = ask("slow")
    assert (status, found.code, found.progress) == (202, "not_ready", 0.25)
    status, found = ask("broken")
    assert (status, found.code, found.progress) == (409, "import_failed", None)
    status, found = ask("nobody")
    assert (status, found.code) == (404, "not_found")
    with caplog.at_level(logging.ERROR):
        status, found = ask("bug")
    assert (status, found.code) == (500, "internal")
    assert "/secret" not in found.message + found.hint
    assert "/secret/place: something else" in caplog.text


@pytest.mark.parametrize("route", [*ALL, "/static/index.js", "/", "/nothing"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_only_reading_is_offered(route: str, method: str) -> None:
    response = client().open(route, method=method)
    assert response.status_code == 405
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


@pytest.mark.parametrize("route", ALL)
def test_every_reply_is_safe_to_sniff_and_to_cache(route: str) -> None:
    for query in (WHERE, "run=nobody&worker=w0&span=1"):
        response = client(timeline_asked.catalogue()).get(url(route, query))
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        kept = route in timeline_asked.OF_A_CONTENT and response.status_code == 200
        assert response.headers["Cache-Control"] in (
            (IMMUTABLE,) if kept else ("no-cache", "no-store")
        )
        assert response.headers.get("Content-Type")


@pytest.mark.parametrize("route", [r for r in ALL if r not in (*OF_A_FILE, *OF_MEMORY[1:])])
def test_head(route: str) -> None:
    response = client(timeline_asked.catalogue()).head(url(route))
    assert (response.status_code, response.data) == (200, b"")


@examples(150)
@given(
    route=st.sampled_from(ALL),
    query=st.dictionaries(
        st.sampled_from(
            [
                "run",
                "worker",
                "span",
                "steps",
                "skip_cold",
                "group",
                "name",
                "shapes",
                "t0",
                "t1",
                "rescan",
                "id",
                "level",
                "k",
                "lanes",
                "event",
                "q",
                "re",
                "series",
                "n",
                "kinds",
                "cap",
                "after",
                "first",
                "device",
                "t",
            ]
        ),
        st.one_of(
            st.text(max_size=40),
            st.sampled_from(
                [
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
            ),
        ),
    ),
)
def test_no_parameter_breaks_the_server(route: str, query: dict[str, str]) -> None:
    response = client().get(route, query_string=query)
    assert response.status_code in (200, 202, 400, 404, 409, 502)
    if response.status_code != 200:
        assert error_of(response).error.message


def test_long_values_are_refused_and_not_repeated() -> None:
    response = client().get(f"/overview?run={'x' * 5000}&worker=w0&span=1")
    assert response.status_code == 400
    assert len(body(response)) < 500


def test_the_plugin_apps_are_the_same_routes_and_catch_the_rest() -> None:
    apps = Application(WrittenCatalogue(), Settings()).plugin_apps()
    assert set(ALL) | {"/static/index.js", "/static/*", "/*"} == set(apps)
