"""The JSON Schema of a stack file, with which editors complete and check the YAML.

`python -m fleet.config.schema` prints it, and `--write` writes `stack.schema.json`, to which the
first line of each stack file refers. It covers the keys, types and single values; `fleet.load`
checks what several fields must agree on.
Sources: https://json-schema.org/draft/2020-12 and, for the keys around ours,
https://www.pulumi.com/docs/iac/concepts/projects/stack-settings-file/
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from fleet.config.stack import Stack

FILE = Path(__file__).parents[2] / "stack.schema.json"
KEY = "gpu-runners:stack"


def stack_file_schema() -> dict[str, Any]:
    """Return the schema of a whole stack file, with Pulumi's own keys."""
    stack = Stack.model_json_schema(schema_generator=_Schema)
    definitions = stack.pop("$defs")
    text = {"type": "string"}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "Stack file of gpu-runners",
        "type": "object",
        "additionalProperties": False,
        "required": ["config"],
        "properties": {
            "config": {
                "type": "object",
                "required": [KEY],
                "properties": {KEY: {"$ref": "#/$defs/Stack"}},
                "propertyNames": {"pattern": "^[^:]+:"},
                "patternProperties": {
                    "^gpu-runners:(?!stack$)": {
                        "description": "secret, set by `pulumi config set --secret`",
                        "anyOf": [
                            text,
                            {
                                "type": "object",
                                "additionalProperties": False,
                                "required": ["secure"],
                                "properties": {"secure": text},
                            },
                        ],
                    }
                },
            },
            "secretsprovider": text,
            "encryptedkey": text,
            "encryptionsalt": text,
            "environment": {"type": ["array", "object"]},
        },
        "$defs": {"Stack": stack, **definitions},
    }


class _Schema(GenerateJsonSchema):
    """Describe the YAML instead of the model: no null, and only scalar defaults."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if not isinstance(described.get("default"), str | int):
            described.pop("default", None)
        return described

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        described = super().dict_schema(schema)
        # `patternProperties` would accept every name that does not match the pattern.
        for pattern, value in described.pop("patternProperties", {}).items():
            described["additionalProperties"] = value
            described["propertyNames"] = {
                **described.get("propertyNames", {}),
                "pattern": pattern,
            }
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def text() -> str:
    """Return the text of `stack.schema.json`."""
    return json.dumps(stack_file_schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the schema, or write it."""
    parser = argparse.ArgumentParser(prog="python -m fleet.config.schema", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    if parser.parse_args(arguments).write:
        FILE.write_text(text(), encoding="utf-8")
    else:
        print(text(), end="")


if __name__ == "__main__":
    main()
