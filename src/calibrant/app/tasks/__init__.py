"""What the application does with files: the tasks of its processes, by name."""

from calibrant.app.tasks.tables import check, example, preview, report

TASKS = {
    "example": example,
    "preview": preview,
    "check": check,
    "report": report,
}
