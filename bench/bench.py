#!/usr/bin/env python3
"""./dev bench: cephmark, the peer program and a bare loop on the library, interleaved in one run, as ratios of CPU time
per I/O. CPU is the whole process's (wait4), so the threads of libraries and of the kernel's workers count; against a
bare loop the measured loops alone are compared (getrusage of the whole process around them), since connecting twice
costs the same whatever is measured. Machines are noisy: every figure is the median of the runs with the spread beside
it, and only ratios inside one run mean anything. Ctrl-C ends it and takes its cluster down.

  ./dev bench [--runs 5] [--seconds 4] [--only null,psync,...] [--write docs/benchmarks.md]
"""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from contender import (BenchError, Counts, FleetSample, Sample, cephmark_counts, fio_counts, first_io_of_fio_logs,
                       instructions, rados_counts, raw_counts, sysbench_counts)
from report import Row, Table, write_document

ROOT = pathlib.Path(__file__).resolve().parent.parent


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.build = pathlib.Path(arguments.build).resolve()
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cephmark-bench-"))
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("CEPH_")}
        self.environment["XDG_DATA_HOME"] = str(self.scratch / "data")
        self.environment["XDG_STATE_HOME"] = str(self.scratch / "state")
        self.table = Table()
        self.binary = str(self.build / "src" / "cephmark")
        self.lab = None
        self.number = 0

    # The three kinds of contender: each returns a function that runs it once ---------------------------------------
    def job_file(self, text):
        self.number += 1
        path = self.scratch / f"job-{self.number}.fio"
        path.write_text(text)
        return path

    def cephmark_argv(self, job, *extra):
        return [self.binary, "run", str(self.job_file(job)), "--no-guard", "--no-keep", "--no-files", "--output",
                "json", *extra]

    def cephmark(self, job, *extra, limit_s=300):
        argv = self.cephmark_argv(job, *extra)
        return lambda: Sample(argv, self.environment, cephmark_counts, limit_s)

    def fio(self, job):
        argv = ["fio", "--output-format=json", str(self.job_file(job))]
        return lambda: Sample(argv, self.environment, fio_counts, 300)

    def fio_with_first_io(self, job):
        """fio does not tell when its I/O began: its bandwidth log, one entry per I/O, does."""
        prefix = self.scratch / "fio-log"
        argv = ["fio", "--output-format=json", "--log_unix_epoch=1", f"--write_bw_log={prefix}",
                str(self.job_file(job))]

        def counts(text):
            told = fio_counts(text)
            return Counts(told.ios, told.seconds, None, first_io_of_fio_logs(prefix))
        return lambda: Sample(argv, self.environment, counts, 300)

    def fio_processes(self, jobs):
        """One process per VM, as people run fleets with fio."""
        commands = []
        for i, job in enumerate(jobs):
            prefix = self.scratch / f"fio-vm-{i}-log"
            commands.append((["fio", "--output-format=json", "--log_unix_epoch=1", f"--write_bw_log={prefix}",
                              str(self.job_file(job))], lambda prefix=prefix: first_io_of_fio_logs(prefix)))
        return lambda: FleetSample(commands, self.environment, fio_counts, 300)

    def raw(self, *words):
        argv = [str(self.build / "bench" / "raw_loop"), *map(str, words)]
        return lambda: Sample(argv, self.environment, raw_counts, 300)

    # Comparing -------------------------------------------------------------------------------------------------------
    def compare(self, name, contenders, runs=None):
        samples = {label: [] for label in contenders}
        for turn in range(runs or self.arguments.runs):
            for label, start in contenders.items():
                samples[label].append(start())
                last = samples[label][-1]
                loop = last.loop_cpu_per_io_ns
                say(f"  {name}: {label} {turn + 1}: {last.cpu_per_io_ns:,.0f} ns CPU per I/O"
                    f"{f' ({loop:,.0f} in the loop)' if loop else ''}, "
                    f"{last.counts.ios / max(last.counts.seconds, 1e-9):,.0f} IOPS")
        return samples

    def cpu_rows(self, name, targets, contenders, runs=None):
        """One row for each contender that cephmark is put beside."""
        samples = self.compare(name, contenders, runs)
        for label, theirs in samples.items():
            if label == "cephmark":
                continue
            loops = all(s.loop_cpu_per_io_ns is not None for s in theirs + samples["cephmark"])
            cost = (lambda s: s.loop_cpu_per_io_ns) if loops else (lambda s: s.cpu_per_io_ns)
            self.table.add_ratio(name, label, [cost(s) for s in samples["cephmark"]], [cost(s) for s in theirs],
                                 targets.get(label))

    def seconds(self):
        return self.arguments.seconds

    # Without a cluster -----------------------------------------------------------------------------------------------
    def null_job(self, more):
        return f"[n]\nioengine=null\nrw=randread\nbs=4k\niodepth=128\nsize=64g\nthread=1\n{more}"

    def null(self):
        job = self.null_job(f"time_based\nruntime={self.seconds()}\n")
        self.cpu_rows("null, 4k randread, depth 128", {"fio": 1 / 15}, {"cephmark": self.cephmark(job),
                                                                        "fio": self.fio(job)})

    def instructions(self):
        """The difference of two sizes, so that start and report do not count."""
        per_io = {}
        for label, few, many in (("cephmark", 2_000_000, 10_000_000), ("fio", 200_000, 600_000)):
            counts = []
            for ios in (few, many):
                job = self.null_job(f"io_size={ios * 4}k\n")
                argv = self.cephmark_argv(job, "--quiet") if label == "cephmark" else [
                    "fio", "--output-format=json", str(self.job_file(job))]
                counts.append(instructions(argv, self.environment, 400))
            per_io[label] = (counts[1] - counts[0]) / (many - few)
            say(f"  null: {label}: {per_io[label]:.1f} instructions per I/O")
        self.table.add(Row("null, 4k randread, depth 128: instructions per I/O (callgrind)", "fio",
                           f"{per_io['cephmark']:.1f}", f"{per_io['fio']:,.0f}",
                           f"{per_io['cephmark'] / per_io['fio']:.4f}", "reported", ""))

    @contextlib.contextmanager
    def file_in_memory(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="cephmark-bench-", dir="/dev/shm"))
        try:
            if shutil.disk_usage(directory).free < 2 << 30:
                raise BenchError("/dev/shm has less than 2 GiB free")
            path = directory / "file"
            with open(path, "wb") as handle:
                for _ in range(1024):
                    handle.write(os.urandom(1 << 20))
            yield path
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def psync(self):
        with self.file_in_memory() as path:
            job = (f"[p]\nioengine=psync\nfilename={path}\nrw=randread\nbs=4k\nsize=1g\ntime_based\n"
                   f"norandommap\nrandrepeat=0\nthread=1\nruntime={self.seconds()}\n")
            self.cpu_rows("psync, 4k randread, tmpfs", {"bare pread loop": 1.07},
                          {"cephmark": self.cephmark(job), "bare pread loop": self.raw("pread", path, self.seconds()),
                           "fio": self.fio(job)})

    def sysbench(self):
        """Beside the real sysbench on the files that it made, and on one file beside the bare loop."""
        for files, others in ((1, ("bare pread loop", "sysbench")), (16, ("sysbench",))):
            with self.sysbench_files(files) as directory:
                words = (f"--file-num={files} --file-total-size=1G --file-block-size=4K --file-test-mode=rndrd "
                         f"--rand-type=uniform --time={self.seconds()} run")
                samples = {label: (lambda counts=counts, argv=["sh", "-c", f"cd {directory} && exec {program} {words}"]:
                                   Sample(argv, self.environment, counts, 300))
                           for label, program, counts in (
                               ("cephmark", f"{self.binary} sysbench fileio", self.newest_result),
                               ("sysbench", "sysbench fileio", sysbench_counts))}
                samples["bare pread loop"] = self.raw("pread", directory / "test_file.0", self.seconds())
                self.cpu_rows(f"sysbench fileio rndrd, 4k, {files} file{'s' if files > 1 else ''}, tmpfs",
                              {"bare pread loop": 1.07, "sysbench": 1.0},
                              {label: samples[label] for label in ("cephmark", *others)})

    def newest_result(self, _text):
        """The result that was kept of a run says more than sysbench's text."""
        kept = max((self.scratch / "data" / "cephmark" / "results").glob("*.json"), key=lambda path: path.stat().st_mtime)
        return cephmark_counts(kept.read_text())

    @contextlib.contextmanager
    def sysbench_files(self, count):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="cephmark-bench-", dir="/dev/shm"))
        try:
            if shutil.disk_usage(directory).free < 2 << 30:
                raise BenchError("/dev/shm has less than 2 GiB free")
            subprocess.run(["sysbench", "fileio", f"--file-num={count}", "--file-total-size=1G", "prepare"],
                           cwd=directory, check=True, stdout=subprocess.DEVNULL)
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def aio(self):
        with self.file_in_memory() as path:
            for engine in ("io_uring", "libaio"):
                job = (f"[a]\nioengine={engine}\nfilename={path}\nrw=randread\nbs=4k\nsize=1g\niodepth=32\n"
                       f"thread=1\ntime_based\nruntime={self.seconds()}\n")
                contenders = {"cephmark": self.cephmark(job), "fio": self.fio(job)}
                if engine == "io_uring":
                    contenders["bare io_uring loop"] = self.raw("io_uring", path, 32, self.seconds())
                self.cpu_rows(f"{engine}, 4k randread, depth 32, tmpfs", {"fio": 0.85}, contenders)

    # On a cluster ----------------------------------------------------------------------------------------------------
    def need_lab(self):
        if self.lab:
            return
        self.lab = self.scratch / "lab"
        say("  starting a cluster")
        self.run_quietly("lab", "up", "--dir", str(self.lab), "--osd-size", "8G")
        text = subprocess.run([self.binary, "lab", "env", "--dir", str(self.lab)], check=True, env=self.environment,
                              capture_output=True, text=True).stdout
        for line in text.splitlines():
            match = re.match(r"export (\w+)='?([^';]*)'?;?$", line)
            if match:
                self.environment[match.group(1)] = match.group(2)

    def run_quietly(self, *words):
        done = subprocess.run([self.binary, *words], env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BenchError(f"cephmark {' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")

    @contextlib.contextmanager
    def images(self, *words, prefill=False, size="4M"):
        self.need_lab()
        say(f"  making images ({' '.join(words)})")
        self.run_quietly("volumes", "create", *words, "--size", size)
        if prefill:
            self.run_quietly("volumes", "prefill", *words)
        try:
            yield
        finally:
            self.run_quietly("volumes", "remove", *words)

    def rbd_job(self, rw, image="{{.Name}}", depth=32, seconds=None):
        return (f"[r]\nioengine=rbd\nclientname=admin\npool=rbd\nrbdname={image}\nrw={rw}\nbs=4k\niodepth={depth}\n"
                f"direct=1\nthread=1\ntime_based\nruntime={seconds or self.seconds()}\n")

    def rbd(self):
        with self.images("bench-0", prefill=True, size="1G"):
            for rw, raw in (("randread", "rbd-read"), ("randwrite", "rbd-write")):
                job = self.rbd_job(rw, "bench-0")
                self.cpu_rows(f"rbd, 4k {rw}, depth 32, cache off", {"bare librbd loop": 1.08},
                              {"cephmark": self.cephmark(job),
                               "bare librbd loop": self.raw(raw, "rbd", "bench-0", 32, self.seconds()),
                               "fio": self.fio(job)}, runs=max(self.arguments.runs, RBD_RUNS))

    def rados_bench(self, program, words):
        """Either program by rados's own command line, told by its own report."""
        argv = [*program, "-p", "rbd", "bench", str(self.seconds()), *map(str, words)]
        return lambda: Sample(argv, self.environment, rados_counts, 300)

    def rados(self):
        """The objects are written once; the record's name ties the runs together."""
        self.need_lab()
        ours = [self.binary, "rados"]
        for name, size, count, mode, depth, target in (("4 KiB", 4096, 4000, "rand", 32, 0.65),
                                                       ("4 MiB", 4 << 20, 128, "rand", 16, 0.4)):
            run = f"bench-{size}"
            self.run_quietly("rados", "-p", "rbd", "bench", "600", "write", "-b", str(size), "--max-objects", str(count),
                             "--no-cleanup", "--run-name", run)
            work = f"objects of {name}, {mode} reads, compared, depth {depth}"
            words = (mode, "-t", depth, "--run-name", run)
            self.cpu_rows(work, {"rados bench": target},
                          {"cephmark": self.rados_bench(ours, words), "rados bench": self.rados_bench(["rados"], words)})
            prefix = self.objects_prefix(run)
            job = (f"[r]\nioengine=rados-bench\npool=rbd\nclientname=admin\nprefix={prefix}\nrw=randread\nbs={size}\n"
                   f"size={size * count}\niodepth={depth}\ntime_based\nnorandommap\nverify_contents=0\n"
                   f"runtime={self.seconds()}\n")
            self.cpu_rows(f"objects of {name}, random reads, depth {depth}",
                          {"bare callback loop": 1.08 if size == 4096 else None},
                          {"cephmark": self.cephmark(job),
                           "bare callback loop": self.raw("objects-read", "rbd", prefix, count, size, depth,
                                                          self.seconds())})
            self.run_quietly("rados", "-p", "rbd", "cleanup", "--run-name", run)
        job = (f"[w]\nioengine=rados-bench\npool=rbd\nclientname=admin\nrw=write\nbs=4k\nsize=64g\niodepth=32\nhints=0\n"
               f"runtime={self.seconds()}\n")
        self.cpu_rows("objects of 4 KiB, writes, depth 32", {"bare callback loop": 1.08},
                      {"cephmark": self.cephmark(job),
                       "bare callback loop": self.raw("objects-write", "rbd", 4096, 32, self.seconds())})

    def objects_prefix(self, run):
        return subprocess.run(["rados", "-p", "rbd", "getxattr", run, "cephmark.prefix"], env=self.environment,
                              check=True, capture_output=True, text=True).stdout.strip()

    def fleet(self):
        count = 32
        names = ("--vms", str(count), "--vm-name", "fleet-{{.Index}}")
        with self.images(*names, prefill=True, size="64M"):
            job = self.rbd_job("randread", depth=4)
            sections = "".join(f"[v{i}]\nrbdname=fleet-{i}\n" for i in range(count))
            head = job.replace("[r]", "[global]").replace("rbdname={{.Name}}\n", "")
            samples = self.compare("32 VMs", {
                "cephmark, 1 connection": self.cephmark(job, *names, "--connections", "1"),
                "cephmark, 32 connections": self.cephmark(job, *names, "--connections", "32"),
                "fio, a process per VM": self.fio_processes(self.rbd_job("randread", f"fleet-{i}", depth=4)
                                                            for i in range(count)),
                "fio, one process": self.fio_with_first_io(head + sections),
                "bare librbd loop": self.raw("rbd-fleet", "rbd", "fleet-", count, 4, self.seconds())},
                                   runs=min(3, self.arguments.runs))
        for ours, other in ((ours, other) for ours in list(samples)[:2] for other in list(samples)[2:]):
            bare = other.startswith("bare")  # one connection too
            one = ours.endswith(" 1 connection")
            if bare and not one:
                continue
            goal = one and not bare  # beside either way of running fio
            for what, unit, value, target in (
                    ("peak memory", " MiB", lambda s: s.rss_mib, 1 / 8),
                    ("threads", "", lambda s: s.threads, 1 / 10),
                    ("wait before the first I/O", " s", lambda s: s.wait_s, 1 / 10)):
                self.table.add_ratio(f"32 VMs, depth 4, {ours.split(', ')[1]}: {what}", other,
                                     [value(s) for s in samples[ours]], [value(s) for s in samples[other]],
                                     target if goal else None, unit)

    def many(self):
        """The images of the largest fleet are made once; the large one takes the first of them."""
        count = 4 * self.arguments.vms
        with self.images("--vms", str(count), "--vm-name", "k-{{.Index}}", size="1M"):
            self.large_fleet(self.arguments.vms, 1, judged=True)
            # On one connection they run too, but ending such a run takes minutes (docs/benchmarks.md).
            self.large_fleet(count, 8, judged=False)

    def large_fleet(self, count, connections, judged):
        sample = self.cephmark(self.rbd_job("randread", depth=1, seconds=10), "--vms", str(count), "--vm-name",
                               "k-{{.Index}}", "--connections", str(connections), limit_s=900)()
        work = f"{count:,} VMs, depth 1, {connections} connection{'s' if connections > 1 else ''}"
        say(f"  {work}: {sample.counts.ios} I/Os, {sample.rss_mib:.0f} MiB, {sample.threads} threads, first I/O after "
            f"{sample.wait_s:.1f} s, {sample.end_s:.1f} s to close, {sample.wall_s:.0f} s in all")
        for what, value, most, unit in (("peak memory", sample.rss_mib, 600, " MiB"),
                                        ("threads", sample.threads, 60, ""),
                                        ("all looked at and open, from the start", sample.wait_s, 10, " s"),
                                        ("all closed, from the end of the load", sample.end_s, None, " s")):
            self.table.add_limit(f"{work}: {what}", value, most if judged else None, unit)

    def finish(self):
        """Whatever happens, nothing is left: no second Ctrl-C gets in between."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if self.lab:
            say("  taking the cluster down")
            subprocess.run([self.binary, "lab", "down", "--dir", str(self.lab)], env=self.environment,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.scratch, ignore_errors=True)


WORKS = ("null", "instructions", "psync", "sysbench", "aio", "rbd", "rados", "fleet", "many")
RBD_RUNS = 7  # a cluster on the same CPUs makes for the widest spreads


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--vms", type=int, default=1000, help="of the large fleet; the largest has four times as many")
    parser.add_argument("--only", default=",".join(WORKS))
    parser.add_argument("--limit", type=int, default=3600, help="seconds after which it stops by itself")
    parser.add_argument("--write", help="also put the table into this Markdown file, between its marks")
    arguments = parser.parse_args()
    unknown = set(arguments.only.split(",")) - set(WORKS)
    if unknown:
        sys.exit(f"bench: no such work: {', '.join(sorted(unknown))}; there are {', '.join(WORKS)}")
    return arguments


def main():
    arguments = parse_arguments()

    def stop(number, frame):
        raise KeyboardInterrupt
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, stop)
    signal.alarm(arguments.limit)
    bench = Bench(arguments)
    failures, stopped = [], False
    try:
        for work in arguments.only.split(","):
            say(f"== {work}")
            started = time.monotonic()
            try:
                getattr(bench, work)()
            except (BenchError, OSError, subprocess.SubprocessError, statistics.StatisticsError) as error:
                failures.append(f"{work}: {error}")
                say(f"bench: {failures[-1]}")
            say(f"  {work}: {time.monotonic() - started:.0f} s")
    except KeyboardInterrupt:
        stopped = True
        say("bench: stopped")
    finally:
        bench.finish()
    print(bench.table.markdown())
    if arguments.write and not stopped:
        write_document(pathlib.Path(arguments.write), bench.table)
    sys.exit(130 if stopped else 1 if failures else 0)


if __name__ == "__main__":
    main()
