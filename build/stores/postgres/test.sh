#!/usr/bin/env bash
# Runs one of PostgreSQL's test suites (SUITE) on the tree built in BUILD; results go to stdout.
set -euo pipefail

cd "$BUILD"

# What a server, or a test, waits for: on a busy machine with a slow disk, a recovery alone may take
# longer than upstream's minute.
export PGCTLTIMEOUT=600
export PG_TEST_TIMEOUT_DEFAULT=600

here=$(dirname "${BASH_SOURCE[0]}")
pg_config=$STAGED_PREFIX/bin/pg_config

# The suites install PostgreSQL, without the extension, in a place of their own. Its $libdir comes
# first, or else a server would load plpgsql from both places.
preload() {
    printf "dynamic_library_path = '\$libdir:%s:%s'\n" "$STAGED_PREFIX/lib" "$TEST_FOLDER/rate_lease"
    printf "shared_preload_libraries = '%s'\n" "$1"
}

build_rate_lease() {
    rm -rf "$TEST_FOLDER/rate_lease"
    cp -r "$here/rate_lease" "$TEST_FOLDER/"
    make --no-print-directory -s -C "$TEST_FOLDER/rate_lease" PG_CONFIG="$pg_config" >&2
}

# Appended to the configuration of every server that a suite starts.
settings_of_mode() {
    case $MODE in
    absent) ;;
    loaded) preload sluice ;;
    rate)
        build_rate_lease
        preload sluice,rate_lease
        ;;
    *)
        echo "test.sh: no mode $MODE" >&2
        exit 2
        ;;
    esac
}

settings_of_mode >"$TEST_FOLDER/$MODE.conf"
export TEMP_CONFIG="$TEST_FOLDER/$MODE.conf"
[ -s "$TEMP_CONFIG" ] || unset TEMP_CONFIG

# Without a lease in force, mode rate would have tested no more than mode loaded. The logs of
# its servers are in folder $1.
require_lease() {
    local folder=$BUILD/$1
    [ "$MODE" = rate ] || return 0
    if ! grep -qsrF --include='*.log' 'a lease on the checkpoint rate is in force' "$folder"; then
        echo "test.sh: no server of suite $SUITE kept up a lease on a rate, says no log in $folder" >&2
        exit 1
    fi
}

perl_suite() {
    make --no-print-directory -C "$1" check PROVE_FLAGS='--verbose --nocolor' \
        ${2:+PROVE_TESTS="$2"}
    require_lease "$1/tmp_check/log"
}

check_suite() {
    rm -rf src/test/regress/log
    make --no-print-directory check
    require_lease src/test/regress/log
}

case $SUITE in
check) check_suite ;;
recovery) perl_suite src/test/recovery ;;
recovery-fast)
    perl_suite src/test/recovery "$(printf 't/%s_*.pl ' 001 013 018 019 029 041 045 046 047)"
    ;;
basebackup) perl_suite src/bin/pg_basebackup ;;
plugin)
    # Its SQL tests start a server of the staged tree, whose programs find libpq by themselves.
    unset TEMP_CONFIG
    mkdir -p "$PLUGIN_SRC/tmp_check" # pg_regress makes only the last part of a path
    make --no-print-directory -C "$PLUGIN_SRC" installcheck \
        PG_CONFIG="$pg_config" PROVE_FLAGS='--verbose --nocolor'
    ;;
*)
    echo "test.sh: no suite $SUITE" >&2
    exit 2
    ;;
esac
