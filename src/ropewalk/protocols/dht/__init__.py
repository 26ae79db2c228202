"""Rings that nodes find each other on: Chord, whose ids are spread evenly, and OSCAR, whose ids may lie anyhow."""
