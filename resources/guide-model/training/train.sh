#!/bin/sh
# Makes the guide model from the texts in data/: virtual environment, tokenizer, training, evaluation.
#   ./train.sh [WORK_FOLDER]      the environment and the checkpoints go there (default: a folder in the user's cache)
# STEPS sets the number of steps; a run that was broken off goes on from its last checkpoint.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/glmchat-guide-model}
mkdir -p "$work"
if [ ! -x "$work/venv/bin/python" ]; then
    python3 -m venv "$work/venv"
fi
python=$work/venv/bin/python
"$python" -m pip install --quiet -r "$here/requirements.txt"
cd "$here"
"$python" make_tokenizer.py
"$python" train.py --steps "${STEPS:-4700}" --tokens 2080 --length 160 --rate 3e-3 --keep-long 0.3 --work "$work/run"
"$python" evaluate.py
