"""Judges of a stack: one function per rule, each yielding findings. They change nothing.

A rule inside one model is the model's own (`fleet.config`); here is what crosses models, judged on
the very objects that components register.
"""
