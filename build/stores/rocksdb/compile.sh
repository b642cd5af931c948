#!/usr/bin/env bash
# Builds the shared library of RocksDB and its tools out of tree, and installs them below DESTDIR.
set -euo pipefail

targets=(rocksdb-shared ldb sst_dump db_bench db_stress)

configure() {
    local options=(
        -DCMAKE_INSTALL_PREFIX="$PREFIX"
        -DCMAKE_INSTALL_LIBDIR=lib
        # Programs find the library beside themselves wherever the tree stands.
        -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
        "-DCMAKE_INSTALL_RPATH=\$ORIGIN/../lib"
        -DCMAKE_EXE_LINKER_FLAGS="-Wl,--as-needed -Wl,-z,relro -Wl,-z,now"
        -DCMAKE_SHARED_LINKER_FLAGS="-Wl,--as-needed -Wl,-z,relro -Wl,-z,now"
        # GCC 12 finds fault with its own library: -Werror=restrict.
        -DFAIL_ON_WARNINGS=OFF
        -DPORTABLE=1
        # All that the Maven artifact has, so that one opens what the other wrote.
        -DWITH_BZ2=ON -DWITH_LZ4=ON -DWITH_SNAPPY=ON -DWITH_ZLIB=ON -DWITH_ZSTD=ON
        -DWITH_LIBURING=OFF
        -DWITH_TRACE_TOOLS=OFF
        # The compilers of the path are ccache already.
        -DCCACHE_FOUND=
        # Nothing of this build's time and place gets into the library.
        -DCMAKE_DISABLE_FIND_PACKAGE_Git=ON
        "-DBUILD_DATE=$(date --utc --date="@$SOURCE_DATE_EPOCH" '+%Y-%m-%d %H:%M:%S')"
    )
    if [ "$TESTING" = 1 ]; then
        # Upstream's tests need sync points, which a build with NDEBUG has not.
        options+=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
    else
        options+=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG")
    fi
    cmake -GNinja -S "$SRC" -B "$BUILD" "${options[@]}"
}

configure
ninja -C "$BUILD" -j "$JOBS" "${targets[@]}"
DESTDIR=$DESTDIR cmake --install "$BUILD" --component runtime
install -d "$DESTDIR$PREFIX/bin" "$DESTDIR$PREFIX/include" "$DESTDIR$PREFIX/lib/pkgconfig"
install -t "$DESTDIR$PREFIX/bin" "$BUILD"/tools/{ldb,sst_dump} "$BUILD"/{db_bench,db_stress_tool/db_stress}
cp -r "$SRC/include/rocksdb" "$DESTDIR$PREFIX/include/"
install -m 644 -t "$DESTDIR$PREFIX/lib/pkgconfig" "$BUILD/rocksdb.pc"
