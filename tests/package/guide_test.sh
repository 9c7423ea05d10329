#!/usr/bin/env bash
# guide_test.sh SOURCE-FOLDER: every piece of code in the integration guide is a part of an example, which package_test.sh
# builds and runs. White space does not count.
set -euo pipefail
guide=$1/platform/INTEGRATION.md examples=$1/platform/examples
squeeze() { tr -s '[:space:]' ' '; }

all=$(find "$examples" -type f -print0 | sort -z | xargs -0 cat | squeeze)
pieces=0 missing=0 piece='' inside=
while IFS= read -r line; do
  case $line in
    '```cpp' | '```c' | '```cmake') inside=yes piece='' ;;
    '```'*)
      if [ -z "$inside" ]; then
        printf 'a piece of code without a language that is compiled: %s\n' "$line"
        missing=$((missing + 1))
      else
        text=$(printf '%s' "$piece" | squeeze | sed 's/^ //; s/ $//')
        pieces=$((pieces + 1))
        if [[ $all != *"$text"* ]]; then
          printf '== not in any example:\n%s\n' "$piece"
          missing=$((missing + 1))
        fi
      fi
      inside=
      ;;
    *) if [ -n "$inside" ]; then piece+=$line$'\n'; fi ;;
  esac
done <"$guide"
printf '%d pieces of code, %d of them in no example\n' "$pieces" "$missing"
[ "$pieces" -ge 12 ] && [ "$missing" = 0 ]
