#!/usr/bin/env bash
# Builds PostgreSQL out of tree and installs all of it but the documentation below DESTDIR.
set -euo pipefail

cd "$BUILD"

# The linker reads this where no -rpath is given: programs and libraries find libpq beside
# themselves wherever the tree stands, and no path gets into what pg_config and PGXS report.
# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
export LD_RUN_PATH='$ORIGIN/../lib'

configure() {
    local options=(
        --prefix="$PREFIX"
        --disable-rpath
        # A patch may change a header alone: what includes it is compiled again, too.
        --enable-depend
        --with-icu
        --with-lz4
        --with-openssl
        --with-systemd
        --with-zstd
        CPPFLAGS="-D_FORTIFY_SOURCE=2"
        LDFLAGS="-Wl,-z,relro -Wl,-z,now"
    )
    # Packages are stripped: no -g. Tests need no speed: -Og takes half of the time to compile.
    local speed="-O2"
    if [ "$TESTING" = 1 ]; then
        options+=(--enable-tap-tests --enable-injection-points --enable-cassert)
        speed="-Og -g"
    fi
    "$SRC/configure" "${options[@]}" \
        CFLAGS="$speed -fstack-protector-strong -Wformat -Werror=format-security"
}

# The build's own folders would be the only difference between two builds of the same source.
remove_build_paths() {
    local makefile="$DESTDIR$PREFIX/lib/pgxs/src/Makefile.global"
    sed -i -e "s|$SRC|/usr/src/postgresql|g" -e "s|$BUILD|/usr/src/postgresql-objects|g" "$makefile"
}

# Not by config.status, which is there before configure has ended.
if [ ! -f configured ]; then
    configure
    touch configured
fi
make --no-print-directory -j"$JOBS" world-bin
make --no-print-directory -s install-world-bin DESTDIR="$DESTDIR"
if [ "$TESTING" = 1 ]; then
    make --no-print-directory -s -C src/test/modules/injection_points install DESTDIR="$DESTDIR"
fi
remove_build_paths
