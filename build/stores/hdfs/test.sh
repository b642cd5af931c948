#!/usr/bin/env bash
# Runs one of HDFS's test suites (SUITE) on the module built in BUILD; results go to stdout.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jar=$BUILD/modules/hadoop-hdfs-$VERSION.jar
hooks=dev.sluice.hdfs.modules
upstream=org.apache.hadoop.hdfs
plugin=dev.sluice.hdfs
# A cluster that does not come down would hold up all; the longest class takes three minutes.
limit_seconds=900
# shellcheck source=build/stores/test_classes.sh
. "$here/../test_classes.sh"

upstream_classes=(
    server.datanode.fsdataset.TestRoundRobinVolumeChoosingPolicy
    server.datanode.fsdataset.TestAvailableSpaceVolumeChoosingPolicy
    server.datanode.fsdataset.impl.TestFsVolumeList
    TestBlockStoragePolicy
    server.mover.TestStorageMover
)

java_options=(-Xmx2g -Djava.net.preferIPv4Stack=true -Djava.awt.headless=true)
for package in lang lang.reflect net nio util util.concurrent; do
    java_options+=("--add-opens=java.base/java.$package=ALL-UNNAMED")
done

plugin_properties() {
    property dfs.datanode.plugins "$plugin.DataNodePlugin"
    property dfs.datanode.fsdataset.volume.choosing.policy "$plugin.RedirectingVolumeChoosingPolicy"
    property sluice.socket.directory "$sockets"
}

# The first is what upstream's build has beside its test classes, but leaves out of their artifact.
write_settings() {
    mkdir -p "$TEST_FOLDER/settings"
    {
        echo '<configuration>'
        property dfs.namenode.fs-limits.min-block-size 0
        [ "$MODE" = absent ] || plugin_properties
        echo '</configuration>'
    } >"$TEST_FOLDER/settings/hdfs-site.xml"
}

case $SUITE in
upstream)
    compile_tests
    run_classes "${upstream_classes[@]/#/$upstream.}"
    ;;
hooks)
    compile_tests "$hooks.RedirectTest"
    run_classes "$hooks.RedirectTest"
    ;;
*)
    echo "test.sh: no suite $SUITE" >&2
    exit 2
    ;;
esac
