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
  printf '== %s, by CMake\n' "$name"
  cmake -S "$example" -B "$folder/build/$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Release >"$folder/cmake.log" || { cat "$folder/cmake.log"; exit 1; }
  cmake --build "$folder/build/$name" >"$folder/build.log" || { cat "$folder/build.log"; exit 1; }
  "$folder/build/$name/$name"
done

printf '== vector_add, by pkg-config\n'
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$prefix/lib/$(gcc -print-multiarch)/pkgconfig
pkg-config --modversion weft
# shellcheck disable=SC2046  # the flags are words
"$compiler" -std=c++17 -O1 "$folder/examples/vector_add/main.cpp" $(pkg-config --cflags --libs weft) -o "$folder/plain"
"$folder/plain" "$folder/build/vector_add/vector_add.ptx" "$(pkg-config --variable=configdir weft)/gtx480.json"

printf '== the installed program\n'
"$prefix/bin/weft" list configs
"$prefix/bin/weft" run --config stsimt --workload vector_add --size small --out "$folder/out" | tail -3
