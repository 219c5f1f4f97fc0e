"""Running joblib's tasks on a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from joblib import parallel_config

CONNECTION_TIMEOUT = 5.0
WORKER_TIMEOUT = 10.0


@contextmanager
def dask_cluster(address: str) -> Iterator[None]:
    """Send joblib's tasks to a Dask cluster.

    If a worker dies, its tasks are sent to another one.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as "tcp://host:8786".
    """
    try:
        from distributed import CancelledError, Client, KilledWorker
    except ImportError:
        raise ValueError(
            "A cluster requires Dask, which is not installed. Run: pip install 'calibrant[dask]'"
        ) from None
    try:
        asyncio.run(asyncio.wait_for(_shake_hands(address), CONNECTION_TIMEOUT))
        client = Client(address, timeout=CONNECTION_TIMEOUT)
    except Exception:  # Dask raises many types, depending on what answers at the address
        raise ConnectionError(
            "The address must be that of a Dask scheduler, such as tcp://host:8786, but no "
            f"scheduler answers at {address!r}. Start one in a checkout with: "
            "PYTHONPATH=. dask scheduler"
        ) from None
    # It would log tracebacks of errors that are reported in one line below.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client:
        try:
            # A scheduler that cannot read the tasks would keep the client waiting forever.
            client.run_on_scheduler(import_module, "experiments")
            client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
            client.run(import_module, "experiments")
        except TimeoutError:
            raise ConnectionError(
                f"The cluster must have a worker, but none joined in {WORKER_TIMEOUT:.0f} seconds. "
                f"Start one in a checkout with: PYTHONPATH=. dask worker {address}"
            ) from None
        except ImportError:
            raise ValueError(
                "The scheduler and its workers must be able to import the experiments, but one of "
                "them cannot. Start them in a checkout of the same version with: "
                f"PYTHONPATH=. dask scheduler, and PYTHONPATH=. dask worker {address}"
            ) from None
        try:
            with parallel_config(backend="dask", client=client):
                yield
        except (CancelledError, KilledWorker) as error:
            raise ConnectionError(
                f"The cluster stopped before the end: {str(error).splitlines()[0]} "
                "Repeat the command to continue; finished tasks are stored."
            ) from None


async def _shake_hands(address: str) -> None:
    """Check that a scheduler answers, since a client would wait forever for a silent server."""
    from distributed import Security
    from distributed.comm import connect

    comm = await connect(address, **Security().get_connection_args("client"))
    await comm.close()
