"""Files that users give: streamed into the private folder, within a limit."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import ClientDisconnect, Request

# The largest file that is taken.
MOST_BYTES = 200 * 2**20
# The largest form.
MOST_FORM_BYTES = 4 * 2**20


class UploadError(ValueError):
    """A file that cannot be taken, with what to do about it."""


async def receive_file(request: Request, file: Path) -> None:
    """Write the body of a request to a file, which is removed if it is not complete.

    Raises
    ------
    UploadError
        If the file is too large or cannot be written.
    """
    n_bytes = 0
    try:
        with file.open("xb") as stream:
            async for block in request.stream():
                n_bytes += len(block)
                if n_bytes > MOST_BYTES:
                    raise UploadError(
                        f"A file must be at most {MOST_BYTES // 2**20} MB, but this one is larger. "
                        "Remove columns or rows that are not needed, or use the command line."
                    )
                stream.write(block)
    except ClientDisconnect:
        file.unlink(missing_ok=True)
        raise UploadError("The file did not arrive completely. Send it again.") from None
    except OSError as error:
        file.unlink(missing_ok=True)
        raise UploadError(
            f"The file must fit on the disk of this computer, got: {error.strerror}. Free some "
            "space."
        ) from None
    except UploadError:
        file.unlink(missing_ok=True)
        raise
    if n_bytes == 0:
        file.unlink()
        raise UploadError("The file must hold a table, but it is empty. Check that it was saved.")


async def read_form_body(request: Request) -> bytes:
    """Return the body of a form."""
    body = b""
    async for block in request.stream():
        body += block
        if len(body) > MOST_FORM_BYTES:
            raise UploadError("The form must be at most 4 MB. Go back and shorten its entries.")
    return body
