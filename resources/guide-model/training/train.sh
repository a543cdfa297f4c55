#!/bin/sh
# Makes the guide model from the texts in data/: virtual environment, tokenizer, a run per seed, evaluation, plot.
#   ./train.sh [--smoke] [WORK_FOLDER]    the environment and the runs go there (default: a folder in the user's cache)
# SEEDS (default "1 2"), STEPS or MINUTES of a run, and GLMCHAT_CLI (the program that scores) can be set. Each seed trains on one
# core, all at the same time; a run that was broken off goes on from its last checkpoint. --smoke tries all parts in about a minute
# and leaves the present model alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
smoke=
if [ "${1:-}" = --smoke ]; then
    smoke=1
    shift
fi
work=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/glmchat-guide-model}
steps=${STEPS:-5500}
limit=
[ -z "${MINUTES:-}" ] || limit="--minutes $MINUTES"
pieces=20000
count=300
if [ -n "$smoke" ]; then
    work=$work/smoke
    steps=6
    limit=--no-compile
    pieces=1000
    count=2
    rm -rf "$work"/seed-* "$work"/folder-*
fi
mkdir -p "$work"
environment=${VIRTUAL_ENV:-$work/venv}
if [ ! -x "$environment/bin/python" ]; then
    python3 -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet -r "$here/requirements.txt"
fi
python=$environment/bin/python
cd "$here"

"$python" make_tokenizer.py "$work/tokenizer.model" --dialogues "$pieces"
running=
for seed in ${SEEDS:-1 2}; do
    mkdir -p "$work/folder-$seed"
    cp "$work/tokenizer.model" "$work/folder-$seed/"
    # shellcheck disable=SC2086 -- limit is empty or an option with its value
    "$python" train.py --seed "$seed" --steps "$steps" $limit --tokenizer "$work/tokenizer.model" --work "$work/seed-$seed" \
        --out "$work/folder-$seed" > "$work/seed-$seed.log" 2>&1 &
    running="$running $!"
done
for run in $running; do
    wait "$run" || { echo "a run failed, see $work/seed-*.log" >&2; exit 1; }
done

"$python" plot.py "$work/loss.png" "$work"/seed-*/log.csv
cli=${GLMCHAT_CLI:-$(command -v glmchat-cli || true)}
for seed in ${SEEDS:-1 2}; do
    echo "seed $seed"
    "$python" evaluate.py --folder "$work/folder-$seed" --count "$count"
    if [ -n "$cli" ] && [ -z "$smoke" ]; then
        "$python" heldout/score.py --cli "$cli" --model "$work/folder-$seed" --no-failures
    fi
done
[ -n "$cli" ] || echo "glmchat-cli was not found: set GLMCHAT_CLI to score the held-out questions"
echo "finished: $work/folder-*; copy the files of the better one to $(dirname "$here")"
