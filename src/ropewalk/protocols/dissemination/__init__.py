"""Getting events to all who follow one of their topics, once."""
