"""Where a checkout keeps things: the only place that knows the folder names."""

import os
from dataclasses import dataclass
from pathlib import Path

from sluice_dist.errors import DistError


@dataclass(frozen=True)
class Layout:
    """The folders of one checkout of the project, and the cache that checkouts share."""

    root: Path
    cache: Path

    @classmethod
    def find(cls, root: Path | None = None) -> "Layout":
        """Take ROOT, else the checkout around the working directory, else the installed one.

        Raises DistError when ROOT is given and is not a checkout of the project.
        """
        if root is not None and not _is_checkout(root):
            raise DistError(
                f"{root} is not a checkout of the project (it has no patches/ and build/)",
                "give --root the folder that holds patches/",
            )
        cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return cls(root=(root or _nearest_checkout()).resolve(), cache=Path(cache_home) / "sluice")

    @property
    def work(self) -> Path:
        """State of this checkout; may be deleted at any time."""
        return self.root / ".work"

    @property
    def patches(self) -> Path:
        """All stores' patch series."""
        return self.root / "patches"

    @property
    def archives(self) -> Path:
        """Upstream archives by plain file name, shared between checkouts."""
        return self.cache / "sources"

    @property
    def ccache(self) -> Path:
        """Compiler cache, shared between checkouts; CCACHE_DIR has precedence."""
        return Path(os.environ.get("CCACHE_DIR") or self.cache / "ccache")

    @property
    def apt(self) -> Path:
        """State of the private apt that reads Debian source packages."""
        return self.work / "apt"

    @property
    def containers(self) -> Path:
        """The container runtime that was found, and its configuration."""
        return self.work / "containers"

    @property
    def images(self) -> Path:
        """What is beside images: bills of materials and archives."""
        return self.work / "images"

    @property
    def packages(self) -> Path:
        """Debian packages."""
        return self.work / "packages"

    def recipe(self, store: str) -> Path:
        """Folder of everything that is special in building STORE."""
        return self.root / "build" / "stores" / store

    @property
    def node_recipe(self) -> Path:
        """Folder of the node image's recipe."""
        return self.root / "build" / "images" / "node"

    def upstream(self, store: str) -> Path:
        """Folder of STORE's git repository and of its worktrees."""
        return self.work / "upstream" / store


def _is_checkout(folder: Path) -> bool:
    return (folder / "patches").is_dir() and (folder / "build").is_dir()


def _nearest_checkout() -> Path:
    here = Path.cwd()
    around = next((folder for folder in (here, *here.parents) if _is_checkout(folder)), None)
    return around or Path(__file__).parents[3]
