#!/usr/bin/env bash
# run.sh SOURCE-TREE WEFT MODULE: runs the tests of a Python module with the first interpreter that has what they need
# (packages.txt, [python]).
set -euo pipefail
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import ipykernel, nbclient, pandas' 2>/dev/null; then
    cd "$1/tests/python"
    WEFT=$2 PYTHONPATH=$1/python PYTHONDONTWRITEBYTECODE=1 exec "$python" -m unittest -v "$3"
  fi
done
echo "no python3 with pandas, nbclient and ipykernel: ./weft packages python"
exit 1
