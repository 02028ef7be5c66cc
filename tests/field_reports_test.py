#!/usr/bin/env python3
"""Trouble that people who benchmark storage ran into, each with the right value as a test: every one of the ids below
stands in a comment of the test that holds it (`// NUM-04: ...`), a file of the name *_test.cc or *_test.py. A list in
a file's opening comment names no test and does not count."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORTS = {
    "FIL": range(1, 7),
    "PAR": range(1, 10),
    "NUM": [1, 2, 3, 4, 5, 6, 8, 9, 11, 12],
    "HNG": [1, 3, 5],
    "RAD": [1, 2, 3, 4, 5, 6, 7, 8, 10, 11],
    "RBD": range(1, 8),
    "SAF": range(1, 6),
    "USE": [1, 2, 3, 4, 8],
}
# A test begins with one of these; a comment counts from the end of the test before it to its own last line.
TEST = re.compile(r"^(TEST(_[FP])?\(|    def test_)")
COMMENT = re.compile(r"(//|#)(.*)$")
ID = re.compile(r"\b(?:FIL|PAR|NUM|HNG|RAD|RBD|SAF|USE)-\d\d\b")


def ids_named(path):
    """The ids in comments right above a test or inside one."""
    found, above, inside = set(), set(), False
    for line in path.read_text().splitlines():
        if TEST.match(line):
            found |= above
            above, inside = set(), True
            continue
        if line.startswith("}"):
            inside = False
        comment = COMMENT.search(line)
        if not comment:
            if line.strip():
                above = set()
            continue
        ids = set(ID.findall(comment.group(2)))
        above |= ids
        if inside:
            found |= ids
    return found


def main():
    wanted = {f"{kind}-{number:02}" for kind, numbers in REPORTS.items() for number in numbers}
    files = [path for folder in ("src", "tests") for pattern in ("**/*_test.cc", "**/*_test.py")
             for path in sorted((ROOT / folder).glob(pattern)) if path != pathlib.Path(__file__).resolve()]
    named = set().union(*(ids_named(path) for path in files))
    for missing in sorted(wanted - named):
        print(f"field reports: no test names {missing}", file=sys.stderr)
    print(f"field reports: {len(wanted & named)} of {len(wanted)} stand beside a test, in {len(files)} files")
    return 1 if wanted - named else 0


if __name__ == "__main__":
    sys.exit(main())
