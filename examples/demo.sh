#!/bin/sh
# The main job on an example document, in a fresh git repository that is thrown away on the next demo.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
repo=${SANTIAGO_DEMO_DIR:-${TMPDIR:-/tmp}/santiago-demo}
rm -rf "$repo"
mkdir -p "$repo"
cd "$repo"
git init -q -b main .
cp -R "$here/examples/ledger/." .
git add .
git -c user.name=demo -c user.email=demo@example.org commit -q -m "The document and its tests"
echo "\$ santiago run prd.md --agent scripted --playbook playbook.yaml --jobs 2 --trust-commands" >&2
"$here/.venv/bin/santiago" run prd.md --agent scripted --playbook playbook.yaml --jobs 2 --trust-commands
branch=$(git for-each-ref --format='%(refname:short)' refs/heads/santiago | tail -n 1)
echo "The demo's repository is $repo; to take the work over there:" >&2
echo "next: cd \"$repo\" && git merge $branch" >&2
