#!/usr/bin/env bash
# package_test.sh BUILD-FOLDER COMPILER: installs a build into a temporary folder, then is a user of what lies there.
set -euo pipefail
build=$1 compiler=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
unset WEFT_CONFIGS

cmake --install "$build" --prefix "$prefix" >"$folder/install.log"
# Nothing installed may need the source tree: the examples are used from where they were installed.
cp -r "$prefix/share/weft/examples" "$folder/examples"

for example in "$folder"/examples/*/; do
  name=$(basename "$example")
  run=$folder/build/$name/$name
  printf '== %s, by CMake\n' "$name"
  cmake -S "$example" -B "$folder/build/$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Release >"$folder/cmake.log" || { cat "$folder/cmake.log"; exit 1; }
  cmake --build "$folder/build/$name" >"$folder/build.log" || { cat "$folder/build.log"; exit 1; }
  # A plugin is no program; the installed one runs it below.
  if [ -x "$run" ]; then "$run"; fi
done

printf '== kernels of a project that lies elsewhere\n'
elsewhere=$folder/$(printf 'a-long-name/%.0s' {1..16})
mkdir -p "$elsewhere"
cp -r "$folder/examples/integrator" "$elsewhere"
cmake -S "$elsewhere/integrator" -B "$elsewhere/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" >"$folder/cmake.log" || { cat "$folder/cmake.log"; exit 1; }
cmake --build "$elsewhere/build" --target kernels >"$folder/build.log" || { cat "$folder/build.log"; exit 1; }
# The GPU reads the text in simulated time.
cmp "$elsewhere/build/scale.ptx" "$folder/build/integrator/scale.ptx"
grep -q '[.]file.*"scale.cu"' "$elsewhere/build/scale.ptx"

printf '== a waveform of the integrator'"'"'s\n'
(cd "$folder" && "$folder/build/integrator/integrator" "$folder/waves" >/dev/null)
grep -q 'scope module queue0' "$folder/waves.vcd"

printf '== sources of the drivers\n'
drivers=$prefix/share/weft/drivers
for source in "$drivers/driver/weft_driver.c" "$drivers/driver/bfs_program.c" "$drivers/external/weft_external.c"; do
  gcc -std=c99 -O1 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -I"$drivers/driver" -I"$drivers/firmware" \
    -c "$source" -o "$folder/driver.o"
  printf 'compiles: %s\n' "${source#"$drivers/"}"
done
if command -v riscv64-unknown-elf-gcc >/dev/null; then
  for source in "$drivers"/firmware/{soc,spin,bfs}.c "$drivers/driver/weft_driver.c"; do
    riscv64-unknown-elf-gcc --specs=picolibc.specs -march=rv64imafd -mabi=lp64d -mcmodel=medany -std=c99 -Os -ffreestanding \
      -Wall -Wextra -Werror -I"$prefix/include" -I"$drivers/driver" -I"$drivers/firmware" -c "$source" -o "$folder/driver.o"
    printf 'compiles for RV64: %s\n' "${source#"$drivers/"}"
  done
fi
for file in README.md start_rv64.S start_aarch64.S soc.ld; do test -s "$drivers/firmware/$file"; done
test -s "$drivers/qemu/guest.c"

printf '== registers and guide\n'
if command -v xmllint >/dev/null; then xmllint --noout "$prefix/share/weft/weft.svd"; fi
grep -q '<name>DOORBELL</name>' "$prefix/share/weft/weft.svd"
grep -q 'compatible = "weft,gpu-' "$prefix/share/weft/weft.dtsi"
for save in weft sc_trace; do # the save files find the names of stalls
  test -s "$(sed -n 's/^\^1 //p' "$prefix/share/weft/vcd/$save.gtkw" | sort -u)"
done
test -s "$prefix/share/doc/weft/INTEGRATION.md"

printf '== vector_add, by pkg-config\n'
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$prefix/lib/$(gcc -print-multiarch)/pkgconfig
pkg-config --modversion weft
# shellcheck disable=SC2046  # the flags are words
"$compiler" -std=c++17 -O1 "$folder/examples/vector_add/main.cpp" $(pkg-config --cflags --libs weft) -o "$folder/plain"
"$folder/plain" "$folder/build/vector_add/vector_add.ptx" "$(pkg-config --variable=configdir weft)/gtx480.json"

printf '== the installed program\n'
"$prefix/bin/weft" list configs
"$prefix/bin/weft" reproduce | grep '^harp '
"$prefix/bin/weft" run --config stsimt --workload vector_add --size small --out "$folder/out" | tail -3

printf '== a scheme of one'"'"'s own, beside others\n'
plugin=$folder/build/scheme_plugin/min_pc.so
"$prefix/bin/weft" compare --plugin "$plugin" --schemes sbr,min_pc --workloads bfs,reduction --size small \
  --out "$folder/compared" | tail -12
grep -q "$(sha256sum "$plugin" | cut -d' ' -f1)" "$folder/compared/runs/bfs/min_pc/stats.json"
# ... and in a program that knows nothing of it.
printf '{"warp_formation": {"scheme": "min_pc", "min_pc": {"patience": 8}}}\n' >"$folder/min_pc.json"
WEFT_PLUGINS=$plugin "$folder/plain" "$folder/build/vector_add/vector_add.ptx" "$folder/min_pc.json"

printf '== a plugin of other headers is refused\n'
cp -r "$prefix" "$folder/changed"
printf '// changed\n' >>"$folder/changed/include/weft/warp_formation/scheme.h"
cmake -S "$folder/examples/scheme_plugin" -B "$folder/build/changed" -G Ninja -DCMAKE_PREFIX_PATH="$folder/changed" \
  -DCMAKE_CXX_COMPILER="$compiler" >"$folder/cmake.log" && cmake --build "$folder/build/changed" >"$folder/build.log"
code=0
"$prefix/bin/weft" list schemes --plugin "$folder/build/changed/min_pc.so" 2>"$folder/said" || code=$?
cat "$folder/said"
[ "$code" = 2 ] && grep -q 'build it again with weft_add_plugin' "$folder/said"
