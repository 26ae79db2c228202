"""What papers claim, each claim measured here and judged by its own tolerance: one module per figure or table."""
