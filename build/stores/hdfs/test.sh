#!/usr/bin/env bash
# Runs one of HDFS's test suites (SUITE) on the module built in BUILD; results go to stdout.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jar=$BUILD/modules/hadoop-hdfs-$VERSION.jar
runner=$here/../../tap-runner/src/main/java
hooks=dev.sluice.hdfs.modules
upstream=org.apache.hadoop.hdfs
# A cluster that does not come down would hold up all; the longest class takes three minutes.
limit_seconds=900

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

# The classes named, and what they use: those that need the hook do not compile on a stock build.
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

# What upstream's build has beside its test classes, but leaves out of their artifact.
write_settings() {
    mkdir -p "$TEST_FOLDER/settings"
    printf '<configuration><property><name>%s</name><value>0</value></property></configuration>\n' \
        dfs.namenode.fs-limits.min-block-size >"$TEST_FOLDER/settings/hdfs-site.xml"
}

# In a folder of its own: upstream's clusters keep their data in target/ of where they start.
run_class() {
    rm -rf "$TEST_FOLDER/run"
    mkdir -p "$TEST_FOLDER/run"
    cd "$TEST_FOLDER/run"
    # In the foreground: whoever ends this script's group ends the tests, too.
    timeout --foreground --kill-after=10 "$limit_seconds" java "${java_options[@]}" -classpath \
        "$TEST_FOLDER/settings:$TEST_FOLDER/classes:$jar:$BUILD/dependencies/*" dev.sluice.tap.TapRunner "$1" 2>&1
}

# Each class in a process of its own, as upstream does: they leave clusters and settings behind.
run_classes() {
    local name status=0
    for name in "$@"; do
        run_class "$name" && continue
        status=$?
        # 1 is a test that failed, which has said so.
        [ "$status" = 1 ] || echo "not ok 0 - $name, which ended with status $status"
    done
    rm -rf "$TEST_FOLDER/run"
    return "$status"
}

write_settings
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
