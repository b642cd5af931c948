"""Debian packaging from templates: `debian/` common to all stores, overlaid by the store's own.

A file's name, in a folder too, may begin with NAME, which stands for the package; its text may
hold placeholders @KEY@. `@SOURCE_FILE:PATH@` is a file of the pinned upstream archive, indented
for a Debian control field, so that licence texts come from upstream and not from a copy.
"""

import re
from collections.abc import Callable
from pathlib import Path

from sluice_dist.errors import DistError

PLACEHOLDER = re.compile(r"@([A-Z_]+)(?::([^@\s]+))?@")
PLUGIN_PREFIX = "NAME-plugin"
PLUGIN_CONTROL = "control.plugin"
NOT_RENDERED = {PLUGIN_CONTROL, "exclude"}


def render_folder(
    templates: list[Path],
    target: Path,
    values: dict[str, str],
    source_file: Callable[[str], str],
    with_plugin: bool,
) -> None:
    """Write `target` from the template folders; of two files of one name the later folder's wins.

    `source_file` gives the text of a file of the upstream archive. Without plug-in its files and
    its part of `control` are left out. Raises DistError for a placeholder that has no value.
    """
    for name, file in template_files(templates).items():
        if not with_plugin and name.startswith(PLUGIN_PREFIX):
            continue
        if name in NOT_RENDERED:
            continue
        text = file.read_text()
        if name == "control" and with_plugin:
            text += plugin_control(templates)
        written = target / named(Path(name), values["NAME"])
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(render(text, values, source_file, str(file)))
        written.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)


def template_files(templates: list[Path]) -> dict[str, Path]:
    """Templates by their path below the folder, sorted."""
    found = {
        str(file.relative_to(folder)): file
        for folder in templates
        for file in folder.rglob("*")
        if file.is_file()
    }
    return dict(sorted(found.items()))


def plugin_control(templates: list[Path]) -> str:
    """The plug-in's paragraph of debian/control; empty if the store has none."""
    file = template_files(templates).get(PLUGIN_CONTROL)
    return file.read_text() if file else ""


def render(text: str, values: dict[str, str], source_file: Callable[[str], str], where: str) -> str:
    """Replace the placeholders of `text`; `where` is for the error."""

    def value(match: re.Match[str]) -> str:
        key, argument = match.groups()
        if key == "SOURCE_FILE" and argument:
            return indented(source_file(argument))
        if key not in values or argument:
            raise DistError(
                f"{where}: unknown placeholder {match[0]}",
                f"use one of: {', '.join(sorted(values))}, SOURCE_FILE:PATH",
            )
        return values[key]

    return PLACEHOLDER.sub(value, text)


def indented(text: str) -> str:
    """Text as the continuation lines of a Debian control field."""
    lines = (line.rstrip() for line in text.strip().splitlines())
    return "\n".join(f" {line}" if line else " ." for line in lines)


def named(path: Path, package: str) -> Path:
    """PATH with the package's name where its last part begins with NAME."""
    if not path.name.startswith("NAME"):
        return path
    return path.with_name(package + path.name.removeprefix("NAME"))
