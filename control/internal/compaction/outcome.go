package compaction

import "time"

// Each end of a job tells the other once a Heartbeat that it is there, and gives it up after Expiry.
const (
	Heartbeat = time.Second
	Expiry    = 5 * time.Second
)

// Progress is how far a job is.
type Progress struct {
	BytesRead    uint64 `json:"bytes_read"`
	BytesWritten uint64 `json:"bytes_written"`
}

// Result is what a job has come to.
type Result struct {
	// Blob is the store's own serialised form.
	Blob []byte
	Progress
}

// Capacity is what a node has left for jobs.
type Capacity struct {
	// CPUUsed is an exponential moving average, 0 to 1, of samples of which the last is CPUAge old.
	CPUUsed float64
	CPUAge  time.Duration
	// CPUs is how many processors the share is of.
	CPUs float64
	// FreeSlots is how many more jobs would be accepted, as far as slots and memory go.
	FreeSlots uint32
	// Series of stores that there are programs for.
	Series []string
}
