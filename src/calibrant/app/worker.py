"""A process that does the work of the application: a task per line in, messages per line out.

The application sends tasks as lines of JSON to standard input and reads messages as lines of JSON
from standard output. The process ends when its input does, also if the application was killed.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from calibrant.app.reporting import Reporter

UNEXPECTED = (
    "Something went wrong inside calibrant, and this step was not finished. The terminal in which "
    "calibrant runs shows the details. Please report them, and try other settings."
)
NO_MEMORY = (
    "The work must fit into the memory of this computer, but it does not. Close other programs, "
    "or use fewer rows or fewer models."
)


def run_task(line: str, send: Callable[[dict[str, Any]], None]) -> None:
    """Run a task and send its result, or an error in words for the user."""
    from calibrant.app.tasks import TASKS

    content = json.loads(line)
    folder = Path(content["folder"])
    try:
        os.chdir(content["arguments"].get("place", folder))
        result = TASKS[content["task"]](folder, content["arguments"], Reporter(send))
        send({"result": result})
    except (ValueError, OSError, ImportError) as error:
        text = " ".join([str(error), *getattr(error, "__notes__", ())])
        # Files are named as the user knows them, without the private folder.
        places = re.compile(re.escape(str(folder.parent)) + r"(?:[/\\][0-9a-f]+)*[/\\]")
        send({"error": places.sub("", text)})
    except MemoryError:
        send({"error": NO_MEMORY})
    except Exception:
        traceback.print_exc()
        send({"error": UNEXPECTED})


def main() -> None:
    """Run tasks until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the application
    with suppress(OSError):  # if memory runs out, Linux should end this process first
        Path("/proc/self/oom_score_adj").write_text("500")
    messages = _take_standard_output()

    def send(message: dict[str, Any]) -> None:
        messages.write(json.dumps(message) + "\n")
        messages.flush()

    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read_lines, args=(lines,), daemon=True).start()
    import calibrant.app.tasks  # noqa: F401  (while there is nothing to do)

    send({"ready": True})
    while True:
        run_task(lines.get(), send)


def _read_lines(lines: queue.SimpleQueue[str]) -> None:
    """Pass on lines of the input, and end the process with it: nobody would read the result."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _take_standard_output() -> TextIO:
    """Return standard output, and let everything that is printed go to standard error."""
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return messages


if __name__ == "__main__":
    main()
