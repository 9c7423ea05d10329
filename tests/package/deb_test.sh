#!/usr/bin/env bash
# deb_test.sh BUILD-FOLDER: makes the Debian package of a build, looks at it, and runs what is in it.
set -euo pipefail
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The archives are most of its time.
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder/made" -D CPACK_DEBIAN_COMPRESSION_TYPE=zstd \
  >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
deb=$(echo "$folder"/made/weft_*.deb)
printf '%s\n' "${deb##*/}"
field() { dpkg-deb -f "$deb" "$1"; }
[[ "$(field Version)" == [0-9]* ]]
[[ "$(field Version)" != *-* ]] # a hyphen would begin a revision
for library in libsystemc libfmt9 libboost-program-options libstdc++6; do
  field Depends | grep -qF "$library" || { printf 'does not depend on %s but: %s\n' "$library" "$(field Depends)"; exit 1; }
done

root=$folder/root
dpkg-deb -x "$deb" "$root"
for file in bin/weft lib/libweft.a lib/pkgconfig/weft.pc lib/cmake/weft/weft-config.cmake lib/weft-cuda/libcuda.so.1 \
  include/weft/platform/gpu.h share/man/man1/weft.1 share/bash-completion/completions/weft share/doc/weft/copyright \
  share/weft/version share/weft/configs/gtx480.json share/weft/experiments/library.json \
  share/weft/experiments/harp/harp-schemes/experiment.json \
  share/weft/experiments/results/data/crown-schemes.json \
  share/weft/experiments/draw_figures share/weft/report_page/main.js; do
  [ -e "$root/usr/$file" ] || { printf 'lacks %s\n' "$file"; exit 1; }
done
# Its files lie below /usr, and none of them names the folder in which it was made.
[ "$(ls "$root")" = usr ]
grep -qx 'prefix=/usr' "$root/usr/lib/pkgconfig/weft.pc"
if grep -rlF "$folder" "$root/usr/lib/pkgconfig" "$root/usr/lib/cmake" "$root/usr/share"; then exit 1; fi

weft=$root/usr/bin/weft
[ "$("$weft" --version)" = "weft $(cat "$build/sc_main/version")" ]
"$weft" list configs | grep '^gtx480 '
"$weft" run --workload vector_add --size small --out "$folder/out" | grep verified
