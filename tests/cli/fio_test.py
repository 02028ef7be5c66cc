#!/usr/bin/env python3
"""cephmark fio and a link named fio, as the programs and people who drive fio meet them.

fio_test.py PROGRAM [unittest options]. Needs no cluster. Where the real fio is installed, its report
of the same job stands beside ours.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
LIMIT_S = 120  # a hang, not slowness


def keys_of(value, path=""):
    """The key paths of a document, in order."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}/{key}"
            if not key.endswith("options"):
                yield from keys_of(item, f"{path}/{key}")
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item, f"{path}[]")


class FioTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="cephmark-fio-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.environment = dict(os.environ, XDG_DATA_HOME=self.path("data"),
                                XDG_STATE_HOME=self.path("state"), HOME=self.directory)
        self.link = self.path("fio")
        os.symlink(PROGRAM, self.link)

    def path(self, name):
        return os.path.join(self.directory, name)

    def fio(self, *words, program=None):
        command = [program] if program else [PROGRAM, "fio"]
        return subprocess.run([*command, *words], cwd=self.directory, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S, text=True)

    def begin(self, *words):
        return subprocess.Popen([PROGRAM, "fio", *words], cwd=self.directory, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for(self, condition):
        end = time.monotonic() + LIMIT_S
        while not condition():
            self.assertLess(time.monotonic(), end, "it never came")
            time.sleep(0.05)

    def succeed(self, *words, program=None):
        done = self.fio(*words, program=program)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[-400:])
        return done.stdout

    def test_success_says_nothing_on_stderr_and_the_link_is_the_same(self):
        words = ["--name=j", "--ioengine=null", "--size=64m", "--output-format=json"]
        for program in (None, self.link):
            document = json.loads(self.succeed(*words, program=program))
            self.assertEqual(document["jobs"][0]["read"]["io_bytes"], 64 << 20)
            self.assertTrue(document["fio version"].startswith("fio-"))

    def test_json_has_the_real_programs_keys(self):
        real = shutil.which("fio")
        if not real:
            self.skipTest("NOT TESTED: fio is not installed")
        words = ["--output-format=json", "--bs=8k", "--name=j", "--rw=randrw", "--size=1m", "--fsync=4",
                 "--filename=file", "--end_fsync=1"]
        ours = json.loads(self.succeed(*words))
        os.unlink(self.path("file"))
        theirs = json.loads(self.succeed(*words, program=real))
        theirs.pop("disk_util", None)  # of the machine's block devices
        ours.pop("disk_util", None)
        # What 3.42 prints and an older one does not.
        newer = {"/jobs[]/job_start", "/jobs[]/latency_target_ns", "/jobs[]/latency_window_us"}
        self.assertEqual([key for key in keys_of(ours) if key not in newer],
                         [key for key in keys_of(theirs) if key not in newer])
        for document in (ours, theirs):
            job = document["jobs"][0]
            self.assertEqual(job["read"]["io_bytes"] + job["write"]["io_bytes"], 1 << 20)
            self.assertEqual(document["global options"], {"bs": "8k"})
            self.assertEqual(job["job options"]["name"], "j")
        self.assertEqual(ours["jobs"][0]["job options"], theirs["jobs"][0]["job options"])

    def test_files_are_opened_and_gone_through_as_the_real_program_does(self):
        real = shutil.which("fio")
        if not real or not shutil.which("strace"):
            self.skipTest("NOT TESTED: fio or strace is not installed")
        words = ["--name=j", "--rw=write", "--bs=64k", "--size=512k", "--nrfiles=2", "--thread"]
        for more in (["--file_service_type=sequential", "--sync=dsync"], ["--sync=1"]):
            seen = []
            for program in (None, real):
                log = self.path("trace")
                argv = [program] if program else [PROGRAM, "fio"]
                # A log for each thread: in one for all, a call that another thread cuts in two is two lines.
                done = subprocess.run(["strace", "-ff", "-y", "-s", "0", "-o", log, "-e", "openat,pwrite64",
                                       *argv, *words, *more], cwd=self.directory, text=True, check=False,
                                      env=self.environment, capture_output=True, timeout=LIMIT_S)
                self.assertEqual(done.returncode, 0, done.stderr)
                text = ""
                for name in glob.glob(log + ".*"):
                    with open(name) as file:
                        text += file.read()
                    os.unlink(name)
                seen.append((re.findall(r"pwrite64\(\d+<[^>]*/(j\.0\.\d)>.*, (\d+), (\d+)\)", text),
                             set(re.findall(r'"j\.0\.\d", O_RDWR\S*?(\|O_D?SYNC)', text))))
                for name in ("j.0.0", "j.0.1"):
                    os.unlink(self.path(name))
            with self.subTest(more=more):
                self.assertEqual(*seen)
                self.assertEqual(len(seen[0][0]), 8)

    def test_clones_are_jobs_of_their_own_unless_they_report_as_a_group(self):
        words = ["--output-format=json", "--name=j", "--ioengine=null", "--size=1m", "--numjobs=3"]
        apart = json.loads(self.succeed(*words))["jobs"]
        self.assertEqual([job["read"]["io_bytes"] for job in apart], [1 << 20] * 3)
        together = json.loads(self.succeed(*words, "--group_reporting"))["jobs"]
        self.assertEqual([job["read"]["io_bytes"] for job in together], [3 << 20])

    def test_formats_come_in_fios_order(self):
        out = self.succeed("--output-format=json,normal,terse", "--name=j", "--ioengine=null",
                           "--size=1m", "--numjobs=2")
        places = [out.index(text) for text in
                  ("j: (g=0): rw=read, bs=(R) 4096B-4096B", "...\nfio-", "Starting 2 processes\n",
                   "\n3;fio-", "\n{\n", "\n}\n\nj: (groupid=0, jobs=1): err= 0: pid=",
                   "Run status group 0 (all jobs):\n   READ: bw=")]
        self.assertEqual(places, sorted(places), out)

    def test_output_goes_to_the_file_alone(self):
        out = self.succeed("--output-format=json", "--output=sub.json", "--name=j", "--ioengine=null",
                           "--size=1m")
        self.assertEqual(out, "")
        with open(self.path("sub.json")) as file:
            lines = file.read().splitlines()
        self.assertEqual((lines[0], lines[-1]), ("{", "}"))
        self.assertEqual(json.loads("\n".join(lines))["jobs"][0]["error"], 0)

    def test_terse_versions_have_fios_number_of_fields(self):
        for version, fields in ((2, 161), (3, 121), (4, 162), (5, 180)):
            out = self.succeed("--minimal", f"--terse-version={version}", "--name=j", "--ioengine=null",
                               "--size=1m")
            self.assertEqual(len(out.strip().split(";")), fields)

    def test_failures_are_counted_and_told(self):
        words = ["--rw=read", "--size=64k", "--time_based", "--runtime=100", "--rate_iops=20"]
        run = self.begin("--output-format=json", "--name=a", *words, "--name=b", *words, "--name=c",
                         "--ioengine=null", "--size=1m")
        for name in ("a.0.0", "b.0.0"):
            self.wait_for(lambda: os.path.exists(self.path(name)) and
                          os.path.getsize(self.path(name)) == 65536)
        time.sleep(1)
        for name in ("a.0.0", "b.0.0"):
            os.truncate(self.path(name), 0)
        out, err = run.communicate(timeout=LIMIT_S)
        self.assertEqual(run.returncode, 2, err)
        jobs = json.loads(out)["jobs"]
        self.assertEqual([job["error"] for job in jobs], [5, 5, 0])

    def test_mistakes_end_with_1_before_anything_runs(self):
        for words, said in ((["--name=j", "--rw=write", "--size=1m", "--iodeth=3"], "did you mean --iodepth?"),
                            (["--name=j", "--rw=randreed", "--size=1m"], "randreed"),
                            (["--name=j", "--ioengine=rbdd"], "did you mean rbd"),
                            (["--readonly", "--name=j", "--rw=write", "--size=1m"], "--readonly"),
                            (["--output-format=jsonplus", "--name=j"], "no output format"),
                            (["missing.fio"], "missing.fio"), (["--section=x", "--name=j"], "no job")):
            done = self.fio(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertIn(said, done.stderr)
        self.assertEqual([name for name in os.listdir(self.directory) if name != "fio"], [])

    def test_job_files_and_the_command_line_together(self):
        with open(self.path("a.fio"), "w") as file:
            file.write("[global]\nioengine=null\nsize=1m\n[one]\nbs=8k\n[two]\nstonewall\n")
        jobs = json.loads(self.succeed("a.fio", "--output-format=json", "--bs=16k"))["jobs"]
        self.assertEqual([(job["jobname"], job["groupid"], job["read"]["total_ios"]) for job in jobs],
                         [("one", 0, 128), ("two", 1, 64)])
        jobs = json.loads(self.succeed("a.fio", "--output-format=json", "--section=two"))["jobs"]
        self.assertEqual([job["jobname"] for job in jobs], ["two"])
        self.succeed("--parse-only", "a.fio")

    def test_an_interrupt_ends_with_128_and_the_whole_report(self):
        run = self.begin("--output-format=json", "--name=j", "--ioengine=null", "--size=1m",
                         "--time_based", "--runtime=100", "--rate_iops=100")
        self.wait_for(lambda: any(files for _, _, files in os.walk(self.path("state"))))
        time.sleep(1)  # some I/O; no figure below depends on how much
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=LIMIT_S)
        self.assertEqual(run.returncode, 128, err)
        self.assertEqual(json.loads(out)["jobs"][0]["error"], 0)

    def test_help_comes_from_the_tables(self):
        self.assertRegex(self.succeed("--version"), r"\Afio-\d+\.\d+-cephmark-")
        self.assertIn("--output-format", self.succeed("--help"))
        self.assertIn("iodepth", self.succeed("--cmdhelp"))
        self.assertIn("blocksize", self.succeed("--cmdhelp=bs"))
        self.assertIn("rbd", self.succeed("--enghelp"))
        self.assertIn("rbdname", self.succeed("--enghelp=rbd"))
        self.assertIn("pool", self.succeed("--enghelp=rbd,pool"))
        done = self.fio("--cmdhelp=iodeth")
        self.assertEqual(done.returncode, 1)
        self.assertIn("did you mean --cmdhelp=iodepth?", done.stderr)

    def test_files_that_were_there_are_not_overwritten(self):
        with open(self.path("mine"), "w") as file:
            file.write("x" * 65536)
        words = ["--name=j", "--rw=write", "--size=64k", "--filename=mine"]
        done = self.fio(*words)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--allow-write", done.stderr)
        with open(self.path("mine")) as file:
            self.assertEqual(file.read(), "x" * 65536)
        self.succeed(*words, "--allow-write=" + self.path("mine"))

    def test_a_run_that_never_began_has_a_document_with_its_error(self):
        done = self.fio("--output-format=json", "--name=j", "--ioengine=rbd", "--pool=rbd",
                        "--rbdname=i", "--conf=" + self.path("none.conf"))
        self.assertEqual(done.returncode, 1)
        self.assertNotEqual(json.loads(done.stdout)["jobs"][0]["error"], 0)
        self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
