"""The boundary: everything that keeps student code in a process of its own."""
