"""Runners of both forges: the job that they run, GitHub scale sets, GitLab runner managers."""
