#!/usr/bin/env bash
# Tests ./weft with pretended commands:  weft_test.sh SOURCE-TREE
#
# Each case gets a copy of the script in a folder with a space in its name, and a folder of fake commands that stands
# first in PATH. The fakes write what they were asked to $calls. INSTALLED lists what the fake dpkg-query reports.
set -uo pipefail

source_tree=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree="$scratch/a tree"
fakes=$scratch/fakes
calls=$scratch/calls
failures=0

fake() {  # NAME, body on standard input
  { echo '#!/usr/bin/env bash'; cat; } >"$fakes/$1"
  chmod +x "$fakes/$1"
}

set_up() {
  rm -rf "$tree" "$fakes"
  mkdir -p "$tree" "$fakes" "$scratch/elsewhere"
  : >"$calls"
  cp "$source_tree/weft" "$source_tree/packages.txt" "$tree/"
  export calls tree INSTALLED_ALL=1 INSTALLED="" APT_KNOWS=1 USER_ID=0 BUILD_FAILS=0 CONFIGURE_FAILS=0
  fake dpkg-query <<'FAKE'
shift 2
for package; do
  if [ "$INSTALLED_ALL" = 1 ] || [[ " $INSTALLED " == *" $package "* ]]; then
    echo "ii |$package"
  elif [ "$package" = ccache ]; then
    echo "rc |$package"  # removed, its configuration left: not installed
  else
    echo "dpkg-query: no packages found matching $package" >&2
  fi
done
FAKE
  fake apt-get <<'FAKE'
echo "apt-get $*" >>"$calls"
[ "$1" != install ] || [ "$APT_KNOWS" = 1 ] || grep -q 'apt-get update' "$calls"
FAKE
  fake id <<<'echo "$USER_ID"'
  fake cmake <<'FAKE'
echo "cmake $*" >>"$calls"
if [ "$1" = --build ]; then
  echo "[0/2] Re-checking globbed directories..."
  echo "[1/2] Building a.o"
  [ "$BUILD_FAILS" = 0 ] || { echo "FAILED: a.o"; echo "a.cpp:1: error: broken"; exit 1; }
  [ -z "${PROGRAM:-}" ] || { mkdir -p "$2/sc_main"; cp "$PROGRAM" "$2/sc_main/weft"; }
else
  [ "$CONFIGURE_FAILS" = 0 ] || { echo "CMake Error: no SystemC"; exit 1; }
  testing=OFF
  [[ "$*" != *BUILD_TESTING=ON* ]] || testing=ON
  mkdir -p "$tree/build/release/tests/x"
  touch "$tree/build/release/build.ninja"
  printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nBUILD_TESTING:BOOL=%s\n' "$tree" "$testing" \
    >"$tree/build/release/CMakeCache.txt"
fi
FAKE
  fake ctest <<<'echo "ctest $*" "WEFT_CAMPAIGN=${WEFT_CAMPAIGN:-}" >>"$calls"; exit "${CTEST_STATUS:-0}"'
  mkdir -p "$tree/platform/linux/guest"
  cat >"$tree/platform/linux/guest/make_guest" <<'FAKE'
#!/usr/bin/env bash
{ printf 'make_guest:'; printf ' <%s>' "${@#"$tree"/}"; echo; } >>"$calls"
exit "${GUEST_STATUS:-0}"
FAKE
  chmod +x "$tree/platform/linux/guest/make_guest"
  PROGRAM=$scratch/program
  cat >"$PROGRAM" <<'FAKE'
#!/usr/bin/env bash
printf 'program:'; printf ' <%s>' "$@"; echo " in $PWD banner=$SYSTEMC_DISABLE_COPYRIGHT_MESSAGE"
exit "${PROGRAM_STATUS:-0}"
FAKE
  chmod +x "$PROGRAM"
  export PROGRAM
}

weft() {  # runs the script; sets out, err, status
  out=$(cd "$scratch/elsewhere" && PATH="$fakes:${path_after_fakes:-$PATH}" "$tree/weft" "$@" 2>"$scratch/err")
  status=$?
  err=$(cat "$scratch/err")
}

# A folder with the few real commands that the script may use, so that e.g. the machine's own sudo is not found.
bare_path() {
  mkdir -p "$scratch/bare"
  local command
  for command in bash env awk sed grep dirname readlink printf mkdir flock nproc cat cp mv touch find sort paste; do
    ln -sf "$(command -v "$command")" "$scratch/bare/$command"
  done
  path_after_fakes=$scratch/bare
}

check() {  # DESCRIPTION CONDITION...
  local what=$1
  shift
  if ! "$@"; then
    echo "FAILED: $what"
    printf '  status %s\n  out: %s\n  err: %s\n  calls:\n%s\n' "$status" "$out" "$err" "$(cat "$calls")"
    failures=$((failures + 1))
  fi
}
is() { [ "$1" = "$2" ]; }
has() { [[ $1 == *"$2"* ]]; }
has_not() { [[ $1 != *"$2"* ]]; }
called() { grep -qF -- "$1" "$calls"; }
not_called() { ! grep -qF -- "$1" "$calls"; }
times_called() { [ "$(grep -cF -- "$1" "$calls")" = "$2" ]; }

set_up
weft run --config 'my machine' --set a=b
check "passes arguments as they are, in the caller's folder" \
  is "$out" "program: <run> <--config> <my machine> <--set> <a=b> in $scratch/elsewhere banner=1"
check "status of the program" is "$status" 0
check "installs nothing that is there" not_called "apt-get"
check "leaves the tests out" called "-DBUILD_TESTING=OFF"
check "builds the program only" called "--target weft"
check "says what it does on standard error" has "$err" "building"
weft demo
check "configures once" times_called "--preset release" 1
check "demo goes to the program" has "$out" "<demo>"
PROGRAM_STATUS=3 weft run
check "keeps the program's status" is "$status" 3
ln -s "$tree/weft" "$scratch/elsewhere/link"
out=$(PATH="$fakes:$PATH" "$scratch/elsewhere/link" list 2>/dev/null)
check "works through a symbolic link" has "$out" "<list>"

set_up
mkdir -p "$tree/modules/a"
touch "$tree/modules/a/a.cpp" "$tree/modules/a/b.cpp"
weft demo
weft list
weft run
check "starts without a build step while nothing changes" times_called "cmake --build" 1
flock "$tree/build/release/.weft-lock" sleep 100 &
holder=$!
out=$(timeout 20 env PATH="$fakes:$PATH" "$tree/weft" list 2>&1)
check "then a start does not wait for a build" has "$out" "<list>"
pkill -P "$holder"
sleep 0.05
touch "$tree/modules/a/a.cpp"
weft demo
check "builds after an edit" times_called "cmake --build" 2
rm "$tree/modules/a/b.cpp"
weft demo
check "builds after a source was deleted" times_called "cmake --build" 3
weft cuda -- ./saxpy
check "builds other targets" called "--target product"
sleep 0.05
touch "$tree/modules/a/a.cpp"
BUILD_FAILS=1 weft demo
weft demo
check "builds again after a failure" is "$status" 0
check "a build that failed does not count" times_called "--target weft" 5

set_up
INSTALLED_ALL=0 INSTALLED="g++ cmake" weft demo
check "names what is missing" has "$err" "missing Debian packages: ninja-build ccache pkg-config"
check "does not name what is there" has_not "$err" "cmake ninja"
check "installs as root" called "apt-get install -y --no-install-recommends ninja-build"
check "no update when apt knows the packages" not_called "apt-get update"
check "the demo needs no test packages" not_called "libgtest-dev"
check "apt's output is not the program's" has_not "$out" "apt-get"
check "goes on" has "$out" "<demo>"

set_up
weft cuda -- ./saxpy
check "builds CUDA's libraries for a CUDA program" called "--target product"
set_up
INSTALLED_ALL=0 INSTALLED="g++ cmake" weft soc --firmware bfs.elf
check "the SoC needs host CPU models" called "libunicorn-dev"
check "and builds firmware" called "--target product"
check "goes on to the SoC" has "$out" "<soc>"

set_up
INSTALLED_ALL=0 APT_KNOWS=0 weft demo
check "updates the lists when apt does not know a package" called "apt-get update"
check "then installs" has "$out" "<demo>"

set_up
bare_path
INSTALLED_ALL=0 INSTALLED="g++" USER_ID=1000 weft demo
check "without sudo: status 2" is "$status" 2
check "without sudo: the exact command" \
  has "$err" "apt-get update && apt-get install -y --no-install-recommends cmake ninja-build"
check "without sudo: installs nothing" not_called "install -y"
check "without sudo: builds nothing" not_called "cmake"
fake sudo <<<'echo "sudo $*" >>"$calls"; "$@"'
INSTALLED_ALL=0 INSTALLED="g++" USER_ID=1000 weft demo
check "with sudo: prints the command first" has "$err" "running: sudo apt-get install -y"
check "with sudo: calls it" called "sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y"
rm "$fakes/dpkg-query"
weft demo
check "elsewhere than on Debian: warns and goes on" has "$err" "not a Debian system"
check "elsewhere than on Debian: runs" has "$out" "<demo>"
unset path_after_fakes

set_up
BUILD_FAILS=1 weft demo
check "a failed build: status 2" is "$status" 2
check "a failed build: shows the error" has "$err" "a.cpp:1: error: broken"
check "a failed build: does not show the steps" has_not "$err" "[1/2]"
check "a failed build: does not run" is "$out" ""
set_up
CONFIGURE_FAILS=1 weft demo
check "a failed configuration: status 2" is "$status" 2
check "a failed configuration: shows the error" has "$err" "no SystemC"
weft demo
check "a failed configuration is repeated" is "$status" 0

set_up
weft demo
weft test -R Config
check "tests are configured on demand" called "-DBUILD_TESTING=ON"
check "tests: builds everything" called "--target all"
check "tests: leaves the long ones out" not_called "long_tests"
check "tests: arguments go to ctest" called "--output-on-failure --no-tests=error -LE ^all\$ -E _NOT_BUILT\$ -R Config"
weft demo
check "a tree with tests stays one" times_called "--preset release" 2
weft test -E 'Slow|Old' -V
check "tests: what is left out is joined" called "-E _NOT_BUILT\$|Slow|Old -V"
CTEST_STATUS=8 weft test
check "status of ctest" is "$status" 8
weft test --all -R Config
check "tests --all: builds the long ones" called "--target all long_tests"
check "tests --all: chooses none" called "--output-on-failure --no-tests=error -E _NOT_BUILT\$ -R Config"
check "tests --all: with longer slices of campaigns" called "WEFT_CAMPAIGN=long"
check "tests --all: with what a guest boots" called "make_guest: <build/release> <build/release/linux/guest>"
check "tests --all: once" times_called "make_guest" 1
INSTALLED_ALL=0 weft test
check "tests need the test packages" called "libgtest-dev"
check "tests need what renders the handbook" called "cmark-gfm"
check "tests need Python's packages" called "python3-pandas"
check "tests do not need those of the CI" not_called "clang-tidy-19"

set_up
weft build
mv "$tree" "$scratch/moved tree"
tree="$scratch/moved tree"
weft build
check "a moved tree is configured afresh" called "--fresh"
tree="$scratch/a tree"

set_up
weft build
printf '#!/bin/sh\necho "campaign $WEFT_CAMPAIGN $*"\n' >"$tree/build/release/tests/x/equivalence_campaign"
chmod +x "$tree/build/release/tests/x/equivalence_campaign"
weft campaign
check "lists campaigns" is "$out" "equivalence"
weft campaign nothing --slow
check "unknown campaign: names the known" has "$err" 'unknown campaign "nothing"; known: equivalence'
check "unknown campaign: its status" is "$status" 2
weft campaign equivalence --seed 3
check "runs the full campaign" is "$out" "campaign full --seed 3"

set_up
mkdir -p "$tree/docs"
printf '#!/bin/sh\necho "rendered to $*"\n' >"$tree/docs/render"
chmod +x "$tree/docs/render"
INSTALLED_ALL=0 weft handbook
check "handbook: renders into the build folder" is "$out" "rendered to $tree/build/release/handbook"
check "handbook: installs what renders" called "cmark-gfm"
check "handbook: builds nothing" not_called "cmake"

set_up
INSTALLED_ALL=0 weft soc --config rv64 --firmware linux.elf
check "no guest for a host CPU of ours" not_called "make_guest"
weft soc --config linux --firmware kernel
check "none for a kernel of one's own" not_called "make_guest"
check "no QEMU for them" not_called "qemu-system-x86"
INSTALLED_ALL=0 weft soc --set a=b --config linux --add 'a file' --functional -- ./app --config x 'two words'
check "a guest: QEMU is there" called "qemu-system-x86"
check "a guest: gets files, program and arguments" \
  called "make_guest: <build/release> <build/release/linux/guest> <--add> <a file> <./app> <--config> <x> <two words>"
guest=$tree/build/release/linux/guest
options="<soc> <--set> <a=b> <--config> <linux> <--functional> <--firmware> <$guest/vmlinuz> <--initrd> <$guest/initrd>"
check "a guest: the other options are the program's" is "$out" "program: $options in $scratch/elsewhere banner=1"
weft soc --config=linux --demo
check "a guest: its demo" called "<build/release/platform/linux/demo/linux_demo>"
GUEST_STATUS=2 weft soc --config soc/linux -- nothing
check "a guest that cannot be made: status 2" is "$status" 2
check "a guest that cannot be made: not booted" is "$out" ""
weft soc --config linux --add
check "a guest: a file that is missing" has "$err" "--add needs a file"

set_up
fake cpack <<'FAKE'
echo "cpack $* in $PWD" >>"$calls"
[ "${CPACK_FAILS:-0}" = 0 ] || exit 1
echo "CPack: - package: $PWD/weft_1_amd64.deb generated."
FAKE
INSTALLED_ALL=0 weft package
check "a package: everything that users install is built" called "--target product"
check "a package: what makes it is there" called "dpkg-dev"
check "a package: made in the build folder" called "cpack -G DEB in $tree/build/release"
check "a package: says where it is" has "$err" "made $tree/build/release/weft_1_amd64.deb"
CPACK_FAILS=1 weft package
check "a package that fails: status 2" is "$status" 2

set_up
INSTALLED_ALL=0 weft packages waveform
check "installs a named section" called "gtkwave"
check "and no other" not_called "clang-19"
check "packages builds nothing" not_called "cmake"
weft packages nothing
check "unknown section: status 2" is "$status" 2
check "unknown section: said" has "$err" "no section [nothing]"

[ "$failures" = 0 ] && echo "all passed"
exit $((failures > 0))
