"""The JSON schemas of this package, and validation with messages that name the place."""

import json
from functools import cache
from importlib import resources
from typing import Any

import jsonschema
import referencing

from sluice_evaluation.errors import EvaluationError


@cache
def _validator(name: str, part: str | None) -> jsonschema.Draft202012Validator:
    schema = _schema(f"{name}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    if part is not None:
        schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
    return jsonschema.Draft202012Validator(
        schema,
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
        registry=referencing.Registry(retrieve=_resource),
    )


def _schema(file: str) -> dict[str, Any]:
    return json.loads(resources.files(__package__).joinpath(file).read_text())


def _resource(file: str) -> referencing.Resource:
    """What another schema refers to by the name of its file."""
    return referencing.Resource.from_contents(_schema(file))


def violations(document: Any, name: str, part: str | None = None) -> list[str]:
    """What breaks the schema `name`, each with the path inside the document; empty when valid.

    With `part` the document is what one of the schema's definitions describes.
    """
    validator = _validator(name, part)
    errors = sorted(validator.iter_errors(document), key=lambda e: list(map(str, e.path)))
    return [f"{error.json_path}: {error.message}" for error in errors]


def validate(document: Any, name: str, source: str) -> None:
    """Raise EvaluationError naming `source` and every violation of schema `name`."""
    if found := violations(document, name):
        lines = "\n".join(f"  {line}" for line in found)
        raise EvaluationError(f"{source} does not follow {name}.schema.json:\n{lines}")
