// Package overwrite is a file system whose files can be overwritten, renamed and cut, on top of files that can only be
// added to. Everything that is changed is a record at the end of a log of bounded segments; what is in the segments by
// now is known by tables in memory, of which a snapshot is written now and then. Segments with little left that counts
// are cleaned. docs/pool-mount.md says what holds after a crash.
//
// It knows neither the pool nor the kernel: Files is what it stands on, and package mount is how it is mounted.
package overwrite
