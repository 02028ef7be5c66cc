"""report: the table of ./dev bench, and its place in docs/benchmarks.md."""
import dataclasses
import os
import pathlib
import platform
import re
import statistics
import subprocess
import time

BEGIN, END = "<!-- table: made by ./dev bench -->", "<!-- end of table -->"


@dataclasses.dataclass
class Row:
    work: str
    against: str
    ours: str
    theirs: str
    ratio: str
    target: str
    verdict: str


def cost(value, unit):
    if unit is None:  # nanoseconds
        return f"{value:,.1f} ns" if value < 100 else f"{value:,.0f} ns" if value < 10_000 else f"{value / 1000:,.1f} us"
    return f"{value:,.1f}{unit}" if unit == " s" else f"{value:,.0f}{unit}"


def spread(values, unit):
    low, middle, high = cost(min(values), unit), cost(statistics.median(values), unit), cost(max(values), unit)
    return middle if low == high else f"{middle} ({low} to {high})"


class Table:
    def __init__(self):
        self.rows = []

    def add(self, row):
        self.rows.append(row)

    def add_ratio(self, work, against, ours, theirs, target, unit=None):
        """Ratios of runs that followed each other; `target`: the most that is wanted, None: reported only."""
        if any(value is None for value in ours + theirs):
            self.add(Row(work, against, "not known", "not known", "-", "-", "not measured"))
            return
        ratios = [a / b for a, b in zip(ours, theirs)]
        middle = statistics.median(ratios)
        self.add(Row(work, against, spread(ours, unit), spread(theirs, unit),
                     f"{middle:.3f} ({min(ratios):.3f} to {max(ratios):.3f})",
                     "reported" if target is None else f"<= {target:.3f}",
                     "" if target is None else "met" if middle <= target else "missed"))

    def add_limit(self, work, value, most, unit):
        shown = "not known" if value is None else cost(value, unit)
        verdict = "" if most is None else "not measured" if value is None else "met" if value <= most else "missed"
        self.add(Row(work, "-", shown, "-", "-", "reported" if most is None else f"<= {cost(most, unit)}", verdict))

    def markdown(self):
        head = ("work", "beside", "cephmark", "the other", "ratio", "target", "")
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(dataclasses.astuple(row)) + " |" for row in self.rows]
        return "\n".join(lines)


def output_of(*argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "not there"


def machine_text():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return (f"{time.strftime('%Y-%m-%d')}, {len(os.sched_getaffinity(0))} CPUs ({model.group(1) if model else '?'}), "
            f"Linux {platform.release()}, {output_of('fio', '--version')}, {output_of('ceph', '--version')[:20]}, "
            f"load average when it ended {os.getloadavg()[1]:.1f}")


def write_document(path, table):
    """Puts the table between the marks of a document, or makes one."""
    text = path.read_text() if path.exists() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    new = f"{BEGIN}\n{machine_text()}\n\n{table.markdown()}\n{END}"
    path.write_text(text[:text.index(BEGIN)] + new + text[text.index(END) + len(END):])
