"""Run the command line as ``python -m calibrant``."""

from calibrant.cli import app

if __name__ == "__main__":
    app(prog_name="calibrant")
