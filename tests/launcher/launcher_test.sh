#!/usr/bin/env bash
# What the launcher says where packages, rights, network or disk are missing, with fakes of the
# system's tools in front of PATH.
set -uo pipefail
root=${GRADWIRE_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
check() { # check NAME OUTPUT PATTERN
  if grep -qE -- "$3" <<<"$2"; then echo "ok: $1"; else echo "FAILED: $1; wanted: $3; got:"; echo "$2"; failures=$((failures + 1)); fi
}
fake() { printf '#!/bin/sh\n%s\n' "$2" > "$work/bin/$1"; chmod +x "$work/bin/$1"; }

# A copy of the scripts, so that nothing is written into the source tree.
mkdir -p "$work/bin" "$work/tree/scripts"
cp "$root"/scripts/* "$work/tree/scripts/"
export PATH=$work/bin:$PATH GRADWIRE_DEPS=$work/tree/.deps

# 1. No rights: necessary packages are named with the command, and the build does not start.
fake id 'echo 1000'
fake sudo 'exit 1'
fake dpkg-query 'exit 1'
output=$("$work/tree/scripts/install-needs" core training gui 2>&1 </dev/null); status=$?
check "stops without a necessary package" "status $status" '^status 1$'
check "names the package and the command" "$output" 'sudo apt-get update && sudo apt-get install .*libsqlite3-dev'

# 2. No rights, but everything necessary is there: only the optional features are off.
fake dpkg-query 'for last; do :; done; case $last in qt6-base-dev) exit 1;; esac; echo "ii "'
fake python3 'case "$*" in *download*) echo "could not connect" >&2; exit 1;; esac; exit 0'
output=$("$work/tree/scripts/install-needs" core training gui 2>&1 </dev/null); status=$?
check "goes on without an optional package" "status $status" '^status 0$'
check "says which features are off" "$output" 'optional packages.*qt6-base-dev'

# 3. No network: the wheels by hand.
check "says how to fetch wheels by hand" "$output" 'pip download .*|copy the folder .wheels. to'

# 4. Too little disk.
fake df 'echo "Filesystem 1M-blocks Used Available Use% Mounted"; echo "x 10 9 100 99% /"'
output=$("$work/tree/scripts/install-needs" core training gui 2>&1 </dev/null); status=$?
check "stops with too little disk" "status $status" '^status 1$'
check "says how much is needed" "$output" 'has 100 MB free'

# 5. Parts: what an unknown one is told, and that a first start needs no package of the others.
output=$("$work/tree/scripts/build" release --part nonsense 2>&1); check "an unknown part" "status $? $output" 'status 2 .*parts: core training'
(source "$root/scripts/parts"; packages_of core) | grep -qE 'qt6|catch2|simgrid' && { echo "FAILED: core needs too much"; failures=$((failures + 1)); }

# 6. Progress: ninja's lines become plain lines with the share done where there is no terminal.
output=$(source "$root/scripts/progress"; GRADWIRE_PROGRESS_S=0
         for i in 1 2 20 40; do echo "[$i/40] Building CXX object x.o"; done | show_ninja 2>&1)
check "progress says how many are done" "$output" 'building: 20 of 40, about [0-9]+ s left'
output=$(source "$root/scripts/progress"; watch "doing" false 2>&1; echo "status $?"); check "watch gives the status" "$output" '^status 1$'

# 7. A change in any folder that CMake adds is built: a copy with one source a folder, and a build that
# only says so.
mkdir -p "$work/copy/scripts" "$work/copy/build/release/bin" "$work/copy/cmake"
cp "$root"/{gradwire,CMakeLists.txt,CMakePresets.json} "$work/copy/"
printf '#!/bin/sh\necho built; touch "%s"\n' "$work/copy/build/release/.stamp" > "$work/copy/scripts/build"
printf '#!/bin/sh\n' > "$work/copy/build/release/bin/gradwire"
chmod +x "$work/copy/scripts/build" "$work/copy/build/release/bin/gradwire"
added=()
for folder in $(cd "$root" && find [a-z]* -mindepth 1 -name CMakeLists.txt -not -path 'build/*' -not -path 'tests/*' -printf '%h\n' | sort); do
  mkdir -p "$work/copy/$folder"; touch "$work/copy/$folder/x.cc"; added+=("$folder")
done
check "folders that CMake adds" "${added[*]}" '^base bench .* bridge .*trainers/methods'
find "$work/copy" -exec touch -d '1 hour ago' {} +
touch -d '1 minute ago' "$work/copy/build/release/.stamp"
check "nothing has changed" "built: $(env -u GRADWIRE_PRESET "$work/copy/gradwire")" '^built: $'
for folder in "${added[@]}" cmake; do
  touch "$work/copy/$folder/x.cc"
  check "a change in $folder" "$(env -u GRADWIRE_PRESET "$work/copy/gradwire")" '^built$'
  find "$work/copy/$folder" -exec touch -d '1 hour ago' {} +
done

# 8. Programs that benchmarks start are built with their part.
for program in $(grep -rhoE '= "gradwire-bench-[a-z0-9]+"' "$root/bench" | tr -d '="' | sort -u); do
  check "part bench has $program" "$(source "$root/scripts/parts"; targets_of bench)" "\\b$program\\b"
done

# 9. Usage.
output=$("$root/gradwire" build --nonsense 2>&1); check "build usage" "status $?" '^status 2$'
((failures == 0))
