#!/bin/bash
# stand_in_test.sh WEFT CUDA_PROGRAM: `--engine slurm` beside commands that stand in for Slurm's.
set -eu
weft=$1
cuda=$2
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'pkill -KILL -f "$folder" || true; rm -rf "$folder"' EXIT
cd "$folder"
export STAND_IN=$folder/stand-in PATH=$here/stand_in:$PATH
fail() { echo "$0: $*" >&2; exit 1; }
cat >s.json <<'S'
{"config": "harp-fermi", "axes": [{"name": "workload", "values": ["bfs", "aes"]}, {"name": "size", "values": ["small"]},
  {"name": "scheme", "values": ["sbr", "harp"]}, {"name": "seed", "values": [1, 2]}]}
S
fresh() { rm -rf "$STAND_IN" s.db* s.out s.err; mkdir -p "$STAND_IN"; }
# What is the same wherever and whenever the runs are done.
rows() { jq 'map(del(.run.ended, .run.wall_seconds, .run.cpu_seconds, .run.peak_bytes, .run.host))' "$1"; }
sweep() { "$weft" sweep s.json --store s.db --export s.rows.json "$@" >s.out 2>s.err; }
by_slurm() { sweep --engine slurm "$@"; }

fresh
sweep || fail "local: $(cat s.err)"
rows s.rows.json >wanted

fresh
by_slurm || fail "Slurm: $(cat s.err)"
rows s.rows.json >found
cmp wanted found || fail "Slurm's results are others than those of this machine"
[ "$(cat "$STAND_IN/last")" = 101 ] || fail "one array was needed"

# A search: an array for its first run, one for the others of each rung.
cp s.json whole.json
fresh
sed 's/"axes": \[/"halving": {"rungs": "seed", "metric": "cycles", "keep_one_in": 2}, &/' whole.json >s.json
sweep || fail "a search on this machine: $(cat s.err)"
rows s.rows.json >wanted_search
cp s.out wanted_search.out
[ "$(jq length wanted_search)" = 6 ] || fail "a search of two candidates has 4 and 2 runs, not $(jq length wanted_search)"
fresh
by_slurm || fail "a search by Slurm: $(cat s.err)"
rows s.rows.json >found
cmp wanted_search found || fail "a search by Slurm has other results than on this machine"
cmp wanted_search.out s.out || fail "a search by Slurm says something else than on this machine"
[ "$(cat "$STAND_IN/last")" = 103 ] || fail "three arrays were needed, not $(cat "$STAND_IN/last")"
cp whole.json s.json

# Elements that Slurm loses are submitted anew.
fresh
touch "$STAND_IN/lose-2" "$STAND_IN/lose-5"
by_slurm || fail "lost: $(cat s.err)"
rows s.rows.json >found
cmp wanted found || fail "after a loss the results are others"
grep -q "Slurm lost 2 runs" s.err || fail "nothing is said of the loss: $(cat s.err)"

# Killed in the middle: what ended is taken over, what waits is cancelled, the rest done again.
fresh
touch "$STAND_IN/hold-7"
by_slurm & process=$!
for _ in $(seq 200); do
  # shellcheck disable=SC2144
  [ -e s.db ] && [ -e "$STAND_IN/last" ] && break
  sleep 0.05
done
sleep 0.5
pkill -KILL -f "sweep s.json --store s.db" || true
wait $process && fail "it was not killed"
rm "$STAND_IN/hold-7"
by_slurm || fail "afterwards: $(cat s.err)"
grep -q 101 "$STAND_IN/cancelled" || fail "the array of the one that was killed was not cancelled"
rows s.rows.json >found
cmp wanted found || fail "after a kill the results are others"

# An interrupt cancels.
fresh
touch "$STAND_IN/hold-7"
by_slurm & process=$!
for _ in $(seq 200); do [ -e "$STAND_IN/last" ] && break; sleep 0.05; done
sleep 0.3
pkill -INT -f "sweep s.json --store s.db" || true
code=0; wait $process || code=$?
[ "$code" = 3 ] || fail "an interrupt gave exit code $code"
grep -q 101 "$STAND_IN/cancelled" || fail "an interrupt did not cancel the array"

# Slurm refuses.
fresh
echo "sbatch: error: invalid partition specified: nowhere" >"$STAND_IN/refuse"
code=0; by_slurm --slurm "--partition=nowhere" || code=$?
[ "$code" = 2 ] || fail "a refusal gave exit code $code"
grep -q "sbatch: found 'sbatch: error: invalid partition specified: nowhere'" s.err || fail "$(cat s.err)"

# The other commands that do runs have the same executor.
no_times() { jq 'del(.. | .cpu_seconds?)' "$1"; }
compare() {
  "$weft" compare --config harp-fermi --workloads bfs,aes --schemes sbr,harp --size small --out "$@" >c.out 2>c.err ||
    fail "compare $*: $(cat c.err)"
}
fresh
compare local
compare slurm --engine slurm
[ "$(cat "$STAND_IN/last")" = 101 ] || fail "compare needed one array"
no_times local/comparison.json >wanted
no_times slurm/comparison.json >found
cmp wanted found || fail "compare by Slurm has other results than on this machine"
compare slurm --engine slurm
grep -q "4 of 4 runs already have results" c.err || fail "runs by Slurm are not found again: $(cat c.err)"
compare slurm --engine slurm --again
[ "$(cat "$STAND_IN/last")" = 102 ] || fail "--again did not submit the runs: $(cat c.err)"

# Programs of one's own: an array for the run without timing, then one for those that are compared with it.
cat >k.ptx <<'P'
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 other) {
  .reg .b64 %a, %o; .reg .b32 %i;
  mov.u32 %i, %tid.x; ld.param.u64 %a, [out]; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o; st.global.u32 [%a], %i;
  ret;
}
P
ptx=(--ptx k.ptx --grid 1 --block 64 --arg)
# own CODE OPTIONS: the results, and the exit code.
own() {
  local wanted=$1 code=0
  shift
  "$weft" compare --config harp-fermi --schemes sbr,harp --out "$@" >c.out 2>c.err || code=$?
  [ $code = "$wanted" ] || fail "compare $*: exit code $code: $(cat c.err)"
}
alike() {  # CODE OPTIONS: by Slurm and on this machine
  local code=$1
  shift
  rm -rf local slurm
  own "$code" local "$@"
  no_times local/comparison.json >wanted
  fresh
  own "$code" slurm --engine slurm "$@"
  no_times slurm/comparison.json >found
  cmp wanted found || fail "compare $*: Slurm's results are others than those of this machine"
  [ "$(cat "$STAND_IN/last")" = 102 ] || fail "compare $* needed two arrays, not $(cat "$STAND_IN/last")"
}
alike 3 "${ptx[@]}" u64:0 ptr:256 # a fault, in the reference too
grep -q '"fault: k: thread' slurm/comparison.csv || fail "no fault: $(cat slurm/comparison.csv)"
alike 1 -- "$cuda" copies
alike 0 -- "$cuda"
own 0 slurm --engine slurm -- "$cuda"
[ "$(cat "$STAND_IN/last")" = 102 ] || fail "runs of a program were repeated: $(cat c.err)"
alike 0 "${ptx[@]}" ptr:256 ptr:256

# Killed, or interrupted, while the reference waits: no run is submitted that could not be compared.
for signal in KILL INT; do
  fresh
  rm -rf slurm
  touch "$STAND_IN/hold-0"
  "$weft" compare --config harp-fermi --schemes sbr,harp --out slurm --engine slurm "${ptx[@]}" ptr:256 ptr:256 >c.out 2>c.err &
  process=$!
  for _ in $(seq 200); do [ -e slurm/runs/arrays.json ] && break; sleep 0.05; done
  kill -$signal $process
  wait $process && fail "it was not stopped"
  [ "$(cat "$STAND_IN/last")" = 101 ] || fail "after SIG$signal an array was submitted"
  rm "$STAND_IN/hold-0"
  own 0 slurm --engine slurm "${ptx[@]}" ptr:256 ptr:256
  grep -q 101 "$STAND_IN/cancelled" || fail "after SIG$signal the array of the reference was not cancelled"
  no_times slurm/comparison.json >found
  cmp wanted found || fail "after SIG$signal the results are others"
done
