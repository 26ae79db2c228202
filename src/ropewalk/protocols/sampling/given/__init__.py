"""No overlay manager: views are handed out from a table."""
