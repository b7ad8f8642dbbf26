"""Wiring of this program: configuration in, providers built, components registered, outputs out.

The only reader of `pulumi.Config` is `load`, the only builder of providers is `providers`.
"""
