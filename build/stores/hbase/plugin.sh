#!/usr/bin/env bash
# Builds the plug-in and installs its jar, with the libraries that HBase does not bring along.
set -euo pipefail

plugins=$DESTDIR$PREFIX/plugins
mkdir -p "$plugins"
mvn --batch-mode --quiet --file "$PLUGIN_SRC/pom.xml" -DskipTests -Dspotless.check.skip \
    package org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$plugins"
find "$PLUGIN_SRC/target" -maxdepth 1 -name '*.jar' ! -name 'original-*' ! -name '*-tests.jar' \
    -exec cp {} "$plugins/" ';'
ls "$plugins"/sluice-hbase-*.jar
