#!/usr/bin/env bash
# completion_test.sh WEFT: what bash offers, as if somebody had typed.
set -uo pipefail
weft=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
touch kernel.ptx mine.json
"$weft" completion bash >made || exit 1
# shellcheck disable=SC1091  # made just now
source ./made || exit 1
failures=0

# offers EXPECTED... -- WORD...: all of EXPECTED, and nothing that does not begin with the last word.
offers() {
  local expected=() candidate word
  while [ "$1" != -- ]; do
    expected+=("$1")
    shift
  done
  shift
  COMP_WORDS=("$weft" "$@")
  COMP_CWORD=$#
  word=${COMP_WORDS[COMP_CWORD]}
  [ "$word" != = ] || word=''
  COMPREPLY=()
  _weft "$weft"
  for candidate in "${expected[@]}"; do
    if ! grep -qxF -e "$candidate" <<<"$(printf '%s\n' "${COMPREPLY[@]}")"; then
      printf 'weft %s: does not offer %s but: %s\n' "$*" "$candidate" "${COMPREPLY[*]}"
      failures=1
    fi
  done
  for candidate in "${COMPREPLY[@]}"; do
    if [ "${candidate#"$word"}" = "$candidate" ] && [ -n "$word" ]; then
      printf 'weft %s: offers %s\n' "$*" "$candidate"
      failures=1
    fi
  done
  if [ "${#expected[@]}" = 0 ] && [ "${#COMPREPLY[@]}" != 0 ]; then
    printf 'weft %s: offers %s\n' "$*" "${COMPREPLY[*]}"
    failures=1
  fi
}

# shellcheck disable=SC2046  # words
offers $("$weft" --help | awk '/^  [a-z]/ {print $1}') -- ''
offers compare -- comp
for command in $("$weft" --help | awk '/^  [a-z]/ {print $1}'); do
  # shellcheck disable=SC2046  # words
  offers --help $("$weft" "$command" --help | sed -nE 's/^  (--[a-z-]+).*/\1/p') -- "$command" --
done
offers --max-cycles --max-instructions -- run --ma
offers gtx480 harp-fermi mine.json -- run --config ''
offers gtx480 -- run --config gt
offers gtx480 -- run --config = gt
offers gtx480 harp-fermi -- run --config =
offers bfs bfs_warp_centric -- run --functional --workload bf
offers bfs vector_add -- characterize ''
offers dwf dwr -- compare --schemes dw
offers sbr,dwf sbr,dwr -- compare --schemes sbr,dw
offers vector_add,bfs -- compare --workloads vector_add,bfs
offers configs workloads schemes statistics -- list ''
offers harp -- list schemes ha
offers bfs -- list workloads bfs
offers harp harp-trends -- reproduce har
offers memory race warp scalar -- run --check ''
offers race -- run --check memory ra
offers source ptx both -- annotate somewhere --view ''
offers small default large -- run --size ''
offers kernel.ptx -- run --ptx ker
offers kernel.ptx -- report somewhere else ker
offers kernel.ptx -- ptx ker
offers kernel.ptx -- cuda --config gtx480 -- ker
offers kernel.ptx -- cuda --config gtx480 ker
offers profiler -- cuda --region ''
offers -- run --max-cycles ''
offers -- nothing ''
[ "$failures" = 0 ]
