"""Mondrian: a table is split at values of its quasi-identifiers, top down."""
