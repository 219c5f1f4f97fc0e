"""``python -m calibrant.cli``."""

from calibrant.cli import app

if __name__ == "__main__":
    app()
