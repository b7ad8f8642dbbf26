"""What a user writes: one frozen pydantic model per thing in the stack file.

A name in YAML is the field is the docs. A rule inside one model is its validator; a rule that
crosses models lives in `fleet/checks`. Nothing is derived here: that is the work of `fleet/plan`.
"""
