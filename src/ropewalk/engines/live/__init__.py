"""The live engine: the protocols' state machines on real sockets."""
