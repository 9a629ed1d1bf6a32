"""Other graders on the same ten tests."""
