#!/usr/bin/env bash
# Compiles the patched module of HBase.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for what is sourced
module=hbase-server folder=hbase-server java_8=(--release 8)
# shellcheck source=build/stores/maven_module.sh
. "$here/../maven_module.sh"

stage_module
