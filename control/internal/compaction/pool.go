package compaction

import (
	"encoding/hex"

	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/store"
)

// poolSessionBytes is how long the name of a session of a pool is, of which each byte is two digits.
const poolSessionBytes = 16

// PoolPlace is where in a pool a database is.
type PoolPlace struct {
	Volume string `json:"volume"`
	// OuterEpoch is that of the store's lease, which the worker names to get one on the output path alone.
	OuterEpoch uint64 `json:"outer_epoch"`
}

// isInPool says whether the job's paths are those of a volume.
func (j Job) isInPool() bool {
	return j.Pool != nil || j.PoolSession != ""
}

// IsElsewhere says whether what the job writes is on no file system of the node that runs it.
func (j Job) IsElsewhere() bool {
	return j.IsHBase() || j.Pool != nil
}

// Output names the directory that the job writes to, which a path does among those of one volume alone.
func (j Job) Output() string {
	if j.Pool == nil {
		return j.OutputPath
	}
	return j.Pool.Volume + ":" + j.OutputPath
}

// validatePool says what is wrong with a job in a pool.
func (j Job) validatePool() error {
	if len(j.DataPaths) > 0 {
		return store.Invalidf("a job in a pool has no data paths")
	}
	if err := j.validatePlace(); err != nil {
		return err
	}
	for _, path := range []string{j.DatabasePath, j.OutputPath} {
		if err := entry.CheckPath(path); err != nil {
			return err
		}
	}
	if want := entry.JoinPath(j.DatabasePath, OutputPrefix+j.ID); j.OutputPath != want {
		return store.Invalidf("the output path %q of the job is not %q", j.OutputPath, want)
	}
	return nil
}

// validatePlace takes the session of a store, or what the store's agent has found it to be.
func (j Job) validatePlace() error {
	if j.Pool == nil {
		if name, err := hex.DecodeString(j.PoolSession); err != nil || hex.EncodeToString(name) != j.PoolSession || len(name) != poolSessionBytes {
			return store.Invalidf("the session of a pool %.40q is not %d hexadecimal digits", j.PoolSession, 2*poolSessionBytes)
		}
		return nil
	}
	if j.PoolSession != "" {
		return store.Invalidf("the job has both a session of a pool and a place in one: give one of them")
	}
	if j.Pool.OuterEpoch == 0 || j.Pool.OuterEpoch > MaxCount {
		return store.Invalidf("the epoch %d of the lease is not between 1 and 2^53-1", j.Pool.OuterEpoch)
	}
	return entry.CheckVolume(j.Pool.Volume)
}
