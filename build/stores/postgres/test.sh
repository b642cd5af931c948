#!/usr/bin/env bash
# Runs one of PostgreSQL's test suites (SUITE) on the tree built in BUILD; results go to stdout.
set -euo pipefail

cd "$BUILD"

# Appended to the configuration of every server that a suite starts.
settings_of_mode() {
    case $MODE in
    absent) ;;
    loaded)
        # By path: the suites install PostgreSQL, without the extension, in a place of their own.
        printf "shared_preload_libraries = '%s'\n" "$STAGED_PREFIX/lib/sluice.so"
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

perl_suite() {
    make --no-print-directory -C "$1" check PROVE_FLAGS='--verbose --nocolor' \
        ${2:+PROVE_TESTS="$2"}
}

case $SUITE in
check) make --no-print-directory check ;;
recovery) perl_suite src/test/recovery ;;
recovery-fast)
    perl_suite src/test/recovery "$(printf 't/%s_*.pl ' 001 013 018 019 029 041 045 046 047)"
    ;;
basebackup) perl_suite src/bin/pg_basebackup ;;
plugin)
    # Its SQL tests start a server of the staged tree, whose programs find libpq by themselves.
    make --no-print-directory -C "$PLUGIN_SRC" installcheck \
        PG_CONFIG="$STAGED_PREFIX/bin/pg_config" PROVE_FLAGS='--verbose --nocolor'
    ;;
*)
    echo "test.sh: no suite $SUITE" >&2
    exit 2
    ;;
esac
