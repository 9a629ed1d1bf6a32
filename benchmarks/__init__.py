"""What grading costs, as ratios of two things that run in turn; `run.py` is the command."""
