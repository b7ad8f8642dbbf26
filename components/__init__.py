"""Reusable ComponentResources: each registers what `fleet.plan` says and decides nothing.

Never here: `pulumi.Config`, a provider, a chart version, anything of `stacks/`. Arguments are
frozen dataclasses of plan (plain) and wiring (`pulumi.Input`); `after` lists what must exist
first, because a component's own `depends_on` does not reach its children.
"""
