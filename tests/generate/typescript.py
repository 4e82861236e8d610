"""``fe/src/api/types.gen.ts``: the wire types of ``views/`` that requests send and routes answer with, as
TypeScript; ``fe/src/testing/tables.json``: what the server tells the page of the declared tables, for tests.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any, Literal, get_args, get_origin

import msgspec.inspect as inspect
from msgspec.json import schema_components

from torch_tb_profiler import views
from torch_tb_profiler.store.display import TEXTS, DisplayColumn, DisplaySpec
from torch_tb_profiler.views.definitions import definitions_payload
from torch_tb_profiler.views.display_wire import nullable
from torch_tb_profiler.views.wire import ErrorPayload, Wire, to_json
from torch_tb_profiler.web.route_table import ROUTES

MODULES = tuple(
    import_module(found.name)
    for found in pkgutil.walk_packages(views.__path__, f"{views.__name__}.")
)

HEADER = """\
// Generated from torch_tb_profiler/views/ by `python -m tests.generate --write`. Do not edit.
// Times are integer nanoseconds, sizes integer bytes, shares fractions of 1, unknown is null. Knowledge: 0 no, 1 yes, 2 unknown.
"""


def typescript() -> str:
    """The generated file: a type per alias of literals, an interface per wire type, as declared."""
    aliases = _literal_aliases()
    parts = [HEADER]
    parts += [
        f"export type {name} = {' | '.join(_literal(v) for v in values)};\n"
        for values, name in aliases.items()
    ]
    classes = _wire_types()
    parts += [_interface(cls, aliases) for cls in classes]
    declared = _declared(classes)
    parts += [_table_interface(spec) for spec in declared]
    names = " | ".join(_literal(spec.name) for spec in declared)
    return "\n".join([*parts, f"/** The declared tables. */\nexport type TableName = {names};\n"])


def tables() -> str:
    """The text of the page's declared tables for its tests: a line per column."""
    shown = [
        f'{{"name": "{table.name}", "columns": [\n'
        + ",\n".join(to_json(column).decode() for column in table.columns)
        + "\n]}"
        for table in definitions_payload(tuple(_answers())).tables
    ]
    return "[\n" + ",\n".join(shown) + "\n]\n"


def _declared(classes: list[type[Wire]]) -> list[DisplaySpec]:
    """The declared tables that the wire types hold, each once."""
    fields = [field for cls in classes for field in _fields(cls)]
    specs = [spec for field in fields if (spec := _table(field.type)) is not None]
    return list({spec.name: spec for spec in specs}.values())


def _table(kind: inspect.Type) -> DisplaySpec | None:
    spec = (kind.extra or {}).get("table") if isinstance(kind, inspect.Metadata) else None
    return spec if isinstance(spec, DisplaySpec) else None


def _fields(cls: type) -> tuple[inspect.Field, ...]:
    described = inspect.type_info(cls)
    assert isinstance(described, inspect.StructType)
    return described.fields


def _literal_aliases() -> dict[tuple[Any, ...], str]:
    """Values of the ``Literal`` aliases and their names; values are sorted as msgspec sorts them."""
    aliases = {
        name: value
        for module in MODULES
        for name, value in vars(module).items()
        if get_origin(value) is Literal
    }
    return {tuple(sorted(get_args(value), key=str)): name for name, value in aliases.items()}


def _answers() -> list[type]:
    return [route.answers for route in ROUTES.values() if issubclass(route.answers, Wire)]


def _wire_types() -> list[type[Wire]]:
    """The wire types that are sent, and those within them, module by module in order of declaration."""
    _, sent = schema_components([*_answers(), ErrorPayload])
    return [
        value
        for module in MODULES
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and issubclass(value, Wire)
        and value.__name__ in sent
    ]


def _interface(cls: type[Wire], aliases: dict[tuple[Any, ...], str]) -> str:
    comment = " ".join((cls.__doc__ or "").replace("``", "`").split())
    lines = [f"  {field.encode_name}: {_type(field.type, aliases)};" for field in _fields(cls)]
    return "\n".join([f"/** {comment} */", f"export interface {cls.__name__} {{", *lines, "}", ""])


def _type(kind: inspect.Type, aliases: dict[tuple[Any, ...], str]) -> str:
    simple: dict[type[inspect.Type], str] = {
        inspect.StrType: "string",
        inspect.IntType: "number",
        inspect.FloatType: "number",
        inspect.BoolType: "boolean",
        inspect.NoneType: "null",
        inspect.AnyType: "unknown",
    }
    if (spec := _table(kind)) is not None:
        return _type_name(spec)
    if type(kind) in simple:
        return simple[type(kind)]
    if isinstance(kind, inspect.StructType):
        return kind.cls.__name__
    if isinstance(kind, inspect.LiteralType):
        return aliases.get(tuple(sorted(kind.values, key=str))) or " | ".join(
            _literal(v) for v in kind.values
        )
    if isinstance(kind, inspect.UnionType):
        return " | ".join(_type(part, aliases) for part in kind.types)
    if isinstance(kind, inspect.ListType):
        item = _type(kind.item_type, aliases)
        return f"({item})[]" if " | " in item else f"{item}[]"
    if isinstance(kind, inspect.DictType):
        key, value = (_type(part, aliases) for part in (kind.key_type, kind.value_type))
        return f"Readonly<Record<{key}, {value}>>"
    raise TypeError(f"no TypeScript for {kind!r}; add it to tests/generate/typescript.py")


def _literal(value: Any) -> str:
    return (
        '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
        if isinstance(value, str)
        else str(value)
    )


def _type_name(spec: DisplaySpec) -> str:
    """Name of its TypeScript interface: ``OperatorsTable``."""
    return "".join(word.capitalize() for word in spec.name.split("_")) + "Table"


def _table_interface(spec: DisplaySpec) -> str:
    """The TypeScript interface of its columns."""
    lines = [
        f"  {column.name}: {_column_type(spec, column)};" for column in spec.columns if column.page
    ]
    doc = spec.doc.replace("``", "`")
    return "\n".join([f"/** {doc} */", f"export interface {_type_name(spec)} {{", *lines, "}", ""])


def _column_type(spec: DisplaySpec, column: DisplayColumn) -> str:
    named = {**dict.fromkeys(TEXTS, "string"), "texts": "string[]", "flag": "boolean"}
    item = named.get(column.kind, "number")
    return f"({item} | null)[]" if nullable(spec, column) else f"{item}[]"
