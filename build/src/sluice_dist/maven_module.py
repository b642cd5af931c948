"""Lays the sources artifact of a Maven module out as upstream's repository has the module."""

import calendar
import os
import shutil
import zipfile
from pathlib import Path, PurePosixPath

from sluice_dist.errors import DistError
from sluice_dist.upstream import SourceArchive


def lay_out(jar: Path, archive: SourceArchive, destination: Path) -> None:
    """Write the files of JAR below DESTINATION, with their paths in upstream's repository.

    Time stamps are those of the artifact, so that the same artifact gives the same commit.
    """
    module = destination / archive.module
    with zipfile.ZipFile(jar) as opened:
        for member in opened.infolist():
            place = place_in_module(member.filename, archive.generated)
            if place is None or member.is_dir():
                continue
            target = module / place
            target.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(member) as content, target.open("wb") as file:
                shutil.copyfileobj(content, file)
            seconds = calendar.timegm((*member.date_time, 0, 0, 0))
            os.utime(target, (seconds, seconds))
    if not module.is_dir():
        raise DistError(f"{jar.name} holds no source files", "pin the artifact 'sources'")


def place_in_module(name: str, generated: tuple[str, ...]) -> str | None:
    """Give the path of the file NAME below its module; None if upstream's build made it.

    What is in a folder of GENERATED was made too, but is needed to compile: it is kept apart.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise DistError(f"the artifact has a file {name}", "do not use it: it is not upstream's")
    if path.parts[:1] == ("META-INF",) and path.parts[1:2] != ("services",):
        return None
    if any(path.is_relative_to(folder) for folder in generated):
        return f"target/generated-sources/{path}"
    return f"src/main/{'java' if path.suffix == '.java' else 'resources'}/{path}"
