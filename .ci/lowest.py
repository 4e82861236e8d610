"""The lowest versions that a wheel of this project allows its dependencies to have, as constraints for pip:
``python .ci/lowest.py WHEEL EXTRA… > constraints.txt``. With ``--extras`` the names of the extras that users install.
"""

from __future__ import annotations

import re
import sys
import zipfile
from email.parser import HeaderParser

FOR_DEVELOPERS = ("test", "docs")
REQUIREMENT = re.compile(
    r"""(?P<name>[\w.-]+)(\[.*?\])?[^;]*?>=(?P<lowest>[^,;]+)[^;]*(;.*extra == "(?P<extra>[\w-]+)")?"""
)


def headers(wheel: str, name: str) -> list[str]:
    """Values of a header of a wheel's metadata."""
    with zipfile.ZipFile(wheel) as opened:
        (path,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(opened.read(path).decode())
    return [str(value) for value in metadata.get_all(name, [])]


def constraints(listed: list[str], extras: list[str]) -> list[str]:
    """``numpy<3,>=1.26`` → ``numpy==1.26``, of the package itself and of some extras; a requirement without a lower
    bound ends the program.
    """
    found = set()
    for each in listed:
        if (match := REQUIREMENT.match(each)) is None:
            raise SystemExit(f"{each} has no lower bound")
        if match["extra"] is None or match["extra"] in extras:
            found.add(f"{match['name']}=={match['lowest'].strip()}")
    return sorted(found)


def main(wheel: str, extras: list[str]) -> None:
    """Prints one a line."""
    if extras == ["--extras"]:
        listed = headers(wheel, "Provides-Extra")
        print("\n".join(each for each in listed if not each.startswith(FOR_DEVELOPERS)))
    else:
        print("\n".join(constraints(headers(wheel, "Requires-Dist"), extras)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
