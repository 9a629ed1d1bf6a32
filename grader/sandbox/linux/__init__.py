"""What the kernel of Linux can keep a worker from doing, asked for by own system calls."""
