#!/usr/bin/env bash
# version_test.sh SCRIPT WEFT: what version.cmake makes of sources with tags, without tags, without git.
set -euo pipefail
script=$1 weft=$2
folder=$(realpath "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
source=$folder/source
mkdir "$source"

version() {
  cmake -DSOURCE="$source" -DRELEASE=0.1.0 -DFILE="$folder/version" -P "$script"
  cat "$folder/version"
}
commit() {
  date +%N >>"$source/file"
  git -C "$source" add file
  git -C "$source" -c user.name=tester -c user.email=tester@localhost commit -qm "$1"
}
expect() {
  if ! [[ $2 =~ ^$1$ ]]; then
    printf 'found %s, expected %s\n' "$2" "$1"
    exit 1
  fi
}

expect 0\\.1\\.0 "$(version)"
if command -v git >/dev/null; then
  git init -q "$source"
  commit first
  expect '0\.1\.0-g[0-9a-f]{7,}' "$(version)"
  git -C "$source" tag v0.2.0
  expect '0\.2\.0' "$(version)"
  commit second
  expect '0\.2\.0-1-g[0-9a-f]{7,}' "$(version)"
  # Within another repository: not its version.
  mkdir "$source/inner"
  source=$source/inner
  expect '0\.1\.0' "$(version)"
fi
# The program says what lies beside it, and its number if nothing does.
mkdir "$folder/bin"
cp "$weft" "$folder/bin/weft"
[ "$("$folder/bin/weft" --version)" = "weft 0.1.0" ]
mkdir -p "$folder/share/weft"
echo 7.8.9-1-gabc >"$folder/share/weft/version"
[ "$("$folder/bin/weft" --version)" = "weft 7.8.9-1-gabc" ]
