"""How do tests get a Spark cluster? Its standalone mode or Spark Connect on loopback, each part a process of ours."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pyspark

_HOME = Path(pyspark.__file__).parent
_PACKAGE = "org.apache.spark.deploy"
_SECONDS = 120  # in which a process says that it is there
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ALONE = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": JAVA,
}


class StandaloneCluster:
    """A master and its workers, one core each."""

    def __init__(self, folder: Path, workers: int = 2, memory: str = "1g") -> None:
        self._folder, self._memory = folder, memory
        port, self._page = _free_port(), _free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._processes = [
            self._start("master.Master", "--port", str(port), "--webui-port", str(self._page)),
        ]
        self.workers = [self.add_worker() for _ in range(workers)]
        self.wait_for(workers)

    def add_worker(self) -> int:
        """Start one more worker; its process id."""
        options = ("--webui-port", "0", "--cores", "1", "--memory", self._memory, "--work-dir", str(self._folder))
        process = self._start("worker.Worker", *options, self.url)
        self._processes.append(process)
        return process.pid

    def kill_worker(self, pid: int) -> None:
        """End a worker and its executor without a word, as when its machine is lost."""
        os.killpg(pid, signal.SIGKILL)
        self.workers.remove(pid)

    def alive(self) -> int:
        """How many workers the master knows to be alive."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=10) as answer:
            return answer.read().count(b'"state" : "ALIVE"')

    def wait_for(self, workers: int) -> None:
        """Until so many workers are there."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            with suppress(OSError):
                if self.alive() == workers:
                    return
            time.sleep(0.2)
        said = "\n".join(path.read_text()[-2000:] for path in sorted(self._folder.glob("*.log")))
        raise TimeoutError(f"the cluster has not {workers} workers after {_SECONDS} seconds:\n{said}")

    def stop(self) -> None:
        """End every process that was started here, workers first."""
        for process in reversed(self._processes):
            _end(process)

    def _start(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        command = [str(_HOME / "bin" / "spark-class"), f"{_PACKAGE}.{name}", "--host", "127.0.0.1", *options]
        number = len(list(self._folder.glob("*.log")))
        return _started(command, self._folder / f"{number}-{name}.log")


class ConnectServer:
    """A server of Spark Connect with two threads, to which others speak without any Java."""

    def __init__(self, folder: Path) -> None:
        port = _free_port()
        self.address = f"sc://127.0.0.1:{port}"
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
        }
        command = [str(_HOME / "bin" / "spark-submit"), "--master", "local[2]", "--driver-java-options", JAVA]
        command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        self._said = folder / "connect.log"
        self._process = _started(command, self._said, SPARK_DAEMON_MEMORY="600m")
        self._wait(port)

    def _wait(self, port: int) -> None:
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.2)
        self.stop()
        raise TimeoutError(f"no Spark Connect within {_SECONDS} seconds:\n{self._said.read_text()[-2000:]}")

    def stop(self) -> None:
        _end(self._process)


def _started(command: list[str], said: Path, **settings: str) -> subprocess.Popen[bytes]:
    around = {**os.environ, **_ALONE, **settings}
    with said.open("wb") as file:
        return subprocess.Popen(command, env=around, stdout=file, stderr=file, start_new_session=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=_SECONDS)


def _free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])
