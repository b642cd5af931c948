#!/usr/bin/env bash
# Builds RocksDB out of tree, without a plug-in, and installs it below DESTDIR: the shared library,
# the same to preload, its headers, and tools; with TESTING the library, those of upstream's tests that test.sh runs, and db_stress.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
tools=(ldb sst_dump db_bench db_stress)
# The linker keeps what is used, so that the library does not need gflags.
linking="-Wl,--as-needed -Wl,-z,relro -Wl,-z,now"

configure() {
    local options=(
        -DCMAKE_INSTALL_PREFIX="$PREFIX"
        -DCMAKE_INSTALL_LIBDIR=lib
        "-DCMAKE_EXE_LINKER_FLAGS=$linking"
        "-DCMAKE_SHARED_LINKER_FLAGS=$linking"
        # GCC 12 finds fault with its own library: -Werror=restrict.
        -DFAIL_ON_WARNINGS=OFF
        # For any processor of the architecture.
        -DPORTABLE=1
        # All that the Maven artifact has, so that each opens what the other wrote.
        -DWITH_BZ2=ON -DWITH_LZ4=ON -DWITH_SNAPPY=ON -DWITH_ZLIB=ON -DWITH_ZSTD=ON
        # Not what this machine happens to have.
        -DWITH_LIBURING=OFF -DWITH_JEMALLOC=OFF -DWITH_NUMA=OFF
        -DWITH_TRACE_TOOLS=OFF
        # The compilers of the path are ccache already.
        -DCCACHE_FOUND=
        # Nothing of this build's time and place gets into the library.
        -DCMAKE_DISABLE_FIND_PACKAGE_Git=ON
        "-DBUILD_DATE=$(date --utc --date="@$SOURCE_DATE_EPOCH" '+%Y-%m-%d %H:%M:%S')"
        -DROCKSDB_PLUGINS=
    )
    if [ "$TESTING" = 1 ]; then
        # Upstream's tests need sync points, which NDEBUG leaves out; -Og would take longer to compile.
        options+=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
    else
        options+=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG")
        # Programs find the library beside themselves wherever the tree stands.
        options+=(-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON "-DCMAKE_INSTALL_RPATH=\$ORIGIN/../lib")
    fi
    cmake -GNinja -S "$SRC" -B "$BUILD" "${options[@]}"
}

install_tools() {
    local tool
    install -d "$DESTDIR$PREFIX/bin"
    for tool in "${tools[@]}"; do
        # Each target has a folder of its own in the build.
        install "$(find "$BUILD" -type f -name "$tool" -perm -u+x)" "$DESTDIR$PREFIX/bin/$tool"
    done
}

# Upstream's rule for them wants the static library, too, which would be compiled again as a whole.
install_headers() {
    install -d "$DESTDIR$PREFIX/include" "$DESTDIR$PREFIX/lib/pkgconfig"
    cp -r "$SRC/include/rocksdb" "$DESTDIR$PREFIX/include/"
    install -m 644 -t "$DESTDIR$PREFIX/lib/pkgconfig" "$BUILD/rocksdb.pc"
}

configure
if [ "$TESTING" = 1 ]; then
    mapfile -t tests <"$here/upstream-tests.txt"
    # Which kills itself here at points that release builds do not have.
    tools=(db_stress)
    ninja -C "$BUILD" -j "$JOBS" rocksdb-shared "${tools[@]}" "${tests[@]}"
else
    ninja -C "$BUILD" -j "$JOBS" rocksdb-shared "${tools[@]}"
    "$here/preload.sh"
fi
install_tools
DESTDIR=$DESTDIR cmake --install "$BUILD" --component runtime
install_headers
