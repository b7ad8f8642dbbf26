"""The domain: what a fleet of GPU runners is, derived and judged in plain Python.

Nothing here imports Pulumi, reads a file or a clock, or talks to a network. Data flows one way:
`spec` (what a user writes) -> `plan` (what it means) -> `checks` (what is wrong with it).
"""
