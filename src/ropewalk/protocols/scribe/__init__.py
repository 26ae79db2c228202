"""Scribe (Castro et al.): a tree for each topic, of the ways of its followers to a node that the topic's hash names."""
