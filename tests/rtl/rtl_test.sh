#!/usr/bin/env bash
# rtl_test.sh PROGRAM: a graph is searched in memory of Verilog, and one waveform file has TLM and RTL.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$program" rtl waves | tee rtl.txt
"$program" rtl >again.txt
"$program" weft | tee weft.txt
diff <(grep -v -e '^Info' -e '^$' rtl.txt) <(grep -v -e '^Info' -e '^$' again.txt) # a waveform changes nothing
code=0
"$program" neither 2>error.txt || code=$?
[ "$code" = 2 ] && grep -q "found 'neither' as first argument; allowed: rtl, weft" error.txt

printf '== both are right, and their controllers are not the same\n'
for run in rtl weft; do
  [ "$(grep -c ' 1974 vertices reached, 0 wrong' $run.txt)" = 2 ]
  grep -q '^0 bytes of the RTL.s device memory differ, 0 bytes of violations$' $run.txt
done
cycles() { sed -n 's/^in device memory: .* \([0-9]*\) cycles$/\1/p' "$1"; }
printf 'in device memory: %d cycles with RTL, %d with Weft\n' "$(cycles rtl.txt)" "$(cycles weft.txt)"
[ "$(cycles rtl.txt)" -gt "$(cycles weft.txt)" ]
grep -q '^rtl_hop_dram1: [1-9]' rtl.txt
[ "$(grep -c '^rtl_hop_dram' weft.txt)" = 0 ]

printf '== one waveform of both\n'
# changes SCOPE... SIGNAL: how often the signal changes in waves.vcd.
changes() {
  awk -v wanted="$1" '
    $1 == "$scope" { path = path "." $3 }
    $1 == "$upscope" { sub(/\.[^.]*$/, "", path) }
    $1 == "$var" && path "." $5 == "." wanted { id = $4 }
    $2 == id && NF == 2 { ++count }
    NF == 1 && length(id) > 0 && substr($1, 2) == id { ++count }
    END { print count + 0 }' waves.vcd
}
for signal in gpu.sm0.scheduler0.active_lanes gpu.rtl_hop_dram0.request_valid gpu.rtl_hop_dram1.response_id \
  rtl.hop_dram0.queued rtl.hop_dram1.bank_busy memory.arvalid memory.rdata; do
  count=$(changes "SystemC.$signal")
  printf '%s changes %d times\n' "$signal" "$count"
  [ "$count" -gt 100 ]
done
