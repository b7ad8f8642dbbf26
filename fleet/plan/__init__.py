"""What the spec means, derived once: nodes, pods, Helm values, config.toml, names, tags.

Components only register what stands here, and checks judge the same objects, so there is no second
description of anything. Every class is frozen; a pool or a lane has one description.
"""
