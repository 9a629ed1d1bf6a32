"""`grade verify`: proves that an assignment accepts right answers and refuses wrong ones."""
