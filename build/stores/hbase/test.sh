#!/usr/bin/env bash
# Runs one of HBase's test suites (SUITE) on the module built in BUILD; results go to stdout.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jar=$BUILD/modules/hbase-server-$VERSION.jar
hooks=dev.sluice.hbase.modules
upstream=org.apache.hadoop.hbase
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

# HBase on Java 17; upstream's own build gives its tests such a list.
java_options=(-Xmx2g -XX:+UseSerialGC -Djava.net.preferIPv4Stack=true -Djava.awt.headless=true)
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
    (cd "$TEST_FOLDER/settings" &&
        jar --extract --file "$BUILD/dependencies/hbase-server-$VERSION-test-sources.jar" \
            hbase-site.xml hdfs-site.xml)
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
        -sourcepath "$here/modules/tests" -d "$TEST_FOLDER/classes" "${sources[@]}" >&2
}

# Each class in a process of its own, as upstream does: they leave clusters and settings behind.
run_classes() {
    local name status=0
    for name in "$@"; do
        rm -rf "$TEST_FOLDER/run"
        mkdir -p "$TEST_FOLDER/run"
        cd "$TEST_FOLDER/run"
        timeout --kill-after=10 "$limit_seconds" java "${java_options[@]}" -classpath \
            "$TEST_FOLDER/settings:$TEST_FOLDER/classes:$jar:$BUILD/dependencies/*" \
            "$hooks.TapRunner" "$name" && continue
        status=$?
        # 1 is a test that failed, which has said so.
        [ "$status" = 1 ] || echo "not ok 0 - $name, which ended with status $status"
    done
    rm -rf "$TEST_FOLDER/run"
    return "$status"
}

unpack_settings
case $SUITE in
upstream)
    compile_tests "$hooks.TapRunner"
    run_classes "${fast[@]/#/$upstream.}" "${slow[@]/#/$upstream.}"
    ;;
upstream-fast)
    compile_tests "$hooks.TapRunner"
    run_classes "${fast[@]/#/$upstream.}"
    ;;
leak)
    compile_tests "$hooks.TapRunner" "$hooks.DroppedCompactionTest"
    run_classes "$hooks.DroppedCompactionTest"
    ;;
hooks)
    tests=("$hooks.DeferralTest" "$hooks.SettingsTest" "$hooks.FamilyCacheTest")
    compile_tests "$hooks.TapRunner" "${tests[@]}"
    run_classes "${tests[@]}"
    ;;
*)
    echo "test.sh: no suite $SUITE" >&2
    exit 2
    ;;
esac
