"""How sources read: files in parts, lines, fields; and what becomes of the rows."""
