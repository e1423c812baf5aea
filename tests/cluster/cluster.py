"""A Spark cluster on this machine: a master and workers, each a process that can be killed.

It is Spark's own standalone cluster, as pip installs it: executors are processes of their own, talk
over sockets (on the loopback device only), and when one dies, what it had computed is gone.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from wideberth.engines.spark.session import _ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Result = TypeVar("Result")
HOST = "127.0.0.1"
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Registering worker ")
_SECONDS = 60


@dataclass
class Process:
    """One of Spark's daemons, leader of a process group, which its executors belong to."""

    name: str
    log: Path
    popen: subprocess.Popen[bytes]

    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def kill(self) -> None:
        """End it and whatever it has started, without giving it time for anything."""
        with suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()


@dataclass
class Cluster:
    """A master with its workers, all of them processes of ours."""

    folder: Path  # where everything is: logs, shuffled rows, events
    url: str = ""
    master: Process | None = None
    workers: list[Process] = field(default_factory=list)

    @property
    def signal(self) -> Path:
        """The file by which a task tells that it is time to kill a worker."""
        return self.folder / "signal"

    def start(self, workers: int = 2, memory: str = "1g") -> None:
        """Start everything, and wait until all workers are known to the master."""
        self.master = self._run("master", "master.Master", "--host", HOST, "--port", "0")
        self.url = self._wait(lambda: _MASTER.findall(self.master.said()))[0]
        for number in range(workers):
            name = f"worker{number}"
            work = str(self.folder / name)
            limits = ("--cores", "1", "--memory", memory, "--work-dir", work)
            self.workers.append(self._run(name, "worker.Worker", "--host", HOST, *limits, self.url))
        self._wait(lambda: len(_REGISTERED.findall(self.master.said())) >= workers)

    def kill_worker(self, number: int = 0) -> None:
        """Kill a worker together with its executors and their Python processes."""
        self.workers[number].kill()

    def stop(self) -> None:
        """Kill whatever was started, and see it gone."""
        for process in self._all():
            process.kill()
        until = time.monotonic() + _SECONDS
        while self.alive() and time.monotonic() < until:
            time.sleep(0.1)

    def alive(self) -> list[str]:
        """Return the command lines of all processes that belong to a group of ours."""
        groups = {process.popen.pid for process in self._all()}
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                if int(group) in groups and state not in "ZX":  # dead, but not yet buried
                    found.append((entry / "cmdline").read_text().replace("\0", " "))
        return found

    def _all(self) -> list[Process]:
        return [*self.workers, *([self.master] if self.master else [])]

    @contextmanager
    def session(self, settings: dict[str, str] | None = None) -> Iterator[SparkSession]:
        """Open a session on the cluster, with a log of events in the folder `events`."""
        from pyspark.sql import SparkSession

        (self.folder / "events").mkdir(exist_ok=True)
        conf = {
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.executor.memory": "768m",
            "spark.executor.cores": "1",
            # No task begins before all executors are there, so that each of them has a share.
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "OFF",
            "spark.sql.shuffle.partitions": "4",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.dir": f"file://{self.folder / 'events'}",
            # What an executor has written dies with it, as if the machine were another one.
            "spark.shuffle.readHostLocalDisk": "false",
            "spark.shuffle.service.enabled": "false",
        }
        builder = SparkSession.builder.master(self.url).appName("wideberth on a cluster")
        before = os.environ.get("PYSPARK_PYTHON")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        try:
            spark = builder.config(map=conf | (settings or {})).getOrCreate()
        finally:
            if before is None:
                del os.environ["PYSPARK_PYTHON"]
            else:
                os.environ["PYSPARK_PYTHON"] = before
        try:
            yield spark
        finally:
            _ended()  # and the Java process of the driver with it

    def retried_stages(self) -> list[int]:
        """Return the stages that were attempted again, by the log of events."""
        again = []
        for log in (self.folder / "events").rglob("*"):
            for line in log.read_text().splitlines() if log.is_file() else ():
                event = json.loads(line)
                if event["Event"] == "SparkListenerStageSubmitted":
                    stage = event["Stage Info"]
                    if stage["Stage Attempt ID"] > 0:
                        again.append(stage["Stage ID"])
        return again

    def lost_executors(self) -> int:
        """Return how many executors were lost, by the log of events."""
        logs = [log.read_text() for log in (self.folder / "events").rglob("*") if log.is_file()]
        return sum(log.count('"Event":"SparkListenerExecutorRemoved"') for log in logs)

    def _run(self, name: str, main: str, *arguments: str) -> Process:
        import pyspark

        spark = Path(pyspark.__file__).parent / "bin" / "spark-class"
        log = self.folder / f"{name}.log"
        environment = os.environ | {
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(self.folder / f"{name}-local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_NO_DAEMONIZE": "1",
        }
        for key in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_CONF_DIR"):
            environment.pop(key, None)
        (self.folder / "log4j2.properties").write_text(LOG4J)
        environment["SPARK_DAEMON_JAVA_OPTS"] = (
            f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"
        )
        with log.open("wb") as file:
            popen = subprocess.Popen(
                [spark, f"org.apache.spark.deploy.{main}", "--webui-port", "0", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,  # a group of its own, by which it is killed
            )
        return Process(name, log, popen)

    def _wait(self, ready: Callable[[], object]) -> object:
        until = time.monotonic() + _SECONDS
        while time.monotonic() < until:
            if found := ready():
                return found
            for process in self._all():
                if process.popen.poll() is not None:
                    raise RuntimeError(f"{process.name} ended:\n{process.said()[-2000:]}")
            time.sleep(0.2)
        raise TimeoutError(f"the cluster is not ready:\n{self.master.said()[-2000:]}")


#: What tells of workers is logged as INFO, which PySpark's own configuration leaves out.
LOG4J = """\
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""


@contextmanager
def running(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Start a cluster, and end all of its processes whatever happens."""
    cluster = Cluster(folder)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.stop()


@dataclass
class Outcome(Generic[Result]):
    """What came of a job during which a worker was killed."""

    result: Result
    seconds: float
    killed_after: float
    retried: list[int]
    lost: int


def reducing(spark: SparkSession) -> bool:
    """Tell whether a stage that reads what others have shuffled has done some tasks, not all."""
    tracker = spark.sparkContext.statusTracker()
    for number in tracker.getActiveJobsIds():
        job = tracker.getJobInfo(number)
        if job is not None and len(job.stageIds) > 1:
            last = tracker.getStageInfo(max(job.stageIds))
            if last is not None and 0 < last.numCompletedTasks < last.numTasks - 1:
                return True
    return False


def run_with_a_kill(
    cluster: Cluster,
    job: Callable[[SparkSession], Result],
    *,
    when: Callable[[SparkSession], bool] | None = None,
    worker: int = 0,
    settings: dict[str, str] | None = None,
) -> Outcome[Result]:
    """Run a job, and kill a worker with its executors in the midst of it.

    Parameters
    ----------
    cluster : Cluster
        With two workers at least; one of them is dead afterwards.
    job : callable
        Is given a session, and returns a result.
    when : callable, optional
        Is given the session every 50 ms, and says when it is time. By default as soon as there is
        the file ``cluster.signal``, which a task may make. The last stage is best, as then the
        outputs of earlier stages are lost when they are needed; see also `reducing`.
    worker : int
        Whom to kill.
    settings : dict, optional
        More of Spark's settings.
    """
    killed: list[float] = []
    over = threading.Event()
    start = time.monotonic()
    ready = when or (lambda _: cluster.signal.exists())

    def watch() -> None:
        while not over.wait(0.05):
            if ready(spark):
                cluster.kill_worker(worker)
                killed.append(time.monotonic() - start)
                return

    with cluster.session(settings) as spark:
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            result = job(spark)
        finally:
            over.set()
            watcher.join()
    if not killed:
        raise AssertionError("the job was over before it was time to kill anybody")
    seconds = time.monotonic() - start
    return Outcome(result, seconds, killed[0], cluster.retried_stages(), cluster.lost_executors())
