#!/usr/bin/env bash
# Links the plug-in into the library, by RocksDB's own way of building plug-ins: a program that only
# has an option string, or the environment, has nothing that would load a file of its own.
set -euo pipefail

rm -rf "$SRC/plugin/sluice"
ln -s "$PLUGIN_SRC" "$SRC/plugin/sluice"
cmake -S "$SRC" -B "$BUILD" -DROCKSDB_PLUGINS=sluice
ninja -C "$BUILD" -j "$JOBS" rocksdb-shared sluice-compact sluice-wal-export
[ "$TESTING" = 1 ] || "$(dirname "${BASH_SOURCE[0]}")/preload.sh"
DESTDIR=$DESTDIR cmake --install "$BUILD" --component runtime
