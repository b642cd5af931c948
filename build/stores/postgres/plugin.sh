#!/usr/bin/env bash
# Builds the extension with PGXS against the staged PostgreSQL and installs it below DESTDIR.
set -euo pipefail

cd "$PLUGIN_SRC"
make=(make --no-print-directory PG_CONFIG="$STAGED_PREFIX/bin/pg_config")
"${make[@]}" -j"$JOBS"
# A relocated pg_config gives the paths of where it stands, not of where it will be installed.
"${make[@]}" install DESTDIR="$PLUGIN_SRC/installed"
mkdir -p "$DESTDIR$PREFIX"
cp -a "$PLUGIN_SRC/installed$STAGED_PREFIX/." "$DESTDIR$PREFIX/"
