"""A standalone cluster of two workers for all tests of Spark, and one session of it, which takes longest to start."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.spark.standalone import JAVA, StandaloneCluster

# Small logs need few tasks, and small programs of Java no second compiler.
_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.executor.memory": "600m",
    "spark.executor.extraJavaOptions": JAVA,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    started = StandaloneCluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="session")
def spark(cluster: StandaloneCluster) -> Iterator[Any]:
    """A session that `anonymizer.cluster` takes instead of starting one."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory 600m --driver-java-options '{JAVA}' pyspark-shell"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(cluster.url).appName("tests")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
