"""Run the command line: ``python -m experiments``."""

from experiments.commands import app

if __name__ == "__main__":
    app(prog_name="python -m experiments")
