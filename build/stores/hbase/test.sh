#!/usr/bin/env bash
# Runs one of HBase's test suites (SUITE) on the module built in BUILD; results go to stdout.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jar=$BUILD/modules/hbase-server-$VERSION.jar
hooks=dev.sluice.hbase.modules
upstream=org.apache.hadoop.hbase
plugin=dev.sluice.hbase
# A cluster that does not come down would hold up all; the longest class takes two minutes.
limit_seconds=900
# shellcheck source=build/stores/test_classes.sh
. "$here/../test_classes.sh"

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
    wal.TestWALFactory
    wal.TestWALSplit
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
    # Nothing here outlives a loss of power: ZooKeeper need not wait for the disk.
    -Dzookeeper.forceSync=no
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
write_settings() {
    : >"$TEST_FOLDER/properties"
    [ "$MODE" = absent ] || plugin_properties "$1" >"$TEST_FOLDER/properties"
    sed -e "/<configuration>/r $TEST_FOLDER/properties" "$TEST_FOLDER/upstream-site.xml" \
        >"$TEST_FOLDER/settings/hbase-site.xml"
}

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
mended)
    tests=("$hooks.DroppedCompactionTest" "$hooks.ReplicationFiguresTest")
    compile_tests "${tests[@]}"
    run_classes "${tests[@]}"
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
