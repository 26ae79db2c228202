"""Trees that events come down: who is whose child, and how what was lost on the way is made up for."""
