"""Reusable ComponentResources, usable in another Pulumi program and without a stack file.

A component takes a piece of the plan, or the keywords that a stack file has for it. The functions
of `fleet` derive the plan; the component only registers it. `pulumi.Input` is for wiring (IDs,
ARNs, tokens). Whatever decides which resources exist is plain. `depends_on` lists prerequisites,
because the `depends_on` of a component's options does not reach its children.

It reads no `pulumi.Config`, builds no provider (children inherit them), names no chart version and
imports nothing of `stacks/`.
"""
