package compaction

import (
	"errors"
	"fmt"
)

// Reason is why a compaction is not run elsewhere, or not to its end. The store then compacts by itself.
// Reasons are few and fixed, so that they can be counted.
type Reason string

// Reasons before a job is placed.
const (
	// BelowThreshold says that no peer is idle enough in comparison.
	BelowThreshold Reason = "below-threshold"
	// NoPeer says that no peer is within reach that has a program for the store's version. Where there is
	// one, and all its slots are taken, it is Busy.
	NoPeer Reason = "no-peer"
	// TooSmall and Level are jobs that are not worth the way.
	TooSmall Reason = "too-small"
	Level    Reason = "level"
)

// Reasons of the node that runs jobs.
const (
	// Busy says that all slots, all memory or all temporary space are taken.
	Busy Reason = "busy"
	// Stopping says that the agent stops.
	Stopping Reason = "stopping"
	// VersionUnknown says that there is no program for the store's version.
	VersionUnknown Reason = "version"
	// Path says that a path is not there, or not one that jobs may use.
	Path Reason = "path"
	// ObjectUnknown says that a comparator, merge operator, filter or the like cannot be made.
	ObjectUnknown Reason = "object"
	// WorkerLost says that the program ended without a result.
	WorkerLost Reason = "worker-lost"
	// WorkerSilent says that the program said nothing for Expiry.
	WorkerSilent Reason = "worker-silent"
	// WorkerOutput says that the program said what is not in its contract.
	WorkerOutput Reason = "worker-output"
	// WorkerMemory says that the program had not enough memory.
	WorkerMemory Reason = "worker-memory"
	// DiskFull says that the file system is full.
	DiskFull Reason = "disk-full"
	// Failed says that the compaction itself failed.
	Failed Reason = "failed"
	// TooLong and TooLarge are jobs beyond what a job may take, or write.
	TooLong  Reason = "too-long"
	TooLarge Reason = "too-large"
)

// Reasons on the way.
const (
	// PeerLost says that the peer was not heard of for Expiry, or that the connection broke.
	PeerLost Reason = "peer-lost"
	// PeerRefused says that the peer does not take jobs from this node, or not in this form.
	PeerRefused Reason = "peer-refused"
	// Cancelled says that the store no longer wants the job, or is gone.
	Cancelled Reason = "cancelled"
)

// Reasons lists every reason.
func Reasons() []Reason {
	return []Reason{
		BelowThreshold, NoPeer, TooSmall, Level,
		Busy, Stopping, VersionUnknown, Path, ObjectUnknown, WorkerLost, WorkerSilent, WorkerOutput, WorkerMemory,
		DiskFull, Failed, TooLong, TooLarge,
		PeerLost, PeerRefused, Cancelled,
	}
}

// Failure is why a job is not run elsewhere, or not to its end.
type Failure struct {
	Reason Reason
	// Detail is one sentence for who reads.
	Detail string
}

// Failuref makes a Failure.
func Failuref(reason Reason, format string, arguments ...any) *Failure {
	return &Failure{Reason: reason, Detail: fmt.Sprintf(format, arguments...)}
}

// Error gives reason and detail.
func (f *Failure) Error() string {
	return string(f.Reason) + ": " + f.Detail
}

// FailureOf is an error as a Failure; of any that is none, it is Failed.
func FailureOf(err error) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	return &Failure{Reason: Failed, Detail: err.Error()}
}
