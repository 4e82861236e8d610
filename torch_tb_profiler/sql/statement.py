"""What a statement is and names, read from DuckDB's own syntax tree before anything is run.

DuckDB is locked as well (``engine.py``); refusing here says in our words what is allowed, and tells which tables to make.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import msgspec

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sql.tables import SCHEMAS, SqlTable, find, tables
from torch_tb_profiler.tables.registry import REMOVED
from torch_tb_profiler.units import format_count, format_names

LONGEST = 20_000
"""Characters of a statement."""
_DEEP = regex(r"(?:[-+~!@([]\s*){300}")
"""What DuckDB's parsers take seconds or minutes for, to refuse it then."""
_CATALOG = ("", "memory")
_ROWS_MADE = {
    "generate_series",
    "json_each",
    "json_tree",
    "range",
    "repeat",
    "repeat_row",
    "unnest",
}
"""Functions that may stand for a table; others read files, settings or memory."""
_REFUSED = {
    "current_database",
    "current_setting",
    "getenv",
    "getvariable",
    "nextval",
    "currval",
    "write_log",
}
_SAME_UNIT = {"any_value", "arg_max", "avg", "first", "max", "median", "min", "stddev", "sum"}
_ALLOWED = "One SELECT (or WITH, DESCRIBE, SUMMARIZE) over the tables of the trace is."
_LISTED = "The tables are listed beside the statement and by `torch-tb-profiler sql --list`."


class Statement(msgspec.Struct, frozen=True):
    """``tables``: that it names. ``summed``: column of the result → the column whose sum, mean or the like it is."""

    tables: list[SqlTable]
    summed: dict[str, str]


def read(connection: Any, text: str) -> Statement:
    """What one SELECT names.

    Raises:
        BadRequest: it is something else, cannot be parsed, or names what there is not.
    """
    tree = _parsed(connection, text)
    nodes = list(_nodes(tree))
    own = {str(node["key"]).lower() for node in nodes if "key" in node and "value" in node}
    own |= {str(node["cte_name"]).lower() for node in nodes if node.get("cte_name")}
    found: dict[tuple[str, str], SqlTable] = {}
    for node in nodes:
        kind = node.get("type")
        if kind == "BASE_TABLE":
            table = _table(node, own)
            if table is not None:
                found[table.schema, table.spec.name] = table
        elif kind == "TABLE_FUNCTION":
            _check_function(node["function"]["function_name"], _ROWS_MADE)
        elif kind == "SHOW_REF" and node.get("query") is None:
            raise BadRequest(
                "SHOW is not answered.", f"{_LISTED} DESCRIBE NAME lists the columns of one."
            )
        elif node.get("class") == "FUNCTION" and node["function_name"] in _REFUSED:
            _check_function(node["function_name"], set())
    return Statement(list(found.values()), _summed(tree["statements"][0]["node"]))


def _parsed(connection: Any, text: str) -> Any:
    if not text.strip():
        raise BadRequest("The statement is empty.", _ALLOWED)
    if len(text) > LONGEST:
        raise BadRequest(
            f"The statement has {format_count(len(text))} characters.",
            f"At most {format_count(LONGEST)} are allowed.",
        )
    try:
        if _DEEP.search(text):
            raise RecursionError
        text.encode()
        answer = connection.execute("select json_serialize_sql(?)", [text]).fetchall()[0][0]
        tree = json.loads(answer)
    except RecursionError:
        raise BadRequest("The statement is nested too deeply.", "Simplify it.") from None
    except UnicodeEncodeError:
        raise BadRequest("The statement is no text in UTF-8.", "Write it anew.") from None
    if tree.get("error"):
        said = str(tree.get("error_message", ""))
        if tree.get("error_type") == "not implemented":
            raise BadRequest("Only reading is allowed: this statement is no SELECT.", _ALLOWED)
        place = tree.get("position")
        where = f" at character {int(place) + 1}" if str(place).isdigit() else ""
        raise BadRequest(f"The statement cannot be read{where}: {said}.", _ALLOWED)
    if len(tree["statements"]) != 1:
        raise BadRequest(f"{len(tree['statements'])} statements are given, expected one.", _ALLOWED)
    return tree


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of the tree, however deep."""
    rest = [tree]
    while rest:
        node = rest.pop()
        if isinstance(node, dict):
            yield node
            rest.extend(node.values())
        elif isinstance(node, list):
            rest.extend(node)


def _summed(select: dict[str, Any]) -> dict[str, str]:
    """From the outermost SELECT, ``sum(dur) as total`` → ``total: dur``; ``dur as length`` likewise."""
    found: dict[str, str] = {}
    for item in select.get("select_list", ()):
        inner = item
        given = item.get("arguments") or item.get("children")  # since 2.0, and before
        if item.get("function_name", "") in _SAME_UNIT and given:
            inner = given[0].get("expression", given[0])
        if item.get("alias") and inner.get("class") == "COLUMN_REF":
            found[item["alias"]] = str(inner["column_names"][-1])
    return found


def _table(node: dict[str, Any], own: set[str]) -> SqlTable | None:
    """The table of a name; None for one that the statement makes itself."""
    catalog, schema, name = (
        str(node.get(f"{part}_name") or "") for part in ("catalog", "schema", "table")
    )
    if not schema and name.lower() in own:
        return None
    table = find(schema, name) if catalog in _CATALOG else None
    if table is None:
        written = ".".join(filter(None, (catalog, schema, name)))
        names = [known for _, known in tables()]
        close = list(dict.fromkeys(get_close_matches(name.lower(), names, 3)))
        like = f"There is {format_names(close)}. " if close else ""
        like = f"{was} " if (was := REMOVED.get(name.lower())) else like
        known_schema = (
            f"Schemas are {', '.join(SCHEMAS)}. " if schema and schema not in SCHEMAS else ""
        )
        raise BadRequest(f"There is no table {written}.", f"{like}{known_schema}{_LISTED}")
    return table


def _check_function(name: str, allowed: set[str]) -> None:
    if name.lower() not in allowed:
        raise BadRequest(
            f"The function {name} is not allowed: only what is in the trace can be read.", _ALLOWED
        )
