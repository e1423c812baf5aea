"""Forming groups under principles that are not monotone."""
