"""Finding members of a topic without a server."""
