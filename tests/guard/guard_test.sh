#!/usr/bin/env bash
# Tests the guard:  guard_test.sh GUARD WEFT
set -uo pipefail

guard=$1 weft=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
expect() {  # WHAT, STATUS, PATTERN, COMMAND...: the command ends with this status and prints the pattern
  local what=$1 status=$2 pattern=$3 output
  shift 3
  output=$("$@" 2>&1)
  local found=$?
  if [ "$found" != "$status" ] || ! grep -qE -- "$pattern" <<<"$output"; then
    printf 'FAILED: %s: status %s, expected %s with "%s"; output:\n%s\n' "$what" "$found" "$status" "$pattern" "$output"
    failures=1
  fi
}

few='^gtx480/vector_add[.](sbr|dwf|sbr[.]no-sleep)$'
expect "records" 0 "^guard: 2 records" "$guard" record "$scratch/a" --weft "$weft" --only "$few"
expect "records again" 0 "^guard: 2 records" "$guard" record "$scratch/b" --weft "$weft" --only "$few"
expect "the same code is equal" 0 "equal in [1-9][0-9]{2}" "$guard" compare "$scratch/a" "$scratch/b"
record=$scratch/b/gtx480/vector_add.sbr.txt
expect "a record has no time of the host" 1 "" grep -E "seconds|peak_memory" "$record"

# What is there is not repeated.
touch -d 2001-01-01 "$record"
expect "records what is missing" 0 "2 records" "$guard" record "$scratch/b" --weft "$weft" --only "$few"
expect "does not repeat" 0 "^2001" date -r "$record" +%Y

# A changed value, a changed name, a run that is missing.
cycles=$(sed -n 's/^cycles = //p' "$record")
sed -i "s/^cycles = .*/cycles = $((cycles + 1))/" "$record"
expect "sees a value" 1 "vector_add.sbr.txt.cycles = $((cycles + 1))" "$guard" compare "$scratch/a" "$scratch/b"
sed -i "s/^cycles = .*/core_cycles = $cycles/; \$a extra = 1" "$record"
expect "sees a name" 1 "core_cycles" "$guard" compare "$scratch/a" "$scratch/b"
sed -i "s/^cycles = /core_cycles = /; \$a extra = 2" "$scratch/b/gtx480/vector_add.dwf.txt"
printf '# names\n\ncycles\tcore_cycles\n-\textra\n' >"$scratch/renames"
expect "knows renames" 0 "equal" "$guard" compare "$scratch/a" "$scratch/b" --renames "$scratch/renames"
printf 'cycles core_cycles\n' >"$scratch/renames"
expect "refuses a table without tabs" 2 "line 1" "$guard" compare "$scratch/a" "$scratch/b" --renames "$scratch/renames"
rm "$record"
expect "sees a run that is missing" 1 "< gtx480/vector_add.sbr.txt" "$guard" compare "$scratch/a" "$scratch/b"

expect "a pattern that nothing matches" 2 "no run matches" "$guard" record "$scratch/c" --weft "$weft" --only nothing
expect "a program that is not there" 2 "not there" "$guard" record "$scratch/c" --weft "$scratch/none"
[ "$failures" = 0 ] && echo "guard: all as expected"
exit "$failures"
