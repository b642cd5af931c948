"""The kinds of places that a source may come from; each module here is one.

A module's name is the kind's, with `_` for `-`. It has
- `KEYS`: the keys that its [[source]] entry needs;
- `describe(place)`: one line that names the place;
- `fetch(place, archive, destination, layout)`: writes the archive to the file `destination`, or
  raises Unavailable; the caller checks the sha256;
- optionally `find_sha256(place, layout)`: the hash that a trusted index gives for the archive.
"""

import importlib
import pkgutil
from types import ModuleType
from typing import Any


class Unavailable(Exception):
    """A place does not have the archive, or cannot be reached; the text says which."""


def kinds() -> list[str]:
    """Names of the kinds of places."""
    return sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(__path__))


def kind_of(place: dict[str, Any]) -> ModuleType:
    """Give the module that knows the kind of PLACE; the kind must be one of `kinds()`."""
    return importlib.import_module(f"{__name__}.{place['kind'].replace('-', '_')}")


def place_faults(place: dict[str, Any]) -> list[str]:
    """Say what is wrong with a [[source]] entry; nothing if all is well."""
    kind = place.get("kind")
    if kind not in kinds():
        return [f"[[source]] kind '{kind}' is not known; known are: {', '.join(kinds())}"]
    keys = set(kind_of(place).KEYS)
    missing = sorted(keys - set(place))
    unknown = sorted(set(place) - keys - {"kind"})
    return [f"[[source]] of kind '{kind}' needs '{key}'" for key in missing] + [
        f"[[source]] of kind '{kind}' does not know '{key}'" for key in unknown
    ]
