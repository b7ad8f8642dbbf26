"""Runners inside a cluster of any cloud: ARC for GitHub, the runner chart for GitLab."""
