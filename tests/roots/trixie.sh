#!/usr/bin/env bash
# Builds cephmark with Debian trixie's g++ 14 and runs the suites there, with Ceph 18.2 (Reef) and fio 3.39.
#
#   tests/roots/trixie.sh PACKAGE...       (./dev test --full calls it; the packages are what ./dev installs)
#
# The system is made once with debootstrap in $XDG_CACHE_HOME/cephmark/trixie (default ~/.cache; about 2.5 GB with
# its ccache) and used again; remove that folder to make it anew. The mirror is the one that this machine's apt uses,
# the keys are those of debian-archive-keyring. The checkout is mounted read-only, what is built goes to build/trixie. Everything runs in a mount and a
# process namespace of its own: however this ends, no mount and no daemon outlives it, and nothing else is touched.
set -euo pipefail

suite=trixie
tree=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/cephmark
root=$cache/$suite
products=$tree/build/$suite
jobs=${CEPHMARK_TEST_JOBS:-$(nproc)}

say() { printf '\n== trixie: %s\n' "$*" >&2; }
die() { printf 'trixie.sh: %s\n' "$1" >&2; [ $# -lt 2 ] || printf '  hint: %s\n' "$2" >&2; exit 3; }

# The mirror of Debian itself (not of security updates) that this machine's apt uses.
mirror_of_this_machine() {
  apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Label: Debian' 'Component: main' | head -n 1
}

make_root() {
  local mirror
  command -v debootstrap >/dev/null || die 'debootstrap is not installed' 'apt-get install debootstrap'
  mirror=$(mirror_of_this_machine)
  [ -n "$mirror" ] || die "apt knows no Debian mirror, so there is nothing to make $root from" \
    'this part needs a Debian machine with its package lists present (apt-get update)'
  say "making $root"
  rm -rf "$root.part"
  debootstrap --variant=minbase "$suite" "$root.part" "$mirror" >"$cache/$suite.log" 2>&1 ||
    { tail -n 20 "$cache/$suite.log" >&2; die "debootstrap failed" "its log is $cache/$suite.log"; }
  # How this machine reaches its mirror is how the new system does.
  apt-config dump | grep -E '^Acquire::(http|https|Check|Retries)' >"$root.part/etc/apt/apt.conf.d/90machine" || true
  printf '#!/bin/sh\nexit 101\n' >"$root.part/usr/sbin/policy-rc.d"  # packages start no service
  chmod 755 "$root.part/usr/sbin/policy-rc.d"
  mv "$root.part" "$root"
}

# Runs in the namespaces, as their first process.
inside() {
  trap 'exit 143' TERM HUP
  trap 'exit 130' INT
  local place=$root/cephmark
  mkdir -p "$place" "$products" "$root/run"
  find "$root/tmp" -mindepth 1 -delete
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  mount --bind "$tree" "$place"
  mount --bind "$products" "$place/build"
  mount -o remount,bind,ro "$place"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive JOBS="$jobs" \
    /bin/bash /cephmark/tests/roots/build_and_test.sh "$@"
}

main() {
  [ "$(id -u)" -eq 0 ] || die 'NOT RUN: a root of another Debian release needs root (debootstrap, chroot, mount)' \
    'run ./dev test --full as root or where sudo is installed'
  [ $# -gt 0 ] || die 'usage: tests/roots/trixie.sh PACKAGE...'
  mkdir -p "$cache" "$products"
  exec 9>"$root.lock"
  flock --nonblock 9 || { say 'waiting for another run in the same root'; flock 9; }
  [ -d "$root" ] || make_root
  unshare --mount --propagation private --pid --fork --kill-child "$0" --inside "$@" 9>&- &
  local space=$! status=0
  # The namespace's first process dies with unshare, and with it everything that was started in it.
  trap 'kill -KILL "$space" 2>/dev/null || true' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  wait "$space" || status=$?
  chown -R --reference="$tree" "$products"
  exit "$status"
}

if [ "${1:-}" = --inside ]; then
  shift
  inside "$@"
else
  main "$@"
fi
