#!/usr/bin/env python3
"""The arrows of the house point down only: every #include "folder/..." in src/X must name X itself or a folder in
the DEPS of X (or of one of those, and so on) in src/CMakeLists.txt. Also: only src/output and src/cli write to the
terminal."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
# Folders that may write to stdout or stderr. base holds the abort message of a broken invariant.
TERMINAL = {"output", "cli", "base"}


def dependencies():
    deps = {}
    for match in re.finditer(r"^cephmark_library\((\w+)([^)]*)\)", (SRC / "CMakeLists.txt").read_text(), re.M):
        words = match.group(2).split()
        listed, keep = [], False
        for word in words:
            if word in ("DEPS", "LIBS"):
                keep = word == "DEPS"
            elif keep:
                listed.append(word)
        deps[match.group(1)] = listed
    return deps


def closure(deps, folder):
    seen, todo = set(), [folder]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += deps.get(name, [])
    return seen


def main():
    deps, wrong, files = dependencies(), [], 0
    order = list(deps)
    for folder, below in deps.items():
        for name in below:
            if name not in deps or order.index(name) > order.index(folder):
                wrong.append(f"src/CMakeLists.txt: {folder} depends on {name}, which is not below it")
    for path in sorted(SRC.glob("*/*.cc")) + sorted(SRC.glob("*/*.h")):
        files += 1
        folder = path.parent.name
        allowed = closure(deps, folder)
        is_test = path.stem.endswith(("_test", "_bench", "_fuzz"))
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#include "([^"/]+)/', line)
            if match and match.group(1) not in allowed and (SRC / match.group(1)).is_dir():
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {folder} may not include {match.group(1)}/")
            if folder not in TERMINAL and not is_test and re.search(
                    r"\b(std::cout|std::cerr|stderr|stdout|printf\(|fmt::print\((?!out))", line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: only src/output and src/cli write to the terminal")
    for line in wrong:
        print(line, file=sys.stderr)
    if not deps or files < 10:
        print("layers: found no folders to check", file=sys.stderr)
        return 1
    print(f"layers: {files} files in {len(deps)} folders, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
