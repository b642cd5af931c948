"""The project's own rules; each takes a path and its text, and returns what is wrong."""

import re
from collections.abc import Callable
from pathlib import Path

MAXIMUM_LINES = 400
_CODE = {".c", ".cc", ".go", ".h", ".java", ".js", ".pl", ".py", ".sh", ".sql", ".yml"}
_DATA = {"results", "patches"}
_GENERATED = Path("control/internal/gen")

_VAGUE = {"helper", "helpers", "manager", "managers", "misc", "util", "utils"}
_GIVEN = {"module_utils"}
"""Names that a framework prescribes."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_REGISTRY = re.compile(
    r"(?:https?|ftp)://[^\s/]*(?:maven|debian|pypi|pythonhosted|golang|npmjs|crates|galaxy)\S*"
)
_REGISTRY_ALLOWED = re.compile(
    r"https?://(?:www\.debian\.org/doc/|maven\.apache\.org/(?:ASSEMBLY|POM|xsd)/)"
)
# The keys of a node's root are where sshd looks for them.
_MACHINE_PATH = re.compile(r"/(?:work|root|farm)/(?!\.ssh/authorized_keys\b)\S*")

_LINK = re.compile(r"(?<!`)\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)

_VERBATIM = {".out", ".patch"}
"""What programs write: expected output, patches."""

Rule = Callable[[Path, str], list[str]]


def short(path: Path, text: str) -> list[str]:
    """Code stays below a length that can be read in one go."""
    if path.is_relative_to(_GENERATED) or path.parts[0] in _DATA:
        return []
    if not (path.suffix in _CODE or text.startswith("#!")):
        return []
    lines = text.count("\n")
    return [f"{lines} lines, over {MAXIMUM_LINES}: split it"] if lines > MAXIMUM_LINES else []


def telling_name(path: Path, _: str) -> list[str]:
    """A name says what is inside."""
    chosen = [part for part in path.parts if part not in _GIVEN]
    words = {word.lower() for part in chosen for word in _WORD.findall(part)}
    return [f"'{word}' says nothing: name what it does" for word in sorted(words & _VAGUE)]


def no_registry_host(_: Path, text: str) -> list[str]:
    """Packages come through the machine's own configuration of apt, pip, mvn and go."""
    return [
        f"{found}: use the package's name, hosts are the machine's configuration"
        for found in _REGISTRY.findall(text)
        if not _REGISTRY_ALLOWED.match(found)
    ]


def no_machine_path(_: Path, text: str) -> list[str]:
    """Nothing depends on where one machine keeps its files."""
    return [f"{found}: a path of one machine" for found in _MACHINE_PATH.findall(text)]


def tidy_whitespace(path: Path, text: str) -> list[str]:
    """No white space at line ends, one newline at the end of a file."""
    if path.suffix in _VERBATIM or path.parts[0] == "results" or not text:
        return []
    wrong = [
        f"line {number}: white space at its end"
        for number, line in enumerate(text.splitlines(), 1)
        if line != line.rstrip()
    ]
    if not text.endswith("\n") or text.endswith("\n\n"):
        wrong.append("must end in one newline")
    return wrong


def links_resolve(path: Path, text: str, exists: Callable[[Path], bool] = Path.exists) -> list[str]:
    """Relative links of a Markdown page lead to files of this checkout."""
    if path.suffix != ".md":
        return []
    targets = (target.split("#")[0] for target in _LINK.findall(_FENCE.sub("", text)))
    return [
        f"link to {target}, which is not there"
        for target in targets
        if target and ":" not in target and not exists(path.parent / target)
    ]


RULES: tuple[Rule, ...] = (
    short,
    telling_name,
    no_registry_host,
    no_machine_path,
    tidy_whitespace,
    links_resolve,
)
