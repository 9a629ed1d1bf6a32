#!/usr/bin/env bash
# Makes a virtual environment with the other graders:  install.sh FOLDER
# It prints the Python to give to `benchmarks/run.py --peers`. To undo it, remove FOLDER.
set -euo pipefail
folder=${1:?usage: install.sh FOLDER}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet -r "$here/requirements.txt" >&2
echo "$folder/bin/python"
