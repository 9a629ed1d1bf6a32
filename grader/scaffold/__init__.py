"""New assignments: the smallest one that verifies, or a copy of another under a new id."""
