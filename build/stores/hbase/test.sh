#!/usr/bin/env bash
# Runs one of HBase's test suites (SUITE) on the module built in BUILD; results go to stdout.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jar=$BUILD/modules/hbase-server-$VERSION.jar
runner=$here/../../tap-runner/src/main/java
hooks=dev.sluice.hbase.modules
upstream=org.apache.hadoop.hbase
plugin=dev.sluice.hbase
plugins=
# A cluster that does not come down would hold up all; the longest class takes two minutes.
limit_seconds=900

fast=(
    util.TestStealJobQueue
    regionserver.compactions.TestCloseChecker
    regionserver.TestCompactionLifeCycleTracker
    regionserver.TestRegionServerOnlineConfigChange
)
slow=(
    io.hfile.TestCacheConfig
    regionserver.TestCompaction
    regionserver.TestCompactSplitThread
    regionserver.throttle.TestCompactionWithThroughputController
)

# HBase on Java 17; upstream's own build gives its tests such a list. TestCacheConfig asks for the
# size of a cache as a fraction of the heap, which is exact for a power of two, and G1 takes all of it.
java_options=(-Xmx2g -XX:+UseG1GC -Djava.net.preferIPv4Stack=true -Djava.awt.headless=true)
for package in lang lang.reflect net nio util util.concurrent util.concurrent.atomic; do
    java_options+=("--add-opens=java.base/java.$package=ALL-UNNAMED")
done
java_options+=(
    --add-opens=java.base/jdk.internal.ref=ALL-UNNAMED
    --add-opens=java.base/sun.nio.ch=ALL-UNNAMED
    --add-modules=jdk.unsupported
)
[ "$VARIANT" = patched ] || java_options+=(-Dsluice.stock=true)

# What upstream's build has beside its test classes, but leaves out of their artifact.
unpack_settings() {
    rm -rf "$TEST_FOLDER/settings"
    mkdir -p "$TEST_FOLDER/settings"
    cd "$TEST_FOLDER/settings"
    jar --extract --file "$BUILD/dependencies/hbase-server-$VERSION-test-sources.jar" \
        hbase-site.xml hdfs-site.xml
    mv hbase-site.xml "$TEST_FOLDER/upstream-site.xml"
}

property() {
    printf '<property><name>%s</name><value>%s</value></property>\n' "$1" "$2"
}

plugin_properties() {
    property hbase.regionserver.throughput.controller "$plugin.compaction.LeasedCompactionController"
    property hbase.regionserver.flush.throughput.controller "$plugin.flush.LeasedFlushController"
    property hbase.hstore.defaultengine.compactor.class "$plugin.compaction.CountingCompactor"
    property hbase.coprocessor.regionserver.classes "$plugin.regionserver.SocketCoprocessor"
    property sluice.socket.directory "$sockets"
    # That class is about the cache that there is when nothing is said.
    [[ $1 = *.TestCacheConfig ]] || property hfile.block.cache.policy "$plugin.cache.FamilyBlockCache"
}

# Every server that the class $1 starts has the plug-in, unless its tests name other classes.
settings_of_mode() {
    : >"$TEST_FOLDER/properties"
    case $MODE in
    absent) ;;
    loaded) plugin_properties "$1" >"$TEST_FOLDER/properties" ;;
    *)
        echo "test.sh: no mode $MODE" >&2
        exit 2
        ;;
    esac
    sed -e "/<configuration>/r $TEST_FOLDER/properties" "$TEST_FOLDER/upstream-site.xml" \
        >"$TEST_FOLDER/settings/hbase-site.xml"
}

# Without a server that has it, mode loaded would have tested no more than mode absent.
require_plugin() {
    [ "$MODE" = loaded ] || return 0
    ! grep -qsF "orders are taken on $sockets/" "$TEST_FOLDER/output" || return 0
    echo "not ok 0 - a server with the plug-in"
    return 1
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

run_class() {
    rm -rf "$TEST_FOLDER/run"
    mkdir -p "$TEST_FOLDER/run"
    cd "$TEST_FOLDER/run"
    settings_of_mode "$1"
    # In the foreground: whoever ends this script's group ends the tests, too.
    timeout --foreground --kill-after=10 "$limit_seconds" java "${java_options[@]}" -classpath \
        "$TEST_FOLDER/settings:$TEST_FOLDER/classes:$jar:$BUILD/dependencies/*$plugins" \
        dev.sluice.tap.TapRunner "$1" 2>&1 | tee -a "$TEST_FOLDER/output"
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

# The name of a socket has at most 107 bytes, and the folder of the tests may be deep.
sockets=$(mktemp -d)
trap 'rm -rf "$sockets"' EXIT
[ "$MODE" = absent ] || plugins=":$STAGED_PREFIX/plugins/*"
unpack_settings
case $SUITE in
upstream)
    compile_tests
    run_classes "${fast[@]/#/$upstream.}" "${slow[@]/#/$upstream.}"
    ;;
upstream-fast)
    compile_tests
    run_classes "${fast[@]/#/$upstream.}"
    ;;
leak)
    compile_tests "$hooks.DroppedCompactionTest"
    run_classes "$hooks.DroppedCompactionTest"
    ;;
hooks)
    tests=("$hooks.DeferralTest" "$hooks.SettingsTest" "$hooks.FamilyCacheTest")
    compile_tests "${tests[@]}"
    run_classes "${tests[@]}"
    ;;
*)
    echo "test.sh: no suite $SUITE" >&2
    exit 2
    ;;
esac
