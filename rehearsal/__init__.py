"""Rehearsals of our stack files: a thin layer over `packages/pulumi-rehearsal`."""
