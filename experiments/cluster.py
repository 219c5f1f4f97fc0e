"""A Dask cluster for joblib's work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from joblib import parallel_config

SECONDS_TO_ANSWER = 5.0
SECONDS_FOR_A_WORKER = 10.0


@contextmanager
def dask_cluster(address: str) -> Iterator[None]:
    """Let joblib send its work to a Dask cluster.

    A worker that dies loses nothing: Dask gives its work to another one.

    Parameters
    ----------
    address : str
        Where the scheduler listens, such as "tcp://host:8786".
    """
    try:
        from distributed import CancelledError, Client, KilledWorker
    except ImportError:
        raise ValueError(
            "A cluster needs dask, which is not installed. Run: pip install 'calibrant[dask]'"
        ) from None
    try:
        asyncio.run(asyncio.wait_for(_knock(address), SECONDS_TO_ANSWER))
        client = Client(address, timeout=SECONDS_TO_ANSWER)
    except Exception:  # Dask raises all sorts, depending on who answers in place of a scheduler
        raise ConnectionError(
            "The cluster's address must be that of a Dask scheduler, such as tcp://host:8786. "
            f"Got {address!r}, where none answers. Start one with: dask scheduler"
        ) from None
    # What it would log as a traceback, the errors below say in a line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS_FOR_A_WORKER)
            client.run(import_module, "calibrant")
        except TimeoutError:
            raise ConnectionError(
                f"The cluster must have a worker. Got none in {SECONDS_FOR_A_WORKER:.0f} seconds. "
                f"Start one with: dask worker {address}"
            ) from None
        except ImportError:
            raise ValueError(
                "The cluster's workers must have calibrant. Got one without. "
                "Install the same version there."
            ) from None
        try:
            with parallel_config(backend="dask", client=client):
                yield
        except (CancelledError, KilledWorker) as error:
            raise ConnectionError(
                f"The cluster must stay until the end. Got {str(error).splitlines()[0]!r}. "
                "Run the same again: what is stored is kept."
            ) from None


async def _knock(address: str) -> None:
    """Shake hands with a scheduler; a client would wait for a silent stranger forever."""
    from distributed import Security
    from distributed.comm import connect

    comm = await connect(address, **Security().get_connection_args("client"))
    await comm.close()
