#!/bin/bash
# Runs in another root with the checkout at /cephmark (see trixie.sh): installs the packages, builds release, tests.
# Takes the packages as arguments and the number of jobs in JOBS.
set -euo pipefail
cd /cephmark

missing=()
for package in "$@"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  printf 'installing %d packages\n' ${#missing[@]}
  apt-get -qq update
  apt-get -qq -y --no-install-recommends install "${missing[@]}" >/var/log/install.log 2>&1 ||
    { tail -n 20 /var/log/install.log; exit 3; }
  apt-get clean
fi
g++ --version | head -n 1
ceph-mon --version
fio --version

# A run that was killed may have left its cluster's data, never its processes.
rm -rf build/release/tests/ceph/lab
cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build --preset release --parallel "$JOBS" -- -k 0 >build/build.log 2>&1 ||
  { grep -E 'error|FAILED' -A 5 build/build.log; exit 1; }
if grep -q 'warning:' build/build.log; then
  grep -A 8 'warning:' build/build.log
  printf 'the build has warnings (above)\n'
  exit 1
fi
ctest --test-dir build/release -j "$JOBS" --output-on-failure --no-tests=error
