"""Rules of a stack that one model alone cannot check, and everything that is a warning or a note.

Each rule is a function decorated with `check`. It reads the stack and its plan, whose
objects the components register, and yields findings. Rules inside one model are in
`fleet.config`.
"""
