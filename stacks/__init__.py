"""Wiring of this program: reads the configuration, builds providers, registers components, exports.

Only `load` reads `pulumi.Config`, and only `providers` builds providers.
"""
