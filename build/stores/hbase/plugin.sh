#!/usr/bin/env bash
# Builds the plug-in and installs its jar, with the libraries that HBase does not bring along.
set -euo pipefail

plugins=$DESTDIR$PREFIX/plugins
mkdir -p "$plugins"
mvn --batch-mode --quiet --file "$PLUGIN_SRC/../pom.xml" --projects hbase --also-make \
    -DskipTests -Dspotless.check.skip package
cp "$PLUGIN_SRC"/target/sluice-hbase-*.jar "$PLUGIN_SRC"/target/libraries/*.jar "$plugins/"
install -m 0755 "$PLUGIN_SRC/bin/sluice-hbase-compact" "$plugins/"
