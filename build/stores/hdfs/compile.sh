#!/usr/bin/env bash
# Compiles the patched module of HDFS.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# --release hides sun.misc.Unsafe, which one class names: the jar needs a newer Java than 8, as the
# packages do. Upstream's build makes a class of every package-info.
# shellcheck disable=SC2034 # for what is sourced
module=hadoop-hdfs folder=hadoop-hdfs-project/hadoop-hdfs java_8=(-source 8 -target 8 -Xpkginfo:always)
# shellcheck source=build/stores/maven_module.sh
. "$here/../maven_module.sh"

stage_module
