"""Overlay management: who keeps a topic's overlay connected, and how many neighbours each node has in it."""
