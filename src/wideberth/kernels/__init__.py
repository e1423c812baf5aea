"""Compiled inner loops: arrays in, arrays out, no Python objects.

Nothing is imported here, for numba takes its time: whoever needs a kernel imports its module. Every
kernel has a slow twin: `wideberth.algorithms.mondrian.rule_splitter` walks through the same
decisions with the rules themselves, and must find the same partition.
"""
