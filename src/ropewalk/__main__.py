"""`python -m ropewalk`."""

from ropewalk.cli.main import run

if __name__ == "__main__":
    run()
