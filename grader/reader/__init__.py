"""Reads what students hand in, in a process that is bounded and may die."""
