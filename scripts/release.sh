#!/usr/bin/env bash
# Check a release and write what is published: source archive, licences, bill of materials, checksums.
#
#   scripts/release.sh [--snapshot] [--output DIR] VERSION      e.g. scripts/release.sh 0.2.0
#
# Works on a clean clone with python3; the first run installs the pinned packages of the images. --snapshot allows
# changes under "Unreleased" and adds the commit to the archive's name. DIR is run/release by default. It uploads
# nothing and makes no tag.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
die() { printf 'release: %s\n' "$*" >&2; exit 1; }
say() { printf 'release: %s\n' "$*" >&2; }

version="" output=run/release snapshot=()
while (($#)); do
  case $1 in
    --snapshot) snapshot=(--snapshot) ;;
    --output) output=${2:?--output needs a folder}; shift ;;
    -*) die "unknown option $1; usage: scripts/release.sh [--snapshot] [--output DIR] VERSION" ;;
    *) [[ -z $version ]] || die "one version only, not $version and $1"; version=$1 ;;
  esac
  shift
done
[[ -n $version ]] || die "which version? scripts/release.sh 0.2.0"
[[ -z $(git status --porcelain) ]] || die "the working tree has changes: commit them, the archive is of the last commit"
python=$PWD/.venv/bin/python
[[ -x $python ]] || python=$(command -v python3) || die "python3 is missing"
export PYTHONPATH=$PWD/standalone${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
"$python" -m release.versions "${snapshot[@]}" "$version"

name=curiosity-rosa-$version
if ((${#snapshot[@]})); then name+=-g$(git rev-parse --short=8 HEAD); fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) # of the archive and of the bill: a second run writes the same files
export SOURCE_DATE_EPOCH
mkdir -p "$output"
output=$(cd "$output" && pwd)
rm -f "$output"/curiosity-rosa-*.tar.gz "$output"/SHA256SUMS "$output"/licences.csv "$output"/sbom.cdx.json

say "source archive"
git archive --format=tar --prefix="$name/" HEAD | gzip --no-name --best >"$output/$name.tar.gz"

# The packages of the images, without the one that the images leave out (docker/Dockerfile).
environments=$PWD/run/release-environments
install() { # install NAME REQUIREMENTS: make the environment NAME, unless it is complete
  local folder=$environments/$1 key
  key=$({ "$python" -VV; cat "$2"; } | sha256sum)
  [[ $(cat "$folder/.complete" 2>/dev/null) != "$key" ]] || return 0
  say "installing $1"
  rm -rf "$folder"
  mkdir -p "$environments"
  "$python" -m venv "$folder"
  grep -v '^stdiomask==' "$2" >"$folder/requirements.txt"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
    -r "$folder/requirements.txt" || die "pip could not install $2; read its message above"
  printf '%s\n' "$key" >"$folder/.complete"
}
install product docker/requirements.txt
install tools standalone/requirements-release.txt

say "licences"
packages=$("$environments/product/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$python" -m release.licences "$packages" "$output/licences.csv"

say "bill of materials"
project=$(mktemp); trap 'rm -f "$project"' EXIT
printf '[project]\nname = "curiosity-rosa"\nversion = "%s"\nlicense = "Apache-2.0"\n' "$version" >"$project"
"$environments/tools/bin/cyclonedx-py" environment --output-reproducible --pyproject "$project" \
  --output-file "$output/sbom.cdx.json" "$environments/product/bin/python"
"$python" -m release.bill "$output/sbom.cdx.json" docker/requirements.txt

(cd "$output" && sha256sum "$name.tar.gz" licences.csv sbom.cdx.json >SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
say "$output:"
cat "$output/SHA256SUMS"
