#!/usr/bin/env python3
"""Runs the commands of README.md's console blocks against the lab and holds their output against what README shows.
Numbers, units and ids differ from run to run, so lines are compared by their shape; a line of README that no line of
the real output has the shape of is a failure. `--update` puts the real output into README instead.

  readme_test.py --cephmark build/release/src/cephmark [--update]      (CEPH_CONF names the cluster)
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"(^```console\n)(.*?)(^```$)", re.M | re.S)
# What depends on the machine and the moment: warnings, and the marks of percentiles with few samples.
VARIES = re.compile(r"warning|doubtful|^\s*(client-cpu|few-samples|counters|run-too-short|recovery|health|depth|generator)"
                    r"|^ {6}\S|^ {18}|^  (Host|Ceph|Pool) |fewer than|OSD counters|Merged|merged")


def shape(line):
    line = re.sub(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b", "ID", line)
    line = re.sub(r"\b\d{8}-\d{6}-\S+", "ID", line)
    line = re.sub(r"(?<![A-Za-z])-?\d[\d,.:-]*\*?", "#", line)
    line = re.sub(r"# ?(ns|us|ms|s|min)\b\*?", "#", line)
    line = re.sub(r"# ?([KMGT]i?)?B\b", "#", line)
    line = re.sub(r"\((#|warm-up .*)\)", "", line)
    return re.sub(r"\s+", " ", line).strip()


def run(command, environment, directory):
    done = subprocess.run(["bash", "-c", command], env=environment, cwd=directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240)
    if done.returncode:
        sys.exit(f"README's command '{command}' ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout.replace(environment.get("CEPH_CONF", "-"), "/etc/ceph/ceph.conf")


def parts(block):
    """[(command, shown output)]"""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        else:
            found[-1][1].append(line)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cephmark", required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    scratch = tempfile.TemporaryDirectory()
    here = pathlib.Path(scratch.name)
    (here / "examples").symlink_to(ROOT / "examples")
    environment = dict(os.environ, XDG_DATA_HOME=str(here / "data"), XDG_STATE_HOME=str(here / "state"), HOME=str(here),
                       CEPHMARK_HOST="vm",
                       PATH=str(pathlib.Path(arguments.cephmark).resolve().parent) + ":" + os.environ["PATH"])
    environment.pop("CEPH_ARGS", None)
    text, wrong, commands = README.read_text(), [], 0

    def visit(match):
        nonlocal commands
        lines = []
        for command, shown in parts(match.group(2)):
            commands += 1
            real = run(command, environment, here).splitlines()
            lines += ["$ " + command] + [line.rstrip() for line in real]
            shapes = {shape(line) for line in real}
            for line in shown:
                if line.strip() and not VARIES.search(line) and shape(line) not in shapes:
                    wrong.append(f"$ {command}\n  README shows: {line}\n  as a shape:   {shape(line)}")
        return match.group(1) + "\n".join(lines) + "\n" + match.group(3)

    renewed = BLOCK.sub(visit, text)
    if arguments.update:
        README.write_text(renewed)
        print(f"README.md: {commands} commands renewed")
        return 0
    for entry in wrong:
        print(entry)
    print(f"README.md: {commands} commands, {len(wrong)} lines that the real output does not have")
    return 1 if wrong or commands == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
