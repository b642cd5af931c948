#!/usr/bin/env bash
# Runs one of RocksDB's test suites (SUITE) on the library built in BUILD; results go to stdout.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# One that hangs would hold up all; the longest takes some minutes.
limit_seconds=1800

mapfile -t upstream_tests <"$here/upstream-tests.txt"
closest=("${upstream_tests[@]:0:3}")
# Those that open databases and bring no service of their own, whose place the plug-in would take.
databases=(db_basic_test db_rate_limiter_test db_wal_test)

export TMPDIR=$TEST_FOLDER/databases
export TEST_TMPDIR=$TMPDIR
[ "$VARIANT" = patched ] || export SLUICE_STOCK=1

# By the environment, as a program without option strings gets it.
if [ "$MODE" = loaded ]; then
    sockets=$TEST_FOLDER/sockets
    rm -rf "$sockets"
    mkdir -p "$sockets/rocksdb"
    export ROCKSDB_DB_OPTIONS_OVERRIDE="compaction_service={id=sluice;instance=tests;socket_directory=$sockets;latency=on;remote=false}"
fi

# A result for each test, of what the test programs of GoogleTest say.
results() {
    sed -u -E \
        -e 's/^\[       OK \] (.*) \([0-9]+ ms\)$/ok 1 - \1/' \
        -e 's/^\[  FAILED  \] (\S+)(, where .*)? \([0-9]+ ms\)$/not ok 1 - \1/' \
        -e 's/^\[  (SKIPPED|BYPASSED) \] (.*) \([0-9]+ ms\)$/ok 1 - \2 # skip/'
}

# In a folder that is empty before, and removed after.
run_program() {
    rm -rf "$TMPDIR"
    mkdir -p "$TMPDIR"
    cd "$TMPDIR"
    # In the foreground: whoever ends this script's group ends the tests, too.
    timeout --foreground --kill-after=10 "$limit_seconds" "$1" --gtest_color=no 2>&1 | results
}

run_programs() {
    local program status=0
    for program in "$@"; do
        run_program "$program" && continue
        status=$?
        # 1 is a test that failed, which has said so.
        [ "$status" = 1 ] || echo "not ok 0 - ${program##*/}, which ended with status $status"
    done
    rm -rf "$TMPDIR"
    return "$status"
}

# The programs named, of the recipe's own tests, against the staged library.
own() {
    local name programs=$TEST_FOLDER/programs
    rm -rf "$programs"
    mkdir -p "$programs"
    for name in "$@"; do
        c++ -std=c++20 -O0 -fno-rtti -Wall -Wextra -Werror -I "$STAGED_PREFIX/include" \
            -o "$programs/$name" "$here/tests/$name.cc" \
            -L "$STAGED_PREFIX/lib" -Wl,-rpath,"$STAGED_PREFIX/lib" \
            -lrocksdb -lgtest -lgtest_main
    done
    run_programs "${@/#/$programs/}"
}

case $SUITE in
upstream) run_programs "${upstream_tests[@]/#/$BUILD/}" ;;
upstream-databases) run_programs "${databases[@]/#/$BUILD/}" ;;
upstream-fast) run_programs "${closest[@]/#/$BUILD/}" ;;
blob-files) own blob_files_test ;;
hooks) own option_string_test environment_test rate_limiter_test background_hooks_test ;;
*)
    echo "test.sh: no suite $SUITE" >&2
    exit 2
    ;;
esac
