#!/usr/bin/env bash
# Builds the plug-in and installs its jar, with the library of plug-ins in Java.
set -euo pipefail

plugins=$DESTDIR$PREFIX/plugins
mkdir -p "$plugins"
mvn --batch-mode --quiet --file "$PLUGIN_SRC/../pom.xml" --projects cassandra --also-make \
    -DskipTests -Dspotless.check.skip package
cp "$PLUGIN_SRC"/target/sluice-cassandra-*.jar "$PLUGIN_SRC"/target/libraries/*.jar "$plugins/"
