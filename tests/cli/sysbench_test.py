#!/usr/bin/env python3
"""cephmark sysbench and a link named sysbench, beside the real sysbench where it is installed.

sysbench_test.py PROGRAM [unittest options]. Needs no cluster.
"""
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = ""
LIMIT_S = 120  # a hang, not slowness
REAL = shutil.which("sysbench")
needs_real = unittest.skipUnless(REAL, "sysbench is not installed")
needs_strace = unittest.skipUnless(shutil.which("strace"), "strace is not installed")
MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
# What is measured, and how wide it is printed.
NUMBERS = ((r"\d+\.\d+", "N"), (r" +N", " N"))


class SysbenchTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="cephmark-sysbench-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.work = self.path("work")
        os.mkdir(self.work)
        self.environment = dict(os.environ, XDG_DATA_HOME=self.path("data"),
                                XDG_STATE_HOME=self.path("state"), HOME=self.directory)
        os.mkdir(self.path("bin"))
        self.link = self.path("bin/sysbench")
        os.symlink(PROGRAM, self.link)

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, command, **more):
        return subprocess.run(command, cwd=self.work, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S, **more)

    def ours(self, *words, **more):
        return self.start([self.link, *words], **more)

    def theirs(self, *words, **more):
        return self.start([REAL, *words], **more)

    def files(self):
        found = {}
        for name in os.listdir(self.work):
            with open(os.path.join(self.work, name), "rb") as file:
                found[name] = file.read()
        return found

    def remove_files(self):
        for name in os.listdir(self.work):
            os.unlink(os.path.join(self.work, name))

    def expect_same(self, ours, theirs, replace=(), first_line=True):
        """The same text on both streams once what is measured is blotted out."""
        def blot(text):
            text = re.sub(r"using (system|bundled) LuaJIT \S+?\)", "LuaJIT)", text)
            text = re.sub(r"\d+\.\d+ seconds \(\d+\.\d+", "T seconds (R", text)
            for pattern, by in replace:
                text = re.sub(pattern, by, text)
            return text
        self.assertEqual(blot(ours.stdout), blot(theirs.stdout))
        self.assertEqual(blot(ours.stderr), blot(theirs.stderr))
        self.assertEqual(ours.returncode, theirs.returncode)


@needs_real
class CommandLine(SysbenchTest):
    def test_mistakes_are_told_in_the_same_words_on_the_same_streams(self):
        for words in (["--foo", "fileio", "run"], ["fileio"], ["--test=fileio"], ["fileio", "foo"],
                      ["fileio", "prepare", "run"], ["fileio", "--file-num", "2", "prepare"],
                      ["fileio", "--threads=1x", "run"], ["fileio", "--time=abc", "help"],
                      ["fileio", "--file-num=abc", "prepare"], ["fileio", "--file-num=0", "prepare"],
                      ["fileio", "--file-total-size=xyz", "prepare"],
                      ["fileio", "--file-extra-flags=foo", "prepare"],
                      ["fileio", "--file-block-size=0", "prepare"],
                      ["fileio", "--file-fsync-all=yes", "prepare"],
                      ["fileio", "--threads=0", "run"],
                      ["--percentile=101", "fileio", "run"], ["--rand-type=foo", "fileio", "run"],
                      ["fileio", "run"], ["fileio", "--file-test-mode=xx", "run"],
                      ["fileio", "--file-test-mode=rndrw", "--file-rw-ratio=-1", "run"],
                      ["fileio", "--file-test-mode=rndrd", "--file-io-mode=foo", "run"],
                      ["fileio", "--file-test-mode=rndrd", "--file-fsync-mode=foo", "run"],
                      ["fileio", "help"], ["--version"], ["nosuch", "run"]):
            with self.subTest(words=words):
                self.expect_same(self.ours(*words), self.theirs(*words))
        self.assertEqual(self.files(), {})

    def test_a_copy_of_the_program_under_that_name_does_not_hand_over_for_ever(self):
        os.mkdir(self.path("copy"))
        shutil.copy(PROGRAM, self.path("copy/sysbench"))
        self.environment["PATH"] = self.path("copy") + ":" + self.path("bin")
        run = self.ours("cpu", "run")
        self.assertEqual(run.returncode, 1)
        self.assertIn("the sysbench on PATH is cephmark, too", run.stderr)

    def test_other_tests_go_to_the_real_program_and_never_to_ourselves(self):
        self.environment["PATH"] = self.path("bin") + ":" + os.environ["PATH"]
        run = self.ours("cpu", "--time=1", "--cpu-max-prime=100", "run")
        self.assertIn("Prime numbers limit: 100", run.stdout)
        self.assertEqual(run.returncode, 0)
        self.environment["PATH"] = self.path("bin")
        run = self.ours("cpu", "run")
        self.assertEqual(run.returncode, 1)
        self.assertIn("there is no other sysbench on PATH", run.stderr)


@needs_real
class Prepare(SysbenchTest):
    SMALL = ("--file-num=3", "--file-total-size=1M")

    def test_files_and_texts_are_the_same(self):
        steps = ((*self.SMALL, "prepare"), (*self.SMALL, "prepare"),
                 ("--file-num=3", "--file-total-size=2M", "prepare"),
                 ("--file-num=4", "--file-total-size=2M", "--file-extra-flags=dsync", "prepare"),
                 ("--file-num=4", "cleanup"), ("--file-num=4", "cleanup"))
        seen = []
        for step in steps:
            run = self.theirs("fileio", *step)
            seen.append((run, self.files()))
        self.assertEqual(self.files(), {})
        for step, (run, files) in zip(steps, seen):
            with self.subTest(step=step):
                self.expect_same(self.ours("fileio", *step), run)
                self.assertEqual(self.files(), files)

    def test_what_validate_writes_is_what_sysbench_checks(self):
        even = ("--file-num=4", "--file-total-size=1M")
        for prepare, run in ((self.ours, self.theirs), (self.theirs, None)):
            done = prepare("fileio", *even, "--validate", "--file-block-size=4K", "prepare")
            self.assertEqual(done.returncode, 0, done.stdout)
            for content in self.files().values():
                for at in range(0, len(content), 4096):
                    block = content[at:at + 4096]
                    self.assertEqual(struct.unpack("<IQ", block[-12:]),
                                     (zlib.crc32(block[:-12]), at))
            if run:
                read = run("fileio", *even, "--validate", "--file-block-size=4K",
                           "--file-test-mode=seqrd", "--events=200", "run")
                self.assertEqual(read.returncode, 0, read.stdout)
                self.assertNotIn("FATAL", read.stdout)
            self.remove_files()

    def test_what_is_no_regular_file_is_left_alone(self):
        elsewhere = self.path("precious")
        with open(elsewhere, "w") as file:
            file.write("data")
        os.symlink(elsewhere, os.path.join(self.work, "test_file.1"))
        run = self.ours("fileio", *self.SMALL, "prepare")
        self.assertEqual(run.returncode, 1)
        self.assertIn("FATAL: 'test_file.1' is not a regular file", run.stdout)
        run = self.ours("fileio", *self.SMALL, "cleanup")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(os.listdir(self.work), ["test_file.1"])
        with open(elsewhere) as file:
            self.assertEqual(file.read(), "data")

    def test_cleanup_removes_exactly_its_files(self):
        for name in ("test_file.0", "test_file.1", "test_file.2", "test_file.x", "other"):
            open(os.path.join(self.work, name), "w").close()
        self.assertEqual(self.ours("fileio", "--file-num=2", "cleanup").returncode, 0)
        self.assertEqual(set(os.listdir(self.work)), {"test_file.2", "test_file.x", "other"})

    # FIL-05: a total that the number of files does not divide.
    def test_our_own_form_tells_the_rounding(self):
        run = self.start([PROGRAM, "sysbench", "fileio", *self.SMALL, "prepare"])
        self.assertIn("Each file is made 360448 bytes long: whole blocks of 16KiB", run.stdout)

    def test_payload_random_cannot_be_compressed(self):
        run = self.ours("fileio", *self.SMALL, "--payload=random", "prepare")
        self.assertEqual(run.returncode, 0)
        for content in self.files().values():
            self.assertGreater(len(zlib.compress(content)), len(content))


class Run(SysbenchTest):
    FILES = ("--file-num=3", "--file-total-size=6M")
    READ = (*FILES, "--file-test-mode=rndrd")

    @needs_real
    def test_either_reads_what_the_other_prepared_and_prints_the_same_lines(self):
        blots = ((r"\d+\.\d+", "N"), (r" +N", " N"), (r"(number of events:)\s+\d+", r"\1 N"))
        for prepare in (self.ours, self.theirs):
            self.assertEqual(prepare("fileio", *self.FILES, "prepare").returncode, 0)
            before = self.files()
            for words in (["--time=1"], ["--events=100", "--threads=3", "--rand-seed=7"],
                          ["--time=1", "--threads=2", "--rate=200", "--percentile=0"],
                          ["--events=50", "--file-io-mode=async", "--file-extra-flags=direct",
                           "--file-fsync-freq=0", "--file-fsync-end=off", "--percentile=99"],
                          ["--events=9", "--file-fsync-all", "--file-block-size=5000"]):
                with self.subTest(words=words):
                    self.expect_same(self.ours("fileio", *self.READ, *words, "run"),
                                     self.theirs("fileio", *self.READ, *words, "run"), blots)
            self.assertEqual(self.files(), before)
            self.assertEqual(self.ours("fileio", *self.FILES, "cleanup").returncode, 0)
            self.assertEqual(self.files(), {})

    # FIL-01: the file and the step are named, and there is no report.
    @needs_real
    def test_files_that_are_missing_or_short_are_told_in_the_same_words(self):
        self.expect_same(self.ours("fileio", *self.READ, "run"),
                         self.theirs("fileio", *self.READ, "run"))
        self.ours("fileio", "--file-num=3", "--file-total-size=3M", "prepare")
        self.expect_same(self.ours("fileio", *self.READ, "run"),
                         self.theirs("fileio", *self.READ, "run"))

    def test_exactly_so_many_events_are_done(self):
        self.ours("fileio", *self.FILES, "prepare")
        for threads in (1, 2, 3):
            run = self.ours("fileio", *self.READ, "--events=77", f"--threads={threads}", "run")
            self.assertRegex(run.stdout, r"total number of events: +77\n")

    def test_interval_lines_come_while_it_runs(self):
        self.ours("fileio", *self.FILES, "prepare")
        run = self.ours("fileio", *self.READ, "--time=3", "--report-interval=1", "run")
        lines = re.findall(r"^\[ (\d+)s \] reads: \S+ MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s "
                           r"latency \(ms,95%\): \S+$", run.stdout, re.M)
        self.assertGreaterEqual(len(lines), 2, run.stdout)

    def test_our_own_form_adds_percentiles_and_the_newer_layout(self):
        self.ours("fileio", *self.FILES, "prepare")
        own = self.start([PROGRAM, "sysbench", "fileio", *self.READ, "--events=99", "run"])
        self.assertRegex(own.stdout, r"Latency of each kind \(ms\):\n    read   p50 .* p99.99 ")
        new = self.ours("fileio", *self.READ, "--events=99", "--layout=1.1", "run")
        self.assertRegex(new.stdout, r"\n         read:  IOPS=\d+\.\d\d \d+\.\d\d MiB/s \(")
        self.assertNotIn("p50", new.stdout)

    # FIL-06: no number of an error with garbage behind it.
    def test_a_limit_of_open_files_is_told_before_the_first_is_opened(self):
        self.ours("fileio", "--file-num=200", "--file-total-size=4M", "prepare")
        run = self.start(["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", self.link, "fileio",
                          "--file-num=200", "--file-total-size=4M", "--file-test-mode=rndrd", "run"])
        self.assertEqual(run.returncode, 1)
        self.assertIn("FATAL: Too many open files: 200 files are needed, and the limit of this "
                      "process is 64 descriptors", run.stdout)


class Modes(SysbenchTest):
    """All modes beside the real program: texts, counts, and what strace sees of them."""
    FILES = ("--file-num=3", "--file-total-size=1M")  # with an odd end: 349,525 bytes each
    EVENTS = ("--events=50", "--file-fsync-freq=10")

    def prepare(self, *more):
        self.remove_files()
        done = self.ours("fileio", *self.FILES, *more, "prepare")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def run_words(self, mode, *more):
        return ("fileio", *self.FILES, f"--file-test-mode={mode}", *more, "run")

    @needs_real
    def test_every_mode_prints_what_sysbench_prints(self):
        for io_mode in ("sync", "async", "mmap"):
            for mode in MODES:
                words = self.run_words(mode, f"--file-io-mode={io_mode}", *self.EVENTS)
                with self.subTest(words=words):
                    self.prepare()
                    self.expect_same(self.ours(*words), self.theirs(*words), NUMBERS)

    @needs_real
    def test_options_of_a_run_are_told_alike(self):
        self.prepare()
        for mode, *more in (("seqrd", "--file-merged-requests=4"), ("rndwr", "--file-fsync-all"),
                            ("seqrewr", "--file-fsync-mode=fdatasync", "--file-extra-flags=dsync"),
                            ("rndrw", "--file-rw-ratio=3", "--file-extra-flags=sync,dsync"),
                            ("rndwr", "--rate=5000", "--rand-type=uniform"),
                            ("rndwr", "--file-fsync-freq=0", "--file-fsync-end=off"),
                            ("rndwr", "--file-extra-flags=dsync,direct"),
                            ("rndwr", "--file-extra-flags=direct", "--file-total-size=768K")):
            words = self.run_words(mode, "--events=50", *more)
            with self.subTest(words=words):
                ours, theirs = self.ours(*words), self.theirs(*words)
                if "extra flags value" in theirs.stdout:  # what follows is sysbench's own confusion
                    end = theirs.stdout.index("FATAL: Cannot open")
                    theirs.stdout = theirs.stdout[:end]
                self.expect_same(ours, theirs, NUMBERS)

    def traced(self, program, *words):
        """The calls on test files, in their order: (name, file, length, offset), and the output."""
        log = self.path("trace")
        run = self.start(["strace", "-f", "-y", "-s", "256", "-o", log, "-e",
                          "trace=openat,pread64,pwrite64,fsync,fdatasync,msync,io_submit",
                          program, *words])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        with open(log) as file:
            return run, file.read()

    @staticmethod
    def calls(log):
        found = []
        for line in log.splitlines():
            match = re.search(r"(pread64|pwrite64|fsync|fdatasync)\(\d+<[^>]*/(test_file\.\d+)>"
                              r"(?:, .*, (\d+), (\d+))?", line)
            # The guard's look for the label of an OSD is no I/O of the test.
            if match and match.group(3) != "22":
                found.append(match.groups())
        return found

    # FIL-03: without periodic flushes the final ones are still there, one per file.
    # FIL-04: a flush is one of every file, and an event, as in sysbench.
    @needs_real
    @needs_strace
    def test_strace_sees_the_same_calls_in_the_same_order(self):
        for mode, *more in (("seqwr",), ("seqrewr",), ("seqrd",),
                            ("seqrd", "--file-merged-requests=4"),
                            ("seqrewr", "--file-fsync-all"),
                            ("seqrewr", "--file-fsync-freq=0"),
                            ("seqwr", "--file-fsync-mode=fdatasync", "--file-block-size=100K")):
            words = self.run_words(mode, *self.EVENTS, *more)
            with self.subTest(words=words):
                self.prepare()
                ours = self.calls(self.traced(self.link, *words)[1])
                self.prepare()
                self.assertEqual(ours, self.calls(self.traced(REAL, *words)[1]))
                self.assertGreaterEqual(len(ours), 50)

    @needs_real
    @needs_strace
    def test_strace_counts_the_same_calls_in_random_modes(self):
        def kinds(log):
            return "".join({"pread64": "r", "pwrite64": "w"}.get(call[0], "f")
                           for call in self.calls(log))
        self.prepare()
        for mode, *more in (("rndrd",), ("rndwr",), ("rndrw",), ("rndrw", "--file-rw-ratio=0.3"),
                            ("rndrw", "--file-rw-ratio=0.7"),
                            ("rndrw", "--file-rw-ratio=0"), ("rndrw", "--file-fsync-freq=1"),
                            ("rndwr", "--file-fsync-end=off")):
            words = self.run_words(mode, *self.EVENTS, *more)
            with self.subTest(words=words):
                self.assertEqual(kinds(self.traced(self.link, *words)[1]),
                                 kinds(self.traced(REAL, *words)[1]))

    @needs_real
    @needs_strace
    def test_mapped_and_asynchronous_runs_do_as_many(self):
        def counts(log):
            return (log.count("IOCB_CMD_PWRITE"), log.count("IOCB_CMD_PREAD"),
                    len(re.findall("MS_SYNC", log)),
                    len(self.calls(log)) + log.count("IOCB_CMD_FSYNC"))
        self.prepare()
        for io_mode in ("async", "mmap"):
            # An asynchronous sysbench counts what is done, and so begins a mix with a queue of reads.
            for mode in ("seqrewr", "rndwr" if io_mode == "async" else "rndrw", "seqrd"):
                words = self.run_words(mode, *self.EVENTS, f"--file-io-mode={io_mode}")
                with self.subTest(words=words):
                    self.assertEqual(counts(self.traced(self.link, *words)[1]),
                                     counts(self.traced(REAL, *words)[1]))

    @needs_real
    @needs_strace
    def test_flags_reach_the_open(self):
        self.prepare()
        for flags in ("sync", "dsync", "direct"):
            words = self.run_words("rndwr", "--events=10", f"--file-extra-flags={flags}",
                                   "--file-total-size=768K")
            seen = [set(re.findall(r'test_file\.\d+", O_RDWR(\S*?)(?:\|O_CLOEXEC)?\)',
                                   self.traced(program, *words)[1])) for program in (self.link, REAL)]
            self.assertEqual(*seen)
            self.assertEqual(len(seen[0]), 1)

    def test_our_own_form_does_durable_direct_writes_and_tells_the_final_fsync(self):
        self.prepare()
        run = self.start([PROGRAM, "sysbench", *self.run_words(
            "rndwr", "--events=20", "--file-extra-flags=dsync,direct")])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"\n    write  p50 .*\n")
        self.assertRegex(run.stdout, r"\nFinal fsync: 3 calls, \d+\.\d+s of the total time\n")
        run = self.start([PROGRAM, "sysbench", *self.run_words(
            "rndwr", "--events=20", "--file-fsync-freq=5", "--preset=incompressible")])
        self.assertRegex(run.stdout, r"\n    fsync  p50 ")
        self.assertTrue(any(any(content) for content in self.files().values()))

    def test_threads_share_the_events_and_the_places(self):
        self.remove_files()
        words = self.run_words("seqwr", "--events=66", "--threads=4", "--file-fsync-freq=0",
                               "--payload=random")
        run = self.ours(*words)
        self.assertRegex(run.stdout, r"total number of events: +66\n")
        # Each of the 22 blocks of each file was written once: none is left out.
        self.assertEqual([len(content) for content in self.files().values()], [349525] * 3)
        for content in self.files().values():
            for at in range(0, len(content), 16384):
                self.assertTrue(any(content[at:at + 16384]), at)

    @needs_real
    def test_blocks_that_either_writes_the_other_finds_sound(self):
        even = ("--file-total-size=768K", "--validate")
        for write, read in ((self.ours, self.theirs), (self.theirs, self.ours)):
            for mode in ("seqwr", "rndwr", "rndrw"):
                if mode != "seqwr":
                    self.prepare(*even)
                more = ("--threads=4", "--events=200") if write == self.ours else ("--events=96",)
                done = write(*self.run_words(mode, *even, *more, "--file-fsync-freq=0"))
                self.assertEqual(done.returncode, 0, done.stdout)
                checked = read(*self.run_words("seqrd", *even, "--events=48"))
                self.assertEqual(checked.returncode, 0, checked.stdout)
                self.assertIn("total number of events:              48", checked.stdout)

    @needs_real
    def test_a_damaged_block_is_told_in_the_same_words(self):
        words = self.run_words("seqrd", "--file-total-size=768K", "--validate", "--events=48")
        for place, what in ((20000, b"x"), (6 * 16384 - 8, struct.pack("<Q", 3))):
            self.prepare("--file-total-size=768K", "--validate")
            with open(os.path.join(self.work, "test_file.1"), "r+b") as file:
                file.seek(place)
                file.write(what)
            self.expect_same(self.ours(*words), self.theirs(*words))

    @needs_real
    def test_an_io_error_ends_the_run_in_the_same_words(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        words = self.run_words("seqwr", "--events=60")
        runs = []
        for program in (self.link, REAL):
            self.remove_files()
            runs.append(self.start([program, *words], preexec_fn=small_files,
                                   restore_signals=False))
        self.expect_same(*runs, ((r"file: \d+ pos: \d+ errno = .*", "file: F pos: P errno"),))
        # sysbench calls the short write before the error a "Success".
        self.assertIn("errno = 27 (File too large)", runs[0].stdout)

    def test_seqwr_makes_no_file_anew_that_is_not_ours(self):
        elsewhere = self.path("precious")
        with open(elsewhere, "w") as file:
            file.write("data")
        self.prepare()
        os.unlink(os.path.join(self.work, "test_file.2"))
        os.symlink(elsewhere, os.path.join(self.work, "test_file.2"))
        before = self.files()
        run = self.ours(*self.run_words("seqwr", "--events=10"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("FATAL: 'test_file.2' is not a regular file", run.stdout)
        self.assertEqual(self.files(), before)

    # FIL-02: the totals are those of the measured time.
    def test_a_warm_up_is_in_no_count(self):
        self.prepare()
        run = self.ours(*self.run_words("rndrd", "--events=50", "--warmup-time=1", "--threads=2"))
        # What was under way when the warm-up ended is in it: one by each thread at most.
        self.assertRegex(run.stdout, r"total number of events: +5[0-2]\n")
        # 200 are due in 2 s, and 100 more before.
        run = self.ours(*self.run_words("rndrd", "--rate=100", "--warmup-time=1", "--time=2"))
        events = int(re.search(r"total number of events: +(\d+)\n", run.stdout).group(1))
        self.assertTrue(120 < events < 280, events)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
