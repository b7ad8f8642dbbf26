"""What is known: frozen tables of facts, each with the source it was taken from.

A table holds facts about the world (instance types, what a kubelet keeps back, versions that
exist, limits of names) and plain arithmetic on them. It does not hold what a user wants (`spec`),
what follows from that (`plan`), a judgement (`checks`) or a chart's values (`charts`). Nothing
here reads a file, a clock or a network: a newer fact is a reviewed change of a table.
"""
