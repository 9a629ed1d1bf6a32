"""The judge: suites, comparison and outcomes, in a process that student code never enters."""
