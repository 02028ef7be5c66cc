#!/usr/bin/env python3
"""./dev bench: cephmark, the peer program and a bare loop on the library, interleaved in one run, as ratios of CPU time
per I/O. CPU is the whole process's (wait4), so library and kernel helper threads count. Machines are noisy: every figure
is the median of the runs, with the spread beside it; only ratios inside one run mean anything.

  bench.py --build build/release [--runs 5] [--seconds 4] [--only null,psync,...] [--write docs/benchmarks.md]
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Sample:
    """One finished process: its CPU and wall seconds, I/Os, peak memory and threads."""

    def __init__(self, argv, environment, count_ios):
        start = time.monotonic()
        out = tempfile.TemporaryFile()
        err = tempfile.TemporaryFile()
        process = subprocess.Popen(argv, stdout=out, stderr=err, env=environment, stdin=subprocess.DEVNULL)
        self.threads = self.rss_kib = 0
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(process.pid, stop))
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        stop.set()
        watcher.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, errors = out.read().decode(), err.read().decode()
        if process.returncode:
            sys.exit(f"bench: {' '.join(argv)} ended with {process.returncode}:\n{errors[-2000:]}{text[-500:]}")
        self.wall_s = time.monotonic() - start
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.ios, self.io_s = count_ios(text)
        self.rss_kib = max(self.rss_kib, 0)

    def _watch(self, pid, stop):
        while not stop.wait(0.1):
            try:
                status = pathlib.Path(f"/proc/{pid}/task/{pid}/status").read_text()
            except OSError:
                return
            for line in status.splitlines():
                if line.startswith("Threads:"):
                    self.threads = max(self.threads, int(line.split()[1]))
                elif line.startswith("VmHWM:"):
                    self.rss_kib = max(self.rss_kib, int(line.split()[1]))

    @property
    def cpu_per_io_ns(self):
        return self.cpu_s / self.ios * 1e9 if self.ios else float("nan")

    @property
    def overhead_s(self):
        return self.wall_s - self.io_s


def fio_ios(text):
    document = json.loads(text[text.index("{"):])
    ios = sum(job[op]["total_ios"] for job in document["jobs"] for op in ("read", "write"))
    seconds = max(job[op]["runtime"] for job in document["jobs"] for op in ("read", "write")) / 1000
    return ios, seconds


def cephmark_ios(text):
    result = json.loads(text)
    ios = sum(op["ios"] for vm in result["vms"] for job in vm["jobs"] for op in job["ops"].values())
    return ios, result["measured_ns"] / 1e9


def raw_ios(text):
    document = json.loads(text)
    return document["ios"], document["seconds"]


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.build = pathlib.Path(arguments.build).resolve()
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cephmark-bench-"))
        self.environment = dict(os.environ)
        self.environment.pop("CEPH_ARGS", None)
        self.environment["XDG_DATA_HOME"] = str(self.scratch / "data")
        self.environment["XDG_STATE_HOME"] = str(self.scratch / "state")
        self.rows = []
        self.cephmark_binary = str(self.build / "src" / "cephmark")

    # The three kinds of contender ---------------------------------------------------------------------------------
    def cephmark(self, job, *extra):
        path = self.scratch / "job.fio"
        path.write_text(job)
        argv = [self.cephmark_binary, "run", str(path), "--quiet", "--no-guard", "--no-keep", "--output", "json",
                *extra]
        return lambda: Sample(argv, self.environment, cephmark_ios)

    def fio(self, job):
        path = self.scratch / f"fio-{len(list(self.scratch.iterdir()))}.fio"
        path.write_text(job)
        argv = ["fio", "--output-format=json", str(path)]
        return lambda: Sample(argv, self.environment, fio_ios)

    def raw(self, *words):
        argv = [str(self.build / "bench" / "raw_loop"), *map(str, words)]
        return lambda: Sample(argv, self.environment, raw_ios)

    # -----------------------------------------------------------------------------------------------------------------
    def compare(self, name, contenders):
        """contenders: {label: start}; runs them in turn, keeps the median CPU per I/O of each."""
        samples = {label: [] for label in contenders}
        for turn in range(self.arguments.runs):
            for label, start in contenders.items():
                samples[label].append(start())
                last = samples[label][-1]
                print(f"  {name}: {label} {turn + 1}/{self.arguments.runs}: {last.cpu_per_io_ns:,.0f} ns CPU per I/O, "
                      f"{last.ios / max(last.io_s, 1e-9):,.0f} IOPS", file=sys.stderr)
        return samples

    def cpu_row(self, name, target, contenders):
        samples = self.compare(name, contenders)
        ours = samples["cephmark"]
        for label, theirs in samples.items():
            if label == "cephmark":
                continue
            ratios = [a.cpu_per_io_ns / b.cpu_per_io_ns for a, b in zip(ours, theirs)]
            self.rows.append((name, label, self.spread([s.cpu_per_io_ns for s in ours]),
                              self.spread([s.cpu_per_io_ns for s in theirs]),
                              f"{statistics.median(ratios):.3f} ({min(ratios):.3f}-{max(ratios):.3f})",
                              target.get(label, "reported")))

    @staticmethod
    def spread(values):
        def show(value):
            return f"{value:,.0f} ns" if value < 10_000 else f"{value / 1000:,.1f} us"
        return f"{show(statistics.median(values))} ({show(min(values))}-{show(max(values))})"

    def seconds(self):
        return self.arguments.seconds

    def null(self):
        job = (f"[n]\nioengine=null\nrw=randread\nbs=4k\niodepth=128\nsize=64g\ntime_based\n"
               f"runtime={self.seconds()}\n")
        self.cpu_row("null, 4k randread, depth 128", {"fio": "<= 0.067"},
                     {"cephmark": self.cephmark(job), "fio": self.fio(job)})

    def files(self):
        directory = pathlib.Path("/dev/shm") / self.scratch.name
        directory.mkdir()
        path = directory / "file"
        with open(path, "wb") as handle:
            for _ in range(1024):
                handle.write(os.urandom(1 << 20))
        try:
            yield path
        finally:
            shutil.rmtree(directory)

    def psync(self):
        for path in self.files():
            job = (f"[p]\nioengine=psync\nfilename={path}\nrw=randread\nbs=4k\nsize=1g\ntime_based\n"
                   f"norandommap\nrandrepeat=0\nruntime={self.seconds()}\n")
            self.cpu_row("psync, 4k randread, tmpfs", {"bare pread loop": "<= 1.07"},
                         {"cephmark": self.cephmark(job), "bare pread loop": self.raw("pread", path, self.seconds()),
                          "fio": self.fio(job)})

    def aio(self):
        for path in self.files():
            for engine in ("io_uring", "libaio"):
                job = (f"[a]\nioengine={engine}\nfilename={path}\nrw=randread\nbs=4k\nsize=1g\niodepth=32\n"
                       f"time_based\nruntime={self.seconds()}\n")
                self.cpu_row(f"{engine}, 4k randread, depth 32, tmpfs", {"fio": "<= 0.85"},
                             {"cephmark": self.cephmark(job), "fio": self.fio(job)})

    # On the lab ------------------------------------------------------------------------------------------------------
    def need_lab(self):
        if hasattr(self, "lab"):
            return
        self.lab = self.scratch / "lab"
        print("  starting a cluster", file=sys.stderr)
        subprocess.run([self.cephmark_binary, "lab", "up", "--dir", str(self.lab), "--osd-size", "8G"], check=True,
                       env=self.environment, stdout=subprocess.DEVNULL)
        for line in subprocess.run([self.cephmark_binary, "lab", "env", "--dir", str(self.lab)], check=True,
                                   env=self.environment, capture_output=True, text=True).stdout.splitlines():
            match = re.match(r"export (\w+)='?([^']*)'?$", line)
            if match:
                self.environment[match.group(1)] = match.group(2)

    def volumes(self, *words):
        subprocess.run([self.cephmark_binary, "volumes", *words], check=True, env=self.environment,
                       stdout=subprocess.DEVNULL)

    def rbd_job(self, rw, image="{{.Name}}", depth=32, extra=""):
        return (f"[r]\nioengine=rbd\nclientname=admin\npool=rbd\nrbdname={image}\nrw={rw}\nbs=4k\niodepth={depth}\n"
                f"direct=1\ntime_based\nruntime={self.seconds()}\n{extra}")

    def rbd(self):
        self.need_lab()
        self.volumes("create", "bench-0", "--size", "1G")
        self.volumes("prefill", "bench-0")
        for rw, raw in (("randread", "rbd-read"), ("randwrite", "rbd-write")):
            job = self.rbd_job(rw, "bench-0")
            self.cpu_row(f"rbd, 4k {rw}, depth 32, cache off", {"bare librbd loop": "<= 1.08"},
                         {"cephmark": self.cephmark(job), "bare librbd loop":
                          self.raw(raw, "rbd", "bench-0", 32, self.seconds()), "fio": self.fio(job)})
        self.volumes("remove", "bench-0")

    def fleet(self):
        self.need_lab()
        count = 32
        self.volumes("create", "--vms", str(count), "--vm-name", "fleet-{{.Index}}", "--size", "64M")
        job = self.rbd_job("randread", depth=4)
        sections = "".join(f"[v{i}]\nrbdname=fleet-{i}\n" for i in range(count))
        head = job.replace("[r]", "[global]").replace("rbdname={{.Name}}\n", "")
        names = ("--vms", str(count), "--vm-name", "fleet-{{.Index}}")
        samples = self.compare("32 VMs", {
            "cephmark": self.cephmark(job, *names, "--connections", "1"),
            "cephmark, 16 contexts": self.cephmark(job, *names, "--connections", "16"),
            "fio": self.fio(head + sections)})
        for label, runs in samples.items():
            middle = {key: statistics.median([getattr(run, key) for run in runs])
                      for key in ("rss_kib", "threads", "overhead_s")}
            self.rows.append(("32 VMs, one image each, depth 4", label, f"{middle['rss_kib'] / 1024:,.0f} MiB",
                              f"{middle['threads']:.0f} threads", f"{middle['overhead_s']:.1f} s beside the I/O", ""))
        self.volumes("remove", "--vms", str(count), "--vm-name", "fleet-{{.Index}}")

    def thousand(self):
        self.need_lab()
        count = self.arguments.vms
        names = ("--vms", str(count), "--vm-name", "k-{{.Index}}")
        self.volumes("create", *names, "--size", "4M")
        job = self.rbd_job("randread", depth=1)
        sample = self.cephmark(job, *names, "--connections", "1")()
        self.rows.append((f"{count} VMs, one image each, depth 1, one connection", "cephmark",
                          f"{sample.rss_kib / 1024:,.0f} MiB", f"{sample.threads} threads",
                          f"{sample.overhead_s:.1f} s beside the I/O", "<= 600 MiB, <= 60 threads, open <= 10 s"))
        self.volumes("remove", *names)

    def finish(self):
        if hasattr(self, "lab"):
            subprocess.run([self.cephmark_binary, "lab", "down", "--dir", str(self.lab)], env=self.environment,
                           stdout=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def table(self):
        head = ("work", "against", "cephmark", "the other", "ratio (min-max)", "target")
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines)


WORKS = ("null", "psync", "aio", "rbd", "fleet", "thousand")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--vms", type=int, default=1000)
    parser.add_argument("--only", default=",".join(WORKS))
    parser.add_argument("--write", help="also put the table into this file")
    arguments = parser.parse_args()
    unknown = set(arguments.only.split(",")) - set(WORKS)
    if unknown:
        sys.exit(f"bench: no such work: {', '.join(sorted(unknown))}; there are {', '.join(WORKS)}")
    bench = Bench(arguments)
    try:
        for work in arguments.only.split(","):
            print(f"== {work}", file=sys.stderr)
            getattr(bench, work)()
    finally:
        bench.finish()
    print(bench.table())
    if arguments.write:
        pathlib.Path(arguments.write).write_text(
            "# Benchmarks\n\nMade by `./dev bench`: runs interleaved, medians with the spread; CPU is the whole "
            "process's per I/O.\n\n" + bench.table() + "\n")


if __name__ == "__main__":
    main()
