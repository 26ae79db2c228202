"""What is decided, apart from who carries it out: one folder per protocol, pure."""
