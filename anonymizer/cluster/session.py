"""Which cluster is meant, and how far is it? A session of Spark or of Spark Connect, and its stages as progress."""

import os
import re
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress

_ADDRESS = re.compile(r"local(\[[0-9*,]+\])?|local-cluster\[\d+,\d+,\d+\]|spark://\S+|sc://\S+|k8s://\S+|yarn")
_GROUP = "shoal"
_POLL_SECONDS = 0.3
_CONNECT_PORT = 15002
_ANSWER_SECONDS = 10
_RETRIES = 6  # of a call to Spark Connect, in about a minute; by itself it would try for ten
_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
_IN_UTC = {"spark.sql.session.timeZone": "UTC"}
# Results are collected whatever their size, and nothing is printed into our own progress. A server of Spark Connect
# has its own word on that.
_SETTINGS = {
    **_IN_UTC,
    "spark.driver.maxResultSize": "0",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}
T = TypeVar("T")


class Session:
    """A session of a cluster, whichever protocol it speaks."""

    def __init__(self, spark: Any, progress: Progress) -> None:
        self.spark, self._progress = spark, progress
        self.is_connect = type(spark).__module__.startswith("pyspark.sql.connect")
        self._kept: list[Any] = []

    def kept(self, table: Any) -> Any:
        """A DataFrame whose rows stay with the workers, as far as they have room, because they are needed again."""
        self._kept.append(table.persist())
        return self._kept[-1]

    def close(self) -> None:
        """Let the workers forget what they kept."""
        for table in self._kept:
            table.unpersist()

    def run(self, action: Callable[[], T], stage: str) -> T:
        """What an action gives; while it runs, the tasks of its stages are told. Who cancels ends them."""
        self._progress(0, 1, stage)
        return self._run_connected(action, stage) if self.is_connect else self._run_watched(action, stage)

    def _run_watched(self, action: Callable[[], T], stage: str) -> T:
        context = self.spark.sparkContext

        def work() -> T:
            context.setJobGroup(_GROUP, stage)  # of this thread alone
            return action()

        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(work)
            try:
                while not running.done():
                    time.sleep(_POLL_SECONDS)
                    self._tell(context.statusTracker(), stage)
            except BaseException:
                context.cancelJobGroup(_GROUP)
                raise
            return running.result()

    def _tell(self, tracker: Any, stage: str) -> None:
        found = [tracker.getStageInfo(id) for id in tracker.getActiveStageIds()]
        known = [info for info in found if info is not None]
        if known:
            self._progress(sum(i.numCompletedTasks for i in known), sum(i.numTasks for i in known), stage)

    def _run_connected(self, action: Callable[[], T], stage: str) -> T:
        """Spark Connect has no tracker: it tells its stages to a handler."""

        def tell(stages: Any, **_: object) -> None:
            known = list(stages or ())
            if known:
                self._progress(sum(s.num_completed_tasks for s in known), sum(s.num_tasks for s in known), stage)

        self.spark.registerProgressHandler(tell)
        try:
            return action()
        except _errors():
            raise
        except BaseException:
            self.spark.interruptAll()
            raise
        finally:
            self.spark.removeProgressHandler(tell)


@contextmanager
def opened(address: str, progress: Progress) -> Iterator[Session]:
    """A session of the cluster at an address, which is stopped at the end unless it was there before."""
    _check(address)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # we use none of it
    spark, is_ours = _started(address)
    session = Session(spark, progress)
    try:
        yield session
        session.close()
    except _errors() as error:
        raise InputError(f"the cluster at {address} failed: {_first_line(error)}") from error
    finally:
        if is_ours:
            spark.stop()


def _check(address: str) -> None:
    if re.search(r"[;/]token=", address):
        raise InputError(f"--cluster holds a token, which everybody on this machine could see: set {_TOKEN} instead")
    if not _ADDRESS.fullmatch(address):
        raise InputError(
            f"--cluster {address[:80]}: expected local[2], spark://host:7077, sc://host:15002, yarn or k8s://..."
        )


def _started(address: str) -> tuple[Any, bool]:
    """A session, and whether it was started here: that of a notebook, say, goes on."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputError("--cluster needs Spark: install shoal-search[spark], and Java 17 for all but sc://") from error
    if (running := SparkSession.getActiveSession()) is not None:
        return running, False
    try:
        builder = SparkSession.builder.appName("shoal")
        return (_connected if address.startswith("sc://") else _launched)(builder, address), True
    except InputError:
        raise
    except Exception as error:  # Java is missing, nobody answers, another session runs: pyspark has a type for each
        raise InputError(f"no session of the cluster at {address}: {_first_line(error)}") from error


def _launched(builder: Any, address: str) -> Any:
    # Spark would run whatever `python3` is first on the path, where Shoal need not be installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    return builder.master(address).getOrCreate()


def _connected(builder: Any, address: str) -> Any:
    """A session of Spark Connect, whose server says which Python its workers run."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    _need_answer(address)
    for name, value in _IN_UTC.items():
        builder = builder.config(name, value)
    spark = builder.remote(address).getOrCreate()
    spark.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    return spark


def _need_answer(address: str) -> None:
    """Spark Connect would try for ten minutes where nobody is; behind a proxy, nothing is known before."""
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or _CONNECT_PORT
    if any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES):
        return
    try:
        socket.create_connection((host, port), _ANSWER_SECONDS).close()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"nobody answers at {host}:{port} ({reason}): is a Spark Connect server there?") from error


def _errors() -> tuple[type[Exception], ...]:
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:  # the thin client of Spark Connect speaks with no Java
        return (PySparkException,)
    return (PySparkException, Py4JError)


def _first_line(error: BaseException) -> str:
    """The last line of a traceback of a worker says what happened there, else the first line of the message."""
    if "No module named 'shoal'" in str(error):
        return "the Python of its workers has no Shoal: install it there, and name that Python by PYSPARK_PYTHON"
    lines = [line.strip(": ") for line in str(error).splitlines() if line.strip(": ")]
    told = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Exit)\b.*: ", line)]
    return (told or lines or [type(error).__name__])[0][:300]
