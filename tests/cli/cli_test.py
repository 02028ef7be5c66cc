#!/usr/bin/env python3
"""The program as a user at the shell meets it: odd job files, odd places, closed pipes, signals.

cli_test.py PROGRAM [unittest options]. Needs no cluster. Each test has a directory of its own, which
is also where the program keeps results and manifests.
"""
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = ""
LIMIT_S = 120  # a hang, not slowness


def strict_json(data):
    """Parses bytes; refuses duplicate keys, NaN and infinity, and what is not UTF-8."""

    def no_duplicates(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), f"duplicate keys in {keys}"
        return dict(pairs)

    def no_constants(word):
        raise AssertionError(f"{word} in JSON")

    return json.loads(data.decode("utf-8"), object_pairs_hook=no_duplicates,
                      parse_constant=no_constants)


def values_of(document, key):
    """Every value of that key, however deep it stands."""
    for name, value in document.items() if isinstance(document, dict) else enumerate(document):
        if name == key:
            yield value
        if isinstance(value, (dict, list)):
            yield from values_of(value, key)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="cephmark-cli-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.environment = dict(os.environ, XDG_DATA_HOME=self.path("data"),
                                XDG_STATE_HOME=self.path("state"), HOME=self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return name

    def job(self, text, name="j.fio"):
        return self.write(name, text)

    def start(self, *words, **options):
        return subprocess.Popen([PROGRAM, *words], cwd=self.directory, env=self.environment,
                                stdout=options.pop("stdout", subprocess.PIPE),
                                stderr=options.pop("stderr", subprocess.PIPE), stdin=subprocess.DEVNULL, **options)

    def call(self, *words, code=0, **options):
        """Runs the program to its end; (stdout, stderr) as bytes and text."""
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=LIMIT_S)
        err = err.decode("utf-8", "replace")
        self.assertEqual(process.returncode, code, f"{words}: {err}")
        return out, err

    def start_endless(self, *words, **options):
        """Starts an endless load with its progress on a terminal; returns when I/O is flowing."""
        self.job(ENDLESS)
        master, slave = pty.openpty()
        process = self.start("run", "j.fio", "--output", "json", *words, stderr=slave, **options)
        os.close(slave)
        self.addCleanup(process.kill)
        seen, until = b"", time.monotonic() + LIMIT_S
        while b"IOPS" not in seen and time.monotonic() < until:
            seen += os.read(master, 4096)  # the live line

        def drain():
            try:
                while os.read(master, 4096):
                    pass
            except OSError:
                os.close(master)

        threading.Thread(target=drain, daemon=True).start()
        return process

    def run_job(self, text, *words, code=0):
        return self.call("run", self.job(text), "--quiet", *words, code=code)

    def refused(self, text, *expected, code=2):
        """The job is refused, with these words; nothing was measured, the document says why, and
        nothing new lies in the directory."""
        self.job(text)
        before = sorted(os.listdir(self.directory))
        out, err = self.run_job(text, "--output", "json", code=code)
        document = json.loads(out)
        self.assertEqual(document["vms"], [])
        self.assertTrue(document["error"])
        self.assertIn(document["error"].split("\n")[0], err)
        for words in expected:
            self.assertIn(words, err)
        after = [name for name in sorted(os.listdir(self.directory)) if name != "state"]
        self.assertEqual(after, [name for name in before if name != "state"])


NULL = "[j]\nioengine=null\nsize=1m\nrw=randread\n"
ENDLESS = NULL + "time_based\nruntime=1000\n"
FILE = "[j]\nioengine=psync\nsize=64k\n"


class Words(ProgramTest):
    # PAR-07: a word that nobody knows never runs with the default in its place.
    def test_what_may_have_been_meant(self):
        self.write("x", NULL)
        for words in [["lab"], ["volumes"], ["results"], ["lab", "osd"]]:
            self.assertIn(" ".join(words) + " does one of these: ", self.call(*words, code=2)[1])
        for words, meant in [(["rnu"], "cephmark run"),
                             (["run", "--runtme", "3", "x"], "--runtime"),
                             (["lab", "upp"], "cephmark lab up"),
                             (["lab", "osd", "pauze"], "cephmark lab osd pause"),
                             (["results", "lst"], "cephmark results list"),
                             (["volumes", "creat"], "cephmark volumes create"),
                             (["run", "x", "--output", "jsn"], "json")]:
            _, err = self.call(*words, code=2)
            self.assertIn("did you mean", err)
            self.assertIn(meant, err)

    def test_numbers_that_are_none_are_told_in_words(self):
        self.write("x", NULL)
        for words, text in [(["run", "x", "--max-cpus", "0"], "--max-cpus: '0' is not a whole number of 1 or more"),
                            (["run", "x", "--max-cpus", "two"], "--max-cpus: 'two' is not a whole number"),
                            (["run", "x", "--connections", "-1"], "'-1' is not a whole number"),
                            (["run", "x", "--seed", "abc"], "--seed: 'abc' is not a number"),
                            (["run", "x", "--guard", "all", "--no-guard"], "contradict"),
                            (["volumes", "list", "--parallel", "300"], "from 1 to 256"),
                            (["volumes", "list", "--parallel", "x"], "from 1 to 256"),
                            (["lab", "up", "--osds", "none"], "--osds: 'none' is not a whole number"),
                            (["lab", "osd", "stop", "x"], "'x' is not a whole number of 0 or more")]:
            _, err = self.call(*words, code=2)
            self.assertIn(text, err)
            self.assertNotIn("convert", err)

    def test_the_older_tools_words_are_told_in_its_own(self):
        os.symlink(PROGRAM, self.path("cephtest"))
        done = subprocess.run([self.path("cephtest"), "--job-file", "none.fio", "--go-jobs", "2", "--max-cpus", "1"],
                              env=self.environment, cwd=self.directory, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn("--job-file: cannot open none.fio", done.stderr)
        self.assertNotIn("cephmark run", done.stderr)

    def test_help_goes_to_stdout(self):
        for words in [[], ["help"], ["run", "--help"], ["lab", "--help"], ["results", "--help"],
                      ["volumes", "--help"], ["cleanup", "--help"], ["results", "show", "--help"]]:
            out, err = self.call(*words)
            self.assertIn(b"Usage", out)
            self.assertEqual(err, "")


class JobFiles(ProgramTest):
    def test_bad_input_is_refused_before_anything_is_done(self):
        for line, words in [("bogus=1", "no option 'bogus'"),
                            ("iodeth=1", "did you mean iodepth?"),
                            ("rw=randreed", "did you mean randread?"),
                            ("iodepth=0", "out of range"), ("numjobs=0", "out of range"),
                            ("numjobs=100000", "out of range"), ("bs=0", "bs"),
                            ("bs=-4k", "below zero"), ("size=150%", "more than the whole"),
                            ("ioengine=foo", "no engine \"foo\""), ("time_based", "runtime"),
                            ("offset=-4k", "below zero"), ("buffer_pattern", "buffer_pattern"),
                            ("output-format=json", "command line"), ("filename=", "needs a value"),
                            ("description=\x1b[31m", "control character"),
                            ("filename=/dev/${CEPHMARK_NOPE}", "CEPHMARK_NOPE is not set")]:
            with self.subTest(line):
                self.refused(NULL + line + "\n", words, "j.fio:5:")

    def test_no_job(self):
        for text in ["", "# nothing\n", "[global]\nrw=read\n"]:
            self.refused(text, "no job")

    def test_bytes_that_are_not_utf8(self):
        self.run_job(NULL.encode() + b"bs=4k # gr\xf6\xdfe\n# \xff\x00\n")
        self.job(b"[j\xff]\nioengine=null\nsize=1m\n")
        _, err = self.call("run", "j.fio", code=2)
        self.assertIn("not valid UTF-8", err)
        self.assertNotIn("before the first [section]", err)

    def test_every_output_is_one_document(self):
        text = "[j \"q\" \\ , \u20ac]\n" + NULL[4:] + "description=\"a\" \t \\x1b , b\n"
        for output in ["json", "fio-json", "fio-json+"]:
            with self.subTest(output):
                out, _ = self.run_job(text, "--output", output)
                strict_json(out)
        for output in ["text", "table", "csv"]:
            with self.subTest(output):
                out, _ = self.run_job(text, "--output", output)
                out.decode()

    def test_many_sections(self):
        out, _ = self.run_job("[global]\nioengine=null\nsize=4k\n" +
                              "".join(f"[s{i}]\n" for i in range(3000)), "--output", "json")
        self.assertEqual(len(strict_json(out)["vms"][0]["jobs"]), 3000)

    def test_a_synchronous_engine_needs_no_buffers_for_its_depth(self):
        self.run_job(FILE + "rw=write\niodepth=60000\nbs=64k\nnumjobs=8\nfilename=f\n")


class Numbers(ProgramTest):
    # NUM-02
    def test_sections_of_one_group_keep_their_own_results(self):
        text = ("[global]\nioengine=null\nsize=1m\ngroup_reporting\nrw=read\n"
                "[alpha]\nbs=4k\n[beta]\nbs=256k\n")
        self.run_job(text, "--output", "json:o.json", "--output", "fio-json:f.json",
                     "--output", "text:t.txt")
        with open(self.path("o.json"), "rb") as file:
            result = strict_json(file.read())
        names = [job["name"] for job in result["plan"]["vms"][0]["jobs"]]
        self.assertEqual(names, ["alpha", "beta"])
        reads = [job["ops"]["read"] for job in result["vms"][0]["jobs"]]
        self.assertEqual([(read["ios"], read["bytes"]) for read in reads],
                         [(256, 1 << 20), (4, 1 << 20)])
        with open(self.path("f.json"), "rb") as file:
            groups = strict_json(file.read())["jobs"]
        self.assertEqual([(job["read"]["io_bytes"], job["read"]["total_ios"]) for job in groups],
                         [(2 << 20, 260)])
        with open(self.path("t.txt"), encoding="utf-8") as file:
            told = file.read()
        for words in ["alpha", "beta", "different block sizes are in one distribution"]:
            self.assertIn(words, told)

    # NUM-03
    def test_one_mebibyte_is_1048576_bytes_and_nothing_else_is_called_bytes(self):
        self.run_job("[j]\nioengine=null\nsize=1m\nbs=1m\nrw=read\n",
                     "--output", "json:o.json", "--output", "fio-json:f.json")
        for name, key in [("o.json", "bytes"), ("f.json", "io_bytes")]:
            with open(self.path(name), "rb") as file:
                document = strict_json(file.read())
            found = list(values_of(document, key))
            self.assertIn(1048576, found, name)
            self.assertEqual({value for value in found if value}, {1048576}, name)
        with open(self.path("o.json"), "rb") as file:
            self.assertGreaterEqual(strict_json(file.read())["schema_version"], 1)

    # NUM-08
    def test_no_key_twice_with_many_jobs(self):
        text = "[global]\nioengine=null\nsize=1m\nrw=randrw\n" + "".join(
            f"[j{i}]\nbs={4 << i}k\n" for i in range(8))
        for output in ["json", "fio-json", "fio-json+"]:
            out, _ = self.run_job(text, "--output", output)
            document = strict_json(out)
            if output != "json":
                self.assertEqual(len(document["jobs"]), 8)
                for job in document["jobs"]:
                    self.assertNotIn("0.00", job["read"]["clat_ns"]["percentile"])


class Targets(ProgramTest):
    def test_what_was_there_is_left_alone(self):
        self.write("was.txt", "precious")
        os.symlink("was.txt", self.path("link"))
        for name in ["was.txt", "link", "./was.txt"]:
            self.refused(FILE + f"rw=write\nfilename={name}\n", "was there before", "--allow-write",
                         code=3)
        self.refused(FILE + "rw=read\nfilename=was.txt\n", "64 KiB", code=3)
        with open(self.path("was.txt")) as file:
            self.assertEqual(file.read(), "precious")

    def test_no_file_is_made_in_the_kernels_directories(self):
        os.symlink("/dev/cephmark-typo", self.path("dangling"))
        for name in ["/dev/cephmark-typo", "/dev/../dev/cephmark-typo", "/proc/cephmark-typo",
                     "/sys/cephmark-typo", "dangling"]:
            for rw in ["read", "write"]:
                self.refused(FILE + f"rw={rw}\nfilename={name}\n", "never made below", code=3)
        self.assertFalse(os.path.exists("/dev/cephmark-typo"))

    def test_what_is_no_storage(self):
        os.mkfifo(self.path("pipe"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("socket"))
            for name in ["pipe", "socket", "/dev/null", "/dev/zero"]:
                for rw in ["read", "write"]:
                    self.refused(FILE + f"rw={rw}\nfilename={name}\n", "neither a regular file",
                                 code=3)

    def test_a_colon_in_a_name_that_exists(self):
        self.write("pci-0000:06", b"x" * 65536)
        self.refused(FILE + "rw=read\nfilename=pci-0000:06\n", "pci-0000\\:06")
        self.run_job(FILE + "rw=read\nfilename=pci-0000\\:06\n")

    def test_more_than_the_file_system_holds(self):
        free = shutil.disk_usage(self.directory).free
        each = free // 3 // 4096 * 4096
        self.refused(f"[j]\nioengine=psync\nsize={each}\nnumjobs=4\nrw=read\n", "free", code=3)
        self.refused(f"[j]\nioengine=psync\nsize={each}\nnumjobs=4\nrw=write\n", "free", code=3)

    def test_a_missing_directory_is_named(self):
        self.refused(FILE + "rw=write\nfilename=no/such/f\n", "mkdir -p no/such", code=3)

    def test_a_file_that_cannot_be_made_large_enough_is_not_left_behind(self):
        self.refused("[j]\nioengine=psync\nsize=900p\nruntime=1\nrw=write\nfilename=f\n", "extend",
                     code=3)


class Pipes(ProgramTest):
    def test_a_reader_that_goes_early(self):
        self.job("[global]\nioengine=null\nsize=1m\nrw=randread\n" +
                 "".join(f"[s{i}]\n" for i in range(100)))
        process = self.start("run", "j.fio", "--quiet", "--output", "json")
        process.stdout.read(1)
        process.stdout.close()
        self.assertEqual(process.wait(LIMIT_S), 0, process.stderr.read())
        process.stderr.close()
        self.assertEqual(len(os.listdir(self.path("data/cephmark/results"))), 1)

    def test_closed_descriptors_never_hit_a_target(self):
        self.job(FILE + "rw=write\nfilename=f\nzero_buffers\n")
        for closed in [(0,), (1,), (2,), (0, 1, 2)]:
            shell = "exec \"$0\" run j.fio --output json --no-keep --allow-write f " + " ".join(
                f"{fd}>&-" for fd in closed)
            done = subprocess.run(["sh", "-c", shell, PROGRAM], cwd=self.directory,
                                  env=self.environment, capture_output=True, timeout=LIMIT_S)
            self.assertEqual(done.returncode, 3 if 1 in closed else 0, done.stderr)
            if os.path.exists(self.path("f")):
                with open(self.path("f"), "rb") as file:
                    self.assertEqual(file.read().strip(b"\0"), b"")

    def test_a_full_disk_for_the_report(self):
        self.job(NULL)
        with open("/dev/full", "wb") as full:
            _, err = self.call("run", "j.fio", "--quiet", stdout=full, code=3)
        self.assertIn("No space left", err)
        self.assertEqual(len(os.listdir(self.path("data/cephmark/results"))), 1)

    def test_words_that_are_lost_are_no_success(self):
        self.job(NULL)
        for words in [["version"], ["help"], ["run", "--help"], ["run", "j.fio", "--plan"]]:
            with open("/dev/full", "wb") as full:
                _, err = self.call(*words, stdout=full, code=3)
            self.assertIn("standard output", err)

    def test_a_report_never_replaces_the_job(self):
        self.job(NULL)
        os.symlink("j.fio", self.path("link"))
        for name in ["j.fio", "./j.fio", "link"]:
            _, err = self.call("run", "j.fio", "--output", "json:" + name, code=2)
            self.assertIn("that is the job file", err)
        with open(self.path("j.fio")) as file:
            self.assertEqual(file.read(), NULL)

    def test_a_place_for_the_files_of_vms_that_is_none_is_refused_before_the_run(self):
        self.write("results", "not a directory")
        self.job(ENDLESS)
        _, err = self.call("run", "j.fio", "--vms", "2", code=3)
        self.assertIn("--results-dir", err)

    def test_files_of_vms_that_cannot_be_written_cost_no_result(self):
        process = self.start_endless("--vms", "1", "--results-dir", "taken-meanwhile")
        self.write("taken-meanwhile", "not a directory")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 130)
        self.assertGreater(strict_json(out)["vms"][0]["jobs"][0]["ops"]["read"]["ios"], 0)
        self.assertEqual(len(os.listdir(self.path("data/cephmark/results"))), 1)

    def test_a_report_into_a_missing_directory_is_refused_before_the_run(self):
        self.job(ENDLESS)
        _, err = self.call("run", "j.fio", "--output", "json:no/x.json", code=3)
        self.assertIn("make the directory no", err)


class Cpus(ProgramTest):
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "NOT TESTED: there is one CPU")
    def test_max_cpus_bounds_every_thread(self):
        process = self.start_endless("--max-cpus", "1")
        threads = [int(name) for name in os.listdir(f"/proc/{process.pid}/task")]
        self.assertGreater(len(threads), 1)
        sets = {frozenset(os.sched_getaffinity(thread)) for thread in threads}
        self.assertEqual(sorted(len(cpus) for cpus in sets), [1])
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT_S)
        self.assertEqual(strict_json(out)["allowed_cpus"], 1)


class Signals(ProgramTest):
    def test_a_signal_keeps_what_was_measured(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            with self.subTest(number):
                process = self.start_endless()
                process.send_signal(number)
                out, _ = process.communicate(timeout=LIMIT_S)
                self.assertEqual(process.returncode, 128 + number)
                result = strict_json(out)
                self.assertIn(signal.Signals(number).name, result["stop_reason"])

    def test_nohup(self):
        process = self.start_endless(
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)


class Places(ProgramTest):
    def test_an_environment_with_nothing_in_it(self):
        self.environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TERM": "dumb",
                            "XDG_DATA_HOME": self.path("d"), "XDG_STATE_HOME": self.path("s")}
        self.run_job(NULL)

    def test_folders_that_cannot_be_written(self):
        self.environment["XDG_STATE_HOME"] = "/proc/nowhere"
        _, err = self.run_job(NULL, code=3)
        self.assertIn("XDG_STATE_HOME", err)
        self.environment.update(XDG_STATE_HOME=self.path("state"), XDG_DATA_HOME="/proc/nowhere")
        out, err = self.run_job(NULL, "--output", "json", code=3)
        strict_json(out)  # the report comes all the same
        self.assertIn("XDG_DATA_HOME", err)
        self.run_job(NULL, "--no-keep")

    def test_two_fleets_in_one_directory_at_once(self):
        first = self.start_endless("--vms", "2")
        _, err = self.call("run", "j.fio", "--vms", "2", "--runtime", "1s", "--quiet")
        first.send_signal(signal.SIGINT)
        out, _ = first.communicate(timeout=LIMIT_S)
        strict_json(out)
        folders = os.listdir(self.path("results"))
        self.assertEqual(len(folders), 2, f"{folders}: one was moved aside, none was lost; {err}")
        for folder in folders:
            files = sorted(os.listdir(self.path("results/" + folder)))
            self.assertEqual(len([name for name in files if "result" in name]), 2, files)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
