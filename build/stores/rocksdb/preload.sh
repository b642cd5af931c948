#!/usr/bin/env bash
# Links the objects of the library once more, for programs that bring a RocksDB of their own and
# have this one preloaded. There both libraries give the same objects their first values and their
# end: with objects that are seen from outside, each would do it to those of this one, which would
# be destroyed twice when the program ends. So they are its own here; functions are still taken.
set -euo pipefail

library=librocksdb.so.$VERSION
preload=librocksdb-preload.so.$VERSION

version_script() {
    nm --dynamic --defined-only "$1" |
        awk '$2 !~ /^[BD]$/ { names = names " " $3 ";" }
            END { if (!names) exit 1; print "{ global:" names " local: *; };" }'
}

cd "$BUILD"
version_script "$library" >preload.map
command=$(ninja -t commands "$library" | tail -n 1)
# By sed: the command names every object, and bash takes minutes for a pattern in it.
changed=$(sed -E -e 's/ -Wl,--version-script=[^ ]+//' \
    -e "s/-soname,librocksdb\.so[^ ]* -o $library /-soname,${preload%.*.*} -Wl,--version-script=preload.map -o $preload /" <<<"$command")
[[ $changed == *" -o $preload "* ]] || {
    echo "preload.sh: the command that links $library is not as expected: $command" >&2
    exit 1
}
bash -c "$changed"
install -D -m 644 "$preload" "$DESTDIR$PREFIX/lib/$preload"
