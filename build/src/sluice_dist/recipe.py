"""recipe.toml: how one store is built and tested, as data and scripts of its own folder."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sluice_dist.errors import DistError
from sluice_dist.release import Release, files_sha256


@dataclass(frozen=True)
class Suite:
    """A suite of tests, and what it can be run on."""

    name: str
    description: str
    # False: it tests the plug-in, so there is nothing to run on a stock build.
    stock: bool = True
    # The suite that this one is a part of; `all` runs only the whole.
    part_of: str = ""


@dataclass(frozen=True)
class Recipe:
    """The content of a store's recipe.toml, with the scripts that it names."""

    folder: Path
    compile_script: str
    plugin_script: str
    test_script: str
    test_user: str
    distribution_folder: str = ""
    suites: dict[str, Suite] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)
    # The program whose version decides what is built.
    compiler: str = "cc"
    # Files of the recipe that its scripts read.
    inputs: tuple[str, ...] = ()

    @classmethod
    def load(cls, release: Release) -> "Recipe":
        """Read the recipe of RELEASE's store; raises DistError if it is missing or incomplete."""
        file = release.layout.recipe(release.store) / "recipe.toml"
        try:
            content = tomllib.loads(file.read_text())
        except FileNotFoundError:
            advice = "write it; build/stores/postgres/recipe.toml is an example"
            raise DistError(f"{file} is missing", advice) from None
        except tomllib.TOMLDecodeError as error:
            raise DistError(f"{file} is not TOML: {error}", "correct that line") from None
        try:
            return cls._from(file.parent, content)
        except (KeyError, TypeError) as error:
            raise DistError(f"{file}: {error} is missing or wrong", "add it") from None

    @classmethod
    def _from(cls, folder: Path, content: dict[str, Any]) -> "Recipe":
        test = content.get("test", {})
        return cls(
            folder,
            _script_of_build(content),
            content.get("plugin", {}).get("script", ""),
            test.get("script", ""),
            test.get("user", "nobody"),
            content.get("distribution", {}).get("folder", ""),
            {name: Suite(name, **suite) for name, suite in test.get("suites", {}).items()},
            test.get("modes", {}),
            content.get("compile", {}).get("compiler", "cc"),
            tuple(content.get("compile", {}).get("inputs", ())),
        )

    def build_sha256(self) -> str:
        """Hash over what decides how the store and its plug-in are compiled."""
        names = filter(None, (self.compile_script, self.plugin_script, *self.inputs))
        return files_sha256(self.folder, [self.folder / name for name in names])


def _script_of_build(content: dict[str, Any]) -> str:
    """Name of the script that compiles; none where a distribution of artifacts is the whole."""
    if "compile" not in content and "distribution" in content:
        return ""
    return content["compile"]["script"]
