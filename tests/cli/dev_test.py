#!/usr/bin/env python3
"""The script ./dev: its words, and that a demonstration keeps off machines that have Ceph.

dev_test.py [unittest options]. Nothing is installed or built: cmake, apt-get and sudo are replaced by
programs that fail, so that a step too far ends at once.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 120


class Dev(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="cephmark-dev-")
        self.addCleanup(shutil.rmtree, self.directory)
        for name in ["cmake", "apt-get", "sudo"]:
            path = os.path.join(self.directory, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho too far: $0 >&2\nexit 77\n")
            os.chmod(path, 0o755)

    def dev(self, *words, code):
        environment = dict(os.environ, PATH=self.directory + ":" + os.environ["PATH"])
        done = subprocess.run([ROOT / "dev", *words], env=environment, cwd=self.directory, timeout=LIMIT_S, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("too far", done.stderr)
        return done

    def daemon(self, *words):
        """A process that is called ceph-osd and waits; its pid."""
        path = os.path.join(self.directory, "ceph-osd")
        if not os.path.exists(path):
            os.symlink("/bin/bash", path)
        script = os.path.join(self.directory, "wait")
        with open(script, "w", encoding="utf-8") as file:
            file.write("echo ready\nread forever\n")
        process = subprocess.Popen([path, script, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        process.stdout.readline()
        return process.pid

    def test_every_command_of_the_help_is_one(self):
        told = self.dev("help", code=0).stdout
        for word in ["demo", "test", "build", "bench", "lint", "format", "clean"]:
            self.assertRegex(told, rf"(?m)^  {word} ")

    def test_mistakes_are_told_and_leave_nothing_behind(self):
        before = sorted(os.listdir(ROOT))
        for words, text in [(["tset"], "no command 'tset'"), (["demo", "--yse"], "'--yse'"),
                            (["test", "--ful"], "'--ful'"), (["build", "relaese"], "no preset 'relaese'")]:
            told = self.dev(*words, code=2).stderr
            self.assertIn(text, told)
            self.assertNotIn("hint: \n", told)
        self.assertEqual(sorted(os.listdir(ROOT)), before)

    def test_a_demo_keeps_off_a_machine_with_daemons_that_are_of_no_lab(self):
        lab = os.path.join(self.directory, "lab")
        os.mkdir(lab)
        with open(os.path.join(lab, "cephmark-lab.json"), "w", encoding="utf-8"):
            pass
        of_a_lab = self.daemon("-c", lab + "/ceph.conf")
        foreign = self.daemon("-c", "/srv/ceph.conf")
        told = self.dev("demo", code=3).stderr
        self.assertIn(f"ceph-osd that runs (pid {foreign})", told)
        self.assertNotIn(f"(pid {of_a_lab})", told)
        for words in ["This machine already has Ceph", "would install", "nothing was done", "./dev demo --yes"]:
            self.assertIn(words, told)


if __name__ == "__main__":
    unittest.main()
