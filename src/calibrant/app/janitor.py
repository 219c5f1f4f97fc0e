"""A process that removes the folder of the application when the application is gone.

It waits for the end of its standard input, which the application holds open. Thus the folder is
removed even if the application was killed.
"""

from __future__ import annotations

import shutil
import signal
import sys
import time
from pathlib import Path

# Workers that are still ending may write once more.
SECONDS_BETWEEN_TRIES = 0.2
MOST_TRIES = 50


def remove_folder(folder: Path) -> None:
    """Remove a folder, again and again until no worker writes to it any more."""
    for _ in range(MOST_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(SECONDS_BETWEEN_TRIES)
        if not folder.exists():
            return


if __name__ == "__main__":
    # Ctrl-C in a terminal is for the application.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.buffer.read()
    remove_folder(Path(sys.argv[1]))
