#!/usr/bin/env bash
# .ci/quick's looks at commits and sources fail where they must, each with a control that passes: in a
# small repository of its own.
set -uo pipefail
root=${GRADWIRE_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
for tool in git clang-format-14 clang-tidy-14; do
  command -v $tool >/dev/null || { echo "skipped: gates: there is no $tool; Debian: apt-get install $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir scripts
cp "$root"/scripts/{base-commit,check-commits,check-format,check-tidy} scripts/
cp "$root"/.clang-{format,tidy} .
git() { command git -c user.name=t -c user.email=t@t "$@"; }
# A build of one file: check-tidy asks CMake how sources are compiled.
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_library(small STATIC good.cc new.cc)
END
echo '{"version": 6, "configurePresets": [{"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}]}' > CMakePresets.json
echo /build > .gitignore
printf 'int one() {\n  return 1;\n}\n' | tee good.cc > new.cc
git init -q -b main . && git add . && git commit -qm 'all: add a source' && git commit -q --allow-empty -m 'all: begin'

failures=0
# expect STATUS NAME PATTERN COMMAND...: the command's exit status, and what it says.
expect() {
  local wanted=$1 name=$2 pattern=$3 said status; shift 3
  said=$("$@" 2>&1); status=$?
  if ((status == wanted)) && grep -qE -- "$pattern" <<< "$said"; then echo "ok: $name"; return; fi
  echo "FAILED: $name: status $status, wanted $wanted and \"$pattern\"; it said:"; echo "$said"; failures=$((failures + 1))
}

expect 0 'formatted sources pass' '' scripts/check-format
printf 'int  two( ){ return 2; }\n' > new.cc
expect 1 'a source that is not formatted is named' '^new.cc$' scripts/check-format
scripts/check-format --fix
expect 0 'and formatted by --fix' '' scripts/check-format

printf '#include <string>\n#include <utility>\n\nstd::size_t two(std::string text) {\n  const std::string taken = text;\n  return taken.size();\n}\n' > new.cc
expect 1 'a copy that nobody needs is found' 'new.cc:5.*performance-unnecessary-copy-initialization' scripts/check-tidy
printf '#include <string>\n#include <utility>\n\nstd::size_t two(std::string text) {\n  const std::string taken = std::move(text);\n  return taken.size() + text.size();\n}\n' > new.cc
expect 1 'use after a move is found' 'new.cc:6.*bugprone-use-after-move' scripts/check-tidy
git checkout -q new.cc
expect 0 'nothing has changed' 'no source has changed' scripts/check-tidy

subject() { git commit -q --amend --allow-empty -m "$1"; }
for good in 'results: read nccl-tests of several GPUs a process' 'sim, runner: keep what a link carried' 'ci: hold subjects to a form'; do
  subject "$good"; expect 0 "passes: $good" '' scripts/check-commits
done
for bad in 'sim: networks are told the graph' 'read logs' 'sim: fixed a leak' 'sim: adds a queue' 'sim: adding a queue' \
           'sim: run is over sooner' 'Sim: add a queue' 'docs: the figures' 'sim: add a queue.' \
           'sim: add a queue whose length is such that this subject has far too many letters'; do
  subject "$bad"; expect 1 "is refused: $bad" 'area: imperative' scripts/check-commits
done
GRADWIRE_BASE=HEAD expect 0 'GRADWIRE_BASE says what is new' '' scripts/check-commits
GRADWIRE_BASE=nonsense expect 2 'and has to be a commit' 'no commit of this clone' scripts/check-commits

# All of them stand in the quick tier, which builds the two programs, too.
for step in check-commits check-format check-tidy 'test --quick' 'part packet --part gui'; do
  expect 0 ".ci/quick has $step" . grep -F -- "$step" "$root/.ci/quick"
done
((failures == 0))
