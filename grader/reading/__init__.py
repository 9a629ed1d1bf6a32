"""What can be understood of a submission without running it."""
