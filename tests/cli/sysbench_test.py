#!/usr/bin/env python3
"""cephmark sysbench and a link named sysbench, beside the real sysbench where it is installed.

sysbench_test.py PROGRAM [unittest options]. Needs no cluster.
"""
import os
import re
import shutil
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

    @needs_real
    def test_files_that_are_missing_or_short_are_told_in_the_same_words(self):
        self.expect_same(self.ours("fileio", *self.READ, "run"),
                         self.theirs("fileio", *self.READ, "run"))
        self.ours("fileio", "--file-num=3", "--file-total-size=3M", "prepare")
        self.expect_same(self.ours("fileio", *self.READ, "run"),
                         self.theirs("fileio", *self.READ, "run"))

    @needs_real
    def test_what_is_not_ours_yet_is_done_by_the_real_program_or_refused(self):
        self.ours("fileio", *self.FILES, "prepare")
        write = ("fileio", *self.FILES, "--file-test-mode=rndwr", "--events=10", "run")
        run = self.ours(*write)
        self.assertEqual(run.returncode, 0)
        self.assertIn("Doing random write test", run.stdout)
        run = self.start([PROGRAM, "sysbench", *write])
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, "--file-test-mode=rndwr is not there yet: rndrd is\n")

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

    def test_a_limit_of_open_files_is_told_before_the_first_is_opened(self):
        self.ours("fileio", "--file-num=200", "--file-total-size=4M", "prepare")
        run = self.start(["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", self.link, "fileio",
                          "--file-num=200", "--file-total-size=4M", "--file-test-mode=rndrd", "run"])
        self.assertEqual(run.returncode, 1)
        self.assertIn("FATAL: Too many open files: 200 files are needed, and the limit of this "
                      "process is 64 descriptors", run.stdout)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
