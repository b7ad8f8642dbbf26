"""Typed Helm values: one module per chart, holding only the keys this program sets.

Each `*Values` class is frozen and knows its chart's keys, so a misspelt one is an error at
construction and not a value that Helm silently ignores. `base.to_values` turns an instance into
the dict that a Helm release takes. What does not belong here: which values to choose (that is
`fleet.plan`), chart versions and repositories (`fleet.catalog`), and anything that imports Pulumi.

The package imports none of its modules: a program loads only the charts it installs.
"""
