"""Numbers computed from tables, one file per measure; blind to the engine and the protocol that wrote them."""
