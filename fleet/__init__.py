"""The model of a fleet of GPU runners: configuration, plan and checks, in plain Python.

Nothing here imports Pulumi, reads a file or a clock, or talks to a network. Data flows one way:
`config` (the stack file) -> `plan` (what components register) -> `checks` (findings).
"""
