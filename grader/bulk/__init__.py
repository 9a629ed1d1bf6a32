"""Grading many: what arrives, the plan, the engine, and the folder OUT."""
