#!/usr/bin/env bash
# headers_test.sh SOURCE-FOLDER BUILD-FOLDER COMPILER CLANG: the public headers in projects of other C++ standards, and
# what device.h declares for kernels.
set -euo pipefail
source=$1 build=$2 compiler=$3 clang=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# All of them, but the one for kernels. One after the other, so that none needs what another includes.
headers=0
while IFS= read -r header; do
  printf '#include "%s"\n' "$header"
done < <(cd "$source/include" && find weft -name '*.h' ! -path weft/workloads/device.h | sort) >"$folder/all.cpp"
headers=$(wc -l <"$folder/all.cpp")
[ "$headers" -ge 50 ] || { printf 'found %d public headers\n' "$headers"; exit 1; }
for standard in c++17 c++20; do
  "$compiler" -std=$standard -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$source/include" \
    -I"$build/modules/host/include" "$folder/all.cpp"
  printf '%d headers compile as %s\n' "$headers" "$standard"
done

printf '== fences of kernels\n'
cat >"$folder/fences.cu" <<'CODE'
#include "weft/workloads/device.h"
extern "C" __global__ void block(int* to) { to[0] = 1; __threadfence_block(); to[1] = 2; }
extern "C" __global__ void gpu(int* to) { to[0] = 1; __threadfence(); to[1] = 2; }
extern "C" __global__ void all(int* to) { to[0] = 1; __threadfence_system(); to[1] = 2; }
CODE
"$clang" -x cuda --cuda-path=/nonexistent --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_35 -std=c++17 -O2 \
  -Wall -Wextra -Werror -I"$source/include" -S "$folder/fences.cu" -o "$folder/fences.ptx"
fences=$(grep -oE 'membar\.(cta|gl|sys)' "$folder/fences.ptx" | tr '\n' ' ')
[ "$fences" = 'membar.cta membar.gl membar.sys ' ] || { printf 'found: %s\n' "$fences"; exit 1; }
