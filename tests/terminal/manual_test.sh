#!/usr/bin/env bash
# manual_test.sh WEFT: the manual page is one that man takes without a warning, and it has every command and every option.
set -euo pipefail
weft=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$weft" man >"$folder/weft.1"
MANWIDTH=200 man --warnings=all -E UTF-8 -l "$folder/weft.1" >"$folder/page" 2>"$folder/warnings" || true
if [ -s "$folder/warnings" ]; then
  cat "$folder/warnings"
  exit 1
fi
options=0
for command in $("$weft" --help | awk '/^  [a-z]/ {print $1}'); do
  # The section of the command.
  sed -n "/^   weft $command\$/,/^   weft \|^[A-Z]/p" "$folder/page" >"$folder/section"
  for option in $("$weft" "$command" --help | sed -nE 's/^  (--[a-z-]+).*/\1/p'); do
    grep -qE "^ +$option( |\$)" "$folder/section" || { echo "the page does not have: weft $command $option"; exit 1; }
    options=$((options + 1))
  done
done
printf '%s options\n' "$options"
[ "$options" -gt 100 ]
for part in 'EXIT STATUS' ENVIRONMENT WEFT_PLUGINS NO_COLOR; do grep -q "$part" "$folder/page"; done
