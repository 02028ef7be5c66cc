#!/usr/bin/env python3
"""cephmark rados and a link named rados: what needs no cluster, beside the real rados where it is installed.

rados_test.py PROGRAM [unittest options].
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
LIMIT_S = 120  # a hang, not slowness
REAL = shutil.which("rados")
needs_real = unittest.skipUnless(REAL, "rados is not installed")


class RadosTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="cephmark-rados-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.environment = dict(os.environ, XDG_DATA_HOME=self.path("data"), HOME=self.directory,
                                XDG_STATE_HOME=self.path("state"))
        for name in ("CEPH_CONF", "CEPH_ARGS"):
            self.environment.pop(name, None)
        os.mkdir(self.path("bin"))
        self.link = self.path("bin/rados")
        os.symlink(PROGRAM, self.link)

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, command, **more):
        environment = dict(self.environment, **more)
        return subprocess.run(command, cwd=self.directory, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S)

    def ours(self, *words, **more):
        return self.start([self.link, *words], **more)

    def command(self, *words, **more):
        return self.start([PROGRAM, "rados", *words], **more)

    def theirs(self, *words):
        return self.start([REAL, *words])

    def stand_in(self, text):
        """A program named rados that comes later on PATH than the link."""
        os.mkdir(self.path("later"))
        with open(self.path("later/rados"), "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(self.path("later/rados"), stat.S_IRWXU)
        return {"PATH": self.path("bin") + ":" + self.path("later") + ":/usr/bin:/bin"}


class OtherSubcommands(RadosTest):
    def test_they_go_to_the_real_program_with_all_their_words(self):
        path = self.stand_in('echo "$0: $@"; exit 7\n')
        for start in (self.ours, self.command):
            result = start("-p", "x", "ls", "--nonsense", "a b", **path)
            self.assertEqual(result.stdout, self.path("later/rados") + ": -p x ls --nonsense a b\n")
            self.assertEqual(result.returncode, 7)

    def test_never_to_ourselves(self):
        shutil.copy(PROGRAM, self.path("copy"))
        os.mkdir(self.path("copies"))
        os.rename(self.path("copy"), self.path("copies/rados"))
        only_us = {"PATH": self.path("bin") + ":" + self.path("copies")}
        result = self.ours("-p", "x", "ls", **only_us)
        self.assertEqual(result.returncode, 1)
        self.assertIn("the rados on PATH is cephmark, too", result.stderr)
        result = self.ours("-p", "x", "ls", PATH=self.path("bin"))
        self.assertIn("there is no other rados on PATH", result.stderr)

    @needs_real
    def test_version_is_the_real_ones(self):
        self.assertEqual(self.ours("--version").stdout, self.theirs("--version").stdout)

    def test_load_gen_is_refused_in_one_sentence(self):
        for start in (self.ours, self.command):
            result = start("-p", "x", "load-gen", "--run-length", "1")
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("rados load-gen is not done here", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertEqual(result.stdout, "")


class CommandLine(RadosTest):
    def test_mistakes_in_our_words(self):
        for words, says in ((["-p", "x", "bench", "5x", "write"], "Invalid value for seconds: '5x'"),
                            (["bench", "5", "write"], "bench needs a pool: -p POOL"),
                            (["-p", "x", "bench", "5", "read"], "there is no 'read'"),
                            (["-p", "x", "bench", "5", "write", "--payload", "ones"],
                             "there is no 'ones'")):
            result = self.command(*words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertTrue(result.stderr.startswith("cephmark: "), result.stderr)
            self.assertIn(says, result.stderr)
            self.assertEqual(result.stdout, "")

    def test_compat_keeps_the_originals_codes(self):
        for words, code in ((["-p", "x", "bench", "5x", "write"], 1),
                            (["-p", "x", "bench", "5", "write", "-b", "4k"], 234),
                            (["-p", "x", "bench", "5", "seq", "-b", "4096"], 1)):
            for result in (self.ours(*words), self.command("--compat", *words)):
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertFalse(result.stderr.startswith("cephmark"), result.stderr)
            self.assertEqual(self.ours("--no-compat", *words).returncode, 2)

    def test_help_names_every_option(self):
        for result in (self.command("--help"), self.ours("bench", "--help")):
            self.assertEqual(result.returncode, 0)
            for word in ("--no-cleanup", "--reuse-bench", "--omap-read-max-return", "--payload",
                         "--json-strings", "--allow-nearfull"):
                self.assertIn(word, result.stdout)

    def test_without_a_cluster_the_reason_is_named(self):
        result = self.command("-p", "x", "-c", self.path("none.conf"), "bench", "1", "write")
        self.assertEqual(result.returncode, 3)
        self.assertIn("none.conf", result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.ours("-p", "x", "-c", self.path("none.conf"), "bench", "1",
                                   "write").returncode, 1)

    def test_an_output_that_cannot_be_written_is_told_before_the_run(self):
        result = self.command("-p", "x", "-c", self.path("none.conf"), "bench", "1", "write", "-f", "json",
                              "-o", self.path("no/such/folder"))
        self.assertIn("no/such/folder", result.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
