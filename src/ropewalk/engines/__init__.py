"""What carries a protocol out. Engines are siblings that never import each other and write the same tables."""
