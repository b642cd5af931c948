# shellcheck shell=bash
# Sourced by test.sh of stores in Java: runs test classes on the module in $jar. Whoever sources it sets
# `here`, `jar`, `java_options` and `limit_seconds`, and has a function `write_settings CLASS`, which
# writes the settings of $MODE for a class into $TEST_FOLDER/settings.

runner=$here/../../tap-runner/src/main/java
# The name of a socket has at most 107 bytes, and the folder of the tests may be deep.
sockets=$(mktemp -d)
trap 'rm -rf "$sockets"' EXIT
case $MODE in
absent) plugins= ;;
loaded) plugins=:$STAGED_PREFIX/plugins/* ;;
*)
    echo "test.sh: no mode $MODE" >&2
    exit 2
    ;;
esac

property() {
    printf '<property><name>%s</name><value>%s</value></property>\n' "$1" "$2"
}

# The classes named, and what they use: those that need the hooks do not compile on a stock build.
compile_tests() {
    rm -rf "$TEST_FOLDER/classes"
    mkdir -p "$TEST_FOLDER/classes"
    local sources=() name
    for name in "$@"; do
        sources+=("$here/modules/tests/${name//.//}.java")
    done
    javac -encoding UTF-8 -proc:none -nowarn -classpath "$jar:$BUILD/dependencies/*" \
        -sourcepath "$here/modules/tests:$runner" -d "$TEST_FOLDER/classes" \
        "$runner/dev/sluice/tap/TapRunner.java" "${sources[@]}" >&2
}

# In a folder of its own: upstream's clusters keep their data in target/ of where they start.
run_class() {
    rm -rf "$TEST_FOLDER/run"
    mkdir -p "$TEST_FOLDER/run"
    cd "$TEST_FOLDER/run"
    write_settings "$1"
    # In the foreground: whoever ends this script's group ends the tests, too.
    timeout --foreground --kill-after=10 "$limit_seconds" java "${java_options[@]}" -classpath \
        "$TEST_FOLDER/settings:$TEST_FOLDER/classes:$jar:$BUILD/dependencies/*$plugins" \
        dev.sluice.tap.TapRunner "$1" 2>&1 | tee -a "$TEST_FOLDER/output"
}

# Without a server that has it, mode loaded would have tested no more than mode absent.
require_plugin() {
    [ "$MODE" = loaded ] || return 0
    ! grep -qsF "orders are taken on $sockets/" "$TEST_FOLDER/output" || return 0
    echo "not ok 0 - a server with the plug-in"
    return 1
}

# Each class in a process of its own, as upstream does: they leave clusters and settings behind.
run_classes() {
    local name status=0
    : >"$TEST_FOLDER/output"
    for name in "$@"; do
        run_class "$name" && continue
        status=$?
        # 1 is a test that failed, which has said so.
        [ "$status" = 1 ] || echo "not ok 0 - $name, which ended with status $status"
    done
    rm -rf "$TEST_FOLDER/run"
    require_plugin || status=1
    return "$status"
}
