// Package message is the form of what is said about remote compactions on one node: between a store's
// plug-in and its agent, and between an agent and the worker that it runs. The messages are described by
// the JSON Schemas of proto/local/compaction, of which folder schema holds a copy, and by
// docs/remote-compaction.md.
package message

import (
	"embed"
	"encoding/json"
	"fmt"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/store"
)

//go:generate sh -c "cp ../../../../proto/local/compaction/*.schema.json schema/"

//go:embed schema/*.schema.json
var schemaFiles embed.FS

var schemas = localprotocol.NewSchemas(schemaFiles, "https://sluice.dev/local/compaction/1/")

// MaxLineBytes bounds a line in both directions, its newline not counted: a job or result of the greatest
// size as base64, and what is around it.
const MaxLineBytes = 3 << 20

// Version is a version of the messages. Peers of different major versions refuse each other; a minor
// version only adds members and words.
type Version struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
}

// CurrentVersion is what this package speaks.
func CurrentVersion() Version {
	return Version{Major: 1, Minor: 1}
}

// String is the form "1.1".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// Methods of the agent's socket.
const (
	MethodRun  = "run"
	MethodWait = "wait"
)

// RunParams ask for a compaction to be run elsewhere.
type RunParams struct {
	ProtocolVersion Version        `json:"protocol_version"`
	Job             compaction.Job `json:"job"`
}

// Placements of a job.
const (
	Remote = "remote"
	Local  = "local"
)

// RunResult says where a compaction runs.
type RunResult struct {
	ProtocolVersion Version           `json:"protocol_version"`
	Placement       string            `json:"placement"`
	Node            string            `json:"node,omitempty"`
	Reason          compaction.Reason `json:"reason,omitempty"`
	Detail          *string           `json:"detail,omitempty"`
}

// States of a job.
const (
	Running = "running"
	Done    = "done"
)

// WaitResult says what has become of a compaction.
type WaitResult struct {
	State string `json:"state"`
	Node  string `json:"node,omitempty"`
	*compaction.Progress
	Result []byte            `json:"result,omitempty"`
	Reason compaction.Reason `json:"reason,omitempty"`
	Detail *string           `json:"detail,omitempty"`
}

// WorkerJob is what a worker is told.
type WorkerJob struct {
	ProtocolVersion Version        `json:"protocol_version"`
	Job             compaction.Job `json:"job"`
	// PoolSocket is, of a job in a pool, where this node's agent gives access to it.
	PoolSocket string   `json:"pool_socket,omitempty"`
	Libraries  []string `json:"libraries"`
	// CheckedDatabasePath and CheckedOutputPath are the directories of the job as they were checked, without
	// symbolic links.
	CheckedDatabasePath string `json:"checked_database_path,omitempty"`
	CheckedOutputPath   string `json:"checked_output_path,omitempty"`
	MemoryLimitBytes    uint64 `json:"memory_limit_bytes"`
	TemporaryLimitBytes uint64 `json:"temporary_limit_bytes"`
	Resumable           bool   `json:"resumable,omitempty"`
}

// WorkerLine is what a worker says: exactly one of its members.
type WorkerLine struct {
	Started  *Started             `json:"started,omitempty"`
	Progress *compaction.Progress `json:"progress,omitempty"`
	Result   *WorkerResult        `json:"result,omitempty"`
	Failure  *WorkerFailure       `json:"failure,omitempty"`
}

// Started is a worker's first line.
type Started struct {
	ProtocolVersion Version            `json:"protocol_version"`
	RocksDB         compaction.Version `json:"rocksdb_version,omitzero"`
	HBase           compaction.Version `json:"hbase_version,omitzero"`
}

// Store is what the worker is for, as a job has it.
func (s Started) Store() string {
	return compaction.Job{RocksDB: s.RocksDB, HBase: s.HBase}.Store()
}

// WorkerResult is the last line of a worker that has done its job.
type WorkerResult struct {
	Result []byte `json:"result"`
	compaction.Progress
	OpenSeconds float64 `json:"open_seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	// ResumedBytes is what a worker before this one had written of the output.
	ResumedBytes uint64 `json:"resumed_bytes,omitempty"`
}

// WorkerFailure is the last line of a worker that has not.
type WorkerFailure struct {
	Reason  compaction.Reason `json:"reason"`
	Message string            `json:"message"`
}

// ParseRun reads and checks the params of run. Errors are of type *store.Error.
func ParseRun(params json.RawMessage) (compaction.Job, error) {
	if err := checkVersion(params, "the agent", "the plug-in"); err != nil {
		return compaction.Job{}, err
	}
	read, err := parse[RunParams]("run-params", params)
	if err != nil {
		return compaction.Job{}, err
	}
	return read.Job, read.Job.Validate()
}

// ParseWait checks the params of wait.
func ParseWait(params json.RawMessage) error {
	_, err := parse[struct{}]("wait-params", params)
	return err
}

// ParseWorkerJob reads and checks what a worker is told.
func ParseWorkerJob(line []byte) (WorkerJob, error) {
	if err := checkVersion(line, "the worker", "the agent"); err != nil {
		return WorkerJob{}, err
	}
	read, err := parse[WorkerJob]("worker-job", line)
	if err != nil {
		return WorkerJob{}, err
	}
	return read, read.Job.Validate()
}

// ParseWorkerLine reads and checks what a worker says.
func ParseWorkerLine(line []byte) (WorkerLine, error) {
	short, blob := takeBlob(line)
	said, err := parseWorkerLine(short)
	switch {
	case blob == nil:
		return said, err
	case err == nil && said.Result != nil && string(said.Result.Result) == placeholder:
		said.Result.Result = blob
		return said, checkBlob(blob)
	default:
		// The long text is another one than the result.
		return parseWorkerLine(line)
	}
}

func parseWorkerLine(line []byte) (WorkerLine, error) {
	if err := schemas.Validate("worker-line", line); err != nil {
		return WorkerLine{}, store.Invalidf("worker-line: %w", err)
	}
	// By their exact names: json.Unmarshal into a struct would take a "Result" beside a "progress" as well.
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return WorkerLine{}, store.Invalidf("worker-line: %w", err)
	}
	switch {
	case members["started"] != nil:
		said := WorkerLine{Started: new(Started)}
		if err := checkVersion(members["started"], "the agent", "the worker"); err != nil {
			return WorkerLine{}, err
		}
		return said, decode(members["started"], said.Started)
	case members["progress"] != nil:
		said := WorkerLine{Progress: new(compaction.Progress)}
		return said, decode(members["progress"], said.Progress)
	case members["failure"] != nil:
		said := WorkerLine{Failure: new(WorkerFailure)}
		return said, decode(members["failure"], said.Failure)
	}
	said := WorkerLine{Result: new(WorkerResult)}
	if err := decode(members["result"], said.Result); err != nil {
		return WorkerLine{}, err
	}
	return said, checkBlob(said.Result.Result)
}

func decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return store.Invalidf("worker-line: %w", err)
	}
	return nil
}

func checkBlob(blob []byte) error {
	if len(blob) == 0 || len(blob) > compaction.MaxBlobBytes {
		return store.Invalidf("the result has %d bytes, where 1 to %d are allowed", len(blob), compaction.MaxBlobBytes)
	}
	return nil
}

// parse validates a text before anything is done with it.
func parse[T any](schema string, text []byte) (T, error) {
	var read T
	if err := schemas.Validate(schema, text); err != nil {
		return read, store.Invalidf("%s: %w", schema, err)
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return read, store.Invalidf("%s: %w", schema, err)
	}
	return read, nil
}

// checkVersion comes before the schema, which may be another one in another version. What has no version
// that can be read is left to the schema.
func checkVersion(text []byte, us, them string) error {
	var read struct {
		ProtocolVersion *Version `json:"protocol_version"`
	}
	if json.Unmarshal(text, &read) != nil || read.ProtocolVersion == nil {
		return nil
	}
	if peer, own := *read.ProtocolVersion, CurrentVersion(); peer.Major != own.Major {
		return store.Errorf(store.CodeIncompatible, "%s speaks version %v of the compaction protocol, %s version %v",
			us, own, them, peer).WithHint("Install versions whose protocols have the same major version.")
	}
	return nil
}

// ForWorker puts what a worker is told on a line.
func ForWorker(job WorkerJob) ([]byte, error) {
	// JSON tells an empty list from none at all, which the schema does not have.
	job.Libraries = emptyForNone(job.Libraries)
	job.Job.DataPaths = emptyForNone(job.Job.DataPaths)
	job.Job.Objects = emptyForNone(job.Job.Objects)
	line, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	if len(line) > MaxLineBytes {
		return nil, store.Invalidf("the job takes %d bytes, a line holds %d", len(line), MaxLineBytes)
	}
	return append(line, '\n'), nil
}

func emptyForNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
