"""The models of a stack file: one frozen pydantic model for each map in the YAML.

YAML keys are the field names. A rule about one model is in its `rules()`; a rule about several
models is a check in `fleet/checks`. `fleet/plan.py` derives everything else.
"""
