"""The `grade` command; imports neither torch nor pytest."""
