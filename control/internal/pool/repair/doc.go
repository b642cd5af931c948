// Package repair has every sealed file of a pool have all its copies: it makes those anew that are missing, damaged, or
// on servers that are gone, moves segments from full servers to emptier ones, and removes segments that no file has.
// One process at a time does so, under a lease on a volume of its own.
//
// Why nothing can be lost, whatever is killed, and however late a request arrives:
//
//   - Each pass has a lease, and so an epoch, of its own. Changes of the metadata name it, and are refused once the lease
//     has ended.
//   - A segment is written with the epoch of the pass, and listed in the metadata after it is sealed and on the disk.
//   - A segment is removed only after the metadata no longer lists it as one that can be read, and only if it has a
//     lower epoch than the pass. What a pass has made outlasts its own removals, and those of all passes before.
package repair
