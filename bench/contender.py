"""contender: runs one program to its end and tells what it cost: CPU of the whole process (wait4), peak memory, peak
number of threads, I/Os done, and when its first I/O began. Used by bench.py only."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

SAMPLE_S = 0.02  # threads come and go while images are opened: 50 looks a second


class BenchError(Exception):
    pass


class Counts:
    """What a program's own report says. cpu_s: of its measured loop alone, where it tells; first_io_wall_s: Unix time."""

    def __init__(self, ios, seconds, cpu_s=None, first_io_wall_s=None):
        self.ios, self.seconds, self.cpu_s, self.first_io_wall_s = ios, seconds, cpu_s, first_io_wall_s


def cephmark_counts(text):
    result = json.loads(text)
    ios = sum(op["ios"] for vm in result["vms"] for job in vm["jobs"] for op in job["ops"].values())
    cpu = result["process_cpu"]
    return Counts(ios, result["measured_ns"] / 1e9, (cpu["user_ns"] + cpu["system_ns"]) / 1e9,
                  result["start_wall_ns"] / 1e9)


def raw_counts(text):
    document = json.loads(text)
    return Counts(document["ios"], document["seconds"], document["cpu_seconds"], document["start_wall_s"])


def sysbench_counts(text):
    return Counts(int(re.search(r"number of events: +(\d+)", text).group(1)),
                  float(re.search(r"total time: +([\d.]+)s", text).group(1)))


def rados_counts(text):
    """rados bench's own text, or ours without --compat."""
    ios = re.search(r"Total (?:reads|writes) made: +(\d+)|^([\d,]+) (?:reads|writes) of ", text, re.M)
    seconds = re.search(r"(?:Total time run: +|(?:reads|writes) of .* in )([\d.]+)", text)
    if not ios:
        raise BenchError(f"no report of rados bench: {text[-500:]}")
    return Counts(int((ios.group(1) or ios.group(2)).replace(",", "")), float(seconds.group(1)) if seconds else 1)


def fio_counts(text):
    document = json.loads(text[text.index("{"):])
    ios = sum(job[op]["total_ios"] for job in document["jobs"] for op in ("read", "write"))
    seconds = max(job[op]["runtime"] for job in document["jobs"] for op in ("read", "write")) / 1000
    return Counts(ios, seconds)


def first_io_of_fio_logs(prefix):
    """Unix time of the earliest completion in the logs that write_bw_log and log_unix_epoch made."""
    starts = [int(path.read_text().split(",", 1)[0]) / 1000
              for path in prefix.parent.glob(prefix.name + "_bw.*.log") if path.stat().st_size]
    return min(starts) if starts else None


class Sample:
    """One finished process."""

    def __init__(self, argv, environment, parse, limit_s):
        self.argv = argv
        self.threads = self.threads_now = 0
        self.start_wall_s = time.time()
        start = time.monotonic()
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(argv, stdout=out, stderr=subprocess.PIPE, env=environment,
                                       stdin=subprocess.DEVNULL)
            self.errors = []
            helpers = [threading.Thread(target=self._count_threads, args=(process.pid,)),
                       threading.Thread(target=self._read_errors, args=(process.stderr,))]
            self._ended = threading.Event()
            for helper in helpers:
                helper.start()
            try:
                status, usage = self._wait(process.pid, start + limit_s)
            finally:
                self._ended.set()
                process.returncode = 0  # it is reaped: Popen must not wait for it
                for helper in helpers:
                    helper.join()
            out.seek(0)
            text = out.read().decode()
        self.wall_s = time.monotonic() - start
        code = os.waitstatus_to_exitcode(status)
        if code:
            raise BenchError(f"{' '.join(argv)} ended with {code}:\n{''.join(self.errors)[-2000:]}{text[-500:]}")
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.rss_mib = usage.ru_maxrss / 1024
        self.counts = parse(text)

    def _wait(self, pid, deadline):
        """Reaps the process. Ends it first when it is late or we are told to stop."""
        try:
            while time.monotonic() < deadline:
                done, status, usage = os.wait4(pid, os.WNOHANG)
                if done:
                    return status, usage
                time.sleep(0.01)
        except KeyboardInterrupt:
            self._end(pid)
            raise
        self._end(pid)
        raise BenchError(f"{' '.join(self.argv)} did not end in time:\n{''.join(self.errors)[-2000:]}")

    @staticmethod
    def _end(pid):
        for number, grace_s in ((signal.SIGINT, 20), (signal.SIGKILL, 20)):
            os.kill(pid, number)
            until = time.monotonic() + grace_s
            while time.monotonic() < until:
                if os.wait4(pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.05)

    def _count_threads(self, pid):
        while not self._ended.wait(SAMPLE_S):
            try:
                self.threads_now = len(os.listdir(f"/proc/{pid}/task"))
                self.threads = max(self.threads, self.threads_now)
            except OSError:
                break
        self.threads_now = 0

    def _read_errors(self, stream):
        with stream:
            for line in iter(stream.readline, b""):
                self.errors.append(line.decode(errors="replace"))

    @property
    def cpu_per_io_ns(self):
        return self.cpu_s / self.counts.ios * 1e9 if self.counts.ios else float("nan")

    @property
    def loop_cpu_per_io_ns(self):
        """Without connecting, opening and reporting; None where the program does not tell."""
        if self.counts.cpu_s is None or not self.counts.ios:
            return None
        return self.counts.cpu_s / self.counts.ios * 1e9

    @property
    def end_s(self):
        """From the end of its load to the end of the process: closing and telling."""
        return None if self.wait_s is None else self.wall_s - self.wait_s - self.counts.seconds

    @property
    def wait_s(self):
        """From the start of the process to its first I/O."""
        at = self.counts.first_io_wall_s
        return None if at is None else at - self.start_wall_s


def instructions(argv, environment, limit_s):
    """How many instructions the process takes, by valgrind --tool=callgrind."""
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory) / "callgrind.out"
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *argv], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=limit_s, check=False)
    found = re.search(r"Collected : (\d+)", done.stdout)
    if done.returncode or not found:
        raise BenchError(f"valgrind {' '.join(argv)} ended with {done.returncode}:\n{done.stdout[-1500:]}")
    return int(found.group(1))


class FleetSample:
    """Several processes side by side, as one: memory and threads are summed, the wait is until the last one's first
    I/O. `argvs_and_firsts`: pairs of a command and a function that tells its first I/O's Unix time afterwards."""

    def __init__(self, argvs_and_firsts, environment, parse, limit_s):
        self.start_wall_s = time.time()
        samples = [None] * len(argvs_and_firsts)
        live = {}

        def run(i):
            sample = Sample.__new__(Sample)
            live[i] = sample
            try:
                sample.__init__(argvs_and_firsts[i][0], environment, parse, limit_s)
                samples[i] = sample
            except BenchError as error:
                self.error = error
        self.error, self.threads = None, 0
        runners = [threading.Thread(target=run, args=(i,)) for i in range(len(samples))]
        for runner in runners:
            runner.start()
        while any(runner.is_alive() for runner in runners):
            self.threads = max(self.threads, sum(getattr(s, "threads_now", 0) for s in list(live.values())))
            time.sleep(SAMPLE_S)
        if self.error:
            raise self.error
        self.rss_mib = sum(s.rss_mib for s in samples)
        self.cpu_per_io_ns = sum(s.cpu_s for s in samples) / max(1, sum(s.counts.ios for s in samples)) * 1e9
        self.loop_cpu_per_io_ns = None
        self.counts = Counts(sum(s.counts.ios for s in samples), max(s.counts.seconds for s in samples))
        firsts = [first() for _, first in argvs_and_firsts]
        self.wait_s = None if None in firsts else max(firsts) - self.start_wall_s
