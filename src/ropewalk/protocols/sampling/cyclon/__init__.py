"""Cyclon: a small, fresh, random table of addresses, kept by swapping with the oldest entry."""
