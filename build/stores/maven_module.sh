# shellcheck shell=bash
# Compiles one patched module of a store that upstream publishes as Maven artifacts: whole, against
# upstream's artifacts of the others, staged under the name of upstream's. For a compile.sh that has
# set `here` (the folder of its recipe), `module` (the artifact), `folder` (its place in SRC) and
# `java_8` (the options of javac for that).

# shellcheck disable=SC2154
jar=$module-$VERSION.jar

die() {
    printf 'compile.sh: %s\n' "$@" >&2
    exit 1
}

# Every file that Maven hands out is one of the lock file's, by checksum. In a copy: Maven writes
# beside the project, and the checkout may be read by another build.
resolve() {
    rm -rf "$BUILD/modules"
    mkdir -p "$BUILD/modules"
    cp "$here/modules/pom.xml" "$here/modules/dependencies-lock.json" "$BUILD/modules/"
    mvn --batch-mode --quiet --file "$BUILD/modules/pom.xml" -Dspotless.check.skip \
        validate dependency:build-classpath -Dmdep.outputFile="$BUILD/modules/classpath"
    tr ':' '\n' <"$BUILD/modules/classpath" >"$BUILD/modules/artifacts"
    stock_jar=$(grep "/$jar\$" "$BUILD/modules/artifacts") ||
        die "modules/pom.xml has no $jar; let its version be $VERSION, and lock it"
}

without_module() {
    grep -v "/$module-${VERSION}[^/]*\.jar\$" "$BUILD/modules/artifacts" | paste -sd:
}

# As upstream does: for Java 8, with debug information. The annotations of dependencies are not there.
compile_module() {
    rm -rf "$BUILD/classes"
    mkdir -p "$BUILD/classes"
    cd "$SRC/$folder"
    find . -name '*.java' | LC_ALL=C sort >"$BUILD/modules/sources"
    javac "${java_8[@]}" -g -proc:none -nowarn -Xlint:-options -encoding UTF-8 \
        -d "$BUILD/classes" -classpath "$(without_module)" "@$BUILD/modules/sources"
}

# Names of the classes that files of the folder $1 hold, without those inside others.
outer_classes() {
    find "$1" -name '*.class' -printf '%P\n' | sed 's/\$.*//; s/\.class$//' | LC_ALL=C sort -u
}

# Resources and manifest are those of upstream's jar: its build makes them, and no patch changes one.
assemble_jar() {
    rm -rf "$BUILD/jar"
    mkdir -p "$BUILD/jar"
    cd "$BUILD/jar"
    jar --extract --file "$stock_jar"
    local missing
    missing=$(LC_ALL=C comm -23 <(outer_classes .) <(outer_classes "$BUILD/classes"))
    [ -z "$missing" ] || die "upstream's jar has classes that were not compiled:" "$missing"
    find . -name '*.class' -delete
    cp -r "$BUILD/classes/." .
    find . -type f ! -path ./META-INF/MANIFEST.MF -printf '%P\n' | LC_ALL=C sort >"$BUILD/modules/files"
    jar --create --date="$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" \
        --manifest META-INF/MANIFEST.MF --file "$BUILD/modules/$jar" "@$BUILD/modules/files"
}

# The tests run as a user who has no right to Maven's repository.
keep_artifacts() {
    rm -rf "$BUILD/dependencies"
    mkdir -p "$BUILD/dependencies"
    local file
    while read -r file; do
        [ ! -e "$BUILD/dependencies/${file##*/}" ] || die "two artifacts are called ${file##*/}"
        cp "$file" "$BUILD/dependencies/"
    done < <(grep -v "/$jar\$" "$BUILD/modules/artifacts")
}

stage_module() {
    resolve
    compile_module
    assemble_jar
    install -D -m 644 "$BUILD/modules/$jar" "$DESTDIR$PREFIX/lib/$jar"
    [ "$TESTING" = 0 ] || keep_artifacts
}
