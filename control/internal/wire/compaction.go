package wire

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/internal/compaction"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

const (
	maxSeries = 64
	// maxCPUs is far above any machine.
	maxCPUs = 65536
)

// compactionReasons are those that a peer can give: the others are of the caller's own side.
var compactionReasons = map[sluicev1.CompactionFailure]compaction.Reason{
	sluicev1.CompactionFailure_COMPACTION_FAILURE_BUSY:          compaction.Busy,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_STOPPING:      compaction.Stopping,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_VERSION:       compaction.VersionUnknown,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_PATH:          compaction.Path,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_OBJECT:        compaction.ObjectUnknown,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_WORKER_LOST:   compaction.WorkerLost,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_WORKER_SILENT: compaction.WorkerSilent,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_WORKER_OUTPUT: compaction.WorkerOutput,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_WORKER_MEMORY: compaction.WorkerMemory,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_DISK_FULL:     compaction.DiskFull,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_FAILED:        compaction.Failed,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_TOO_LONG:      compaction.TooLong,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_TOO_LARGE:     compaction.TooLarge,
	sluicev1.CompactionFailure_COMPACTION_FAILURE_CANCELLED:     compaction.Cancelled,
}

// EncodeJob gives a job as a message.
func EncodeJob(job compaction.Job) *sluicev1.CompactionJob {
	return &sluicev1.CompactionJob{
		Id: job.ID, DatabasePath: job.DatabasePath, DataPaths: job.DataPaths, OutputPath: job.OutputPath,
		RocksdbVersion: encodeVersion(job.RocksDB), HbaseVersion: encodeVersion(job.HBase),
		PluginVersion: job.PluginVersion, ColumnFamily: job.ColumnFamily,
		InputLevel: job.InputLevel, OutputLevel: job.OutputLevel,
		InputBytes: job.InputBytes, InputFiles: job.InputFiles,
		Objects:         encodeList(job.Objects, encodeObject),
		Input:           job.Input,
		IsAutomatic:     job.IsAutomatic,
		NextLevelTables: encodeList(job.NextLevelTables, encodeTable),
		Pool:            encodePoolPlace(job.Pool),
	}
}

func encodePoolPlace(place *compaction.PoolPlace) *sluicev1.CompactionPool {
	if place == nil {
		return nil
	}
	return &sluicev1.CompactionPool{Volume: place.Volume, OuterEpoch: place.OuterEpoch}
}

func decodePoolPlace(message *sluicev1.CompactionPool) *compaction.PoolPlace {
	if message == nil {
		return nil
	}
	return &compaction.PoolPlace{Volume: message.GetVolume(), OuterEpoch: message.GetOuterEpoch()}
}

// encodeVersion gives nothing for the version of a store that it is not.
func encodeVersion(version compaction.Version) *sluicev1.RocksdbVersion {
	if version == (compaction.Version{}) {
		return nil
	}
	return &sluicev1.RocksdbVersion{Major: version.Major, Minor: version.Minor, Patch: version.Patch}
}

func decodeVersion(message *sluicev1.RocksdbVersion) compaction.Version {
	return compaction.Version{Major: message.GetMajor(), Minor: message.GetMinor(), Patch: message.GetPatch()}
}

func encodeObject(object compaction.Object) *sluicev1.CompactionObject {
	return &sluicev1.CompactionObject{Kind: object.Kind, Name: object.Name}
}

func encodeTable(table compaction.Table) *sluicev1.NextLevelTable {
	return &sluicev1.NextLevelTable{Smallest: table.Smallest, Largest: table.Largest, Bytes: table.Bytes}
}

// DecodeJob reads and checks a job.
func DecodeJob(message *sluicev1.CompactionJob) (compaction.Job, error) {
	if message == nil {
		return compaction.Job{}, store.Invalidf("job is missing")
	}
	job := compaction.Job{
		ID: message.GetId(), DatabasePath: message.GetDatabasePath(), DataPaths: message.GetDataPaths(),
		OutputPath: message.GetOutputPath(),
		RocksDB:    decodeVersion(message.GetRocksdbVersion()), HBase: decodeVersion(message.GetHbaseVersion()),
		PluginVersion: message.GetPluginVersion(), ColumnFamily: message.GetColumnFamily(),
		InputLevel: message.GetInputLevel(), OutputLevel: message.GetOutputLevel(),
		InputBytes: message.GetInputBytes(), InputFiles: message.GetInputFiles(),
		Objects:         encodeList(message.GetObjects(), decodeObject),
		Input:           message.GetInput(),
		IsAutomatic:     message.GetIsAutomatic(),
		NextLevelTables: encodeList(message.GetNextLevelTables(), decodeTable),
		Pool:            decodePoolPlace(message.GetPool()),
	}
	if err := job.Validate(); err != nil {
		return compaction.Job{}, err
	}
	return job, nil
}

func decodeObject(message *sluicev1.CompactionObject) compaction.Object {
	return compaction.Object{Kind: message.GetKind(), Name: message.GetName()}
}

// A key may be empty, and is no null for the program: of nothing protobuf makes nil.
func decodeTable(message *sluicev1.NextLevelTable) compaction.Table {
	key := func(key []byte) []byte { return append([]byte{}, key...) }
	return compaction.Table{
		Smallest: key(message.GetSmallest()), Largest: key(message.GetLargest()), Bytes: message.GetBytes(),
	}
}

// EncodeFailure gives why a job has no result. A reason that no peer gives, which is a fault of this
// program, is sent as failed.
func EncodeFailure(failure *compaction.Failure) *sluicev1.CompactionFailed {
	number := encodeName(compactionReasons, failure.Reason)
	if number == sluicev1.CompactionFailure_COMPACTION_FAILURE_UNSPECIFIED {
		number = sluicev1.CompactionFailure_COMPACTION_FAILURE_FAILED
	}
	return &sluicev1.CompactionFailed{Failure: number, Detail: sentence(failure.Detail)}
}

// DecodeFailure reads why a job has no result. What a newer peer says is a refusal in other words.
func DecodeFailure(message *sluicev1.CompactionFailed) *compaction.Failure {
	reason, known := compactionReasons[message.GetFailure()]
	if !known {
		reason = compaction.PeerRefused
	}
	return &compaction.Failure{Reason: reason, Detail: sentence(message.GetDetail())}
}

// EncodeCompactionProgress gives how far a job is.
func EncodeCompactionProgress(progress compaction.Progress) *sluicev1.CompactionProgress {
	return &sluicev1.CompactionProgress{BytesRead: progress.BytesRead, BytesWritten: progress.BytesWritten}
}

// DecodeCompactionProgress reads how far a job is.
func DecodeCompactionProgress(message *sluicev1.CompactionProgress) compaction.Progress {
	return compaction.Progress{
		BytesRead:    min(message.GetBytesRead(), compaction.MaxCount),
		BytesWritten: min(message.GetBytesWritten(), compaction.MaxCount),
	}
}

// EncodeCompactionResult gives what a job has come to.
func EncodeCompactionResult(result compaction.Result) *sluicev1.CompactionResult {
	return &sluicev1.CompactionResult{Result: result.Blob, BytesRead: result.BytesRead, BytesWritten: result.BytesWritten}
}

// DecodeCompactionResult reads and checks what a job has come to.
func DecodeCompactionResult(message *sluicev1.CompactionResult) (compaction.Result, error) {
	blob := message.GetResult()
	if len(blob) == 0 || len(blob) > compaction.MaxBlobBytes {
		return compaction.Result{}, store.Invalidf("the result has %d bytes, where 1 to %d are allowed",
			len(blob), compaction.MaxBlobBytes)
	}
	return compaction.Result{Blob: blob, Progress: compaction.Progress{
		BytesRead:    min(message.GetBytesRead(), compaction.MaxCount),
		BytesWritten: min(message.GetBytesWritten(), compaction.MaxCount),
	}}, nil
}

// EncodeCapacity gives what a node has left for jobs.
func EncodeCapacity(capacity compaction.Capacity) *sluicev1.WatchCapacityResponse {
	return &sluicev1.WatchCapacityResponse{
		CpuUsed: capacity.CPUUsed, CpuAge: durationpb.New(capacity.CPUAge), Cpus: capacity.CPUs,
		FreeSlots: capacity.FreeSlots, RocksdbSeries: capacity.Series,
	}
}

// DecodeCapacity reads and checks what a node has left for jobs.
func DecodeCapacity(message *sluicev1.WatchCapacityResponse) (compaction.Capacity, error) {
	var read fields
	capacity := compaction.Capacity{
		CPUUsed:   read.share("cpu_used", message.GetCpuUsed()),
		CPUAge:    read.duration("cpu_age", message.GetCpuAge()),
		CPUs:      read.quantity("cpus", message.GetCpus()),
		FreeSlots: message.GetFreeSlots(),
		Series:    message.GetRocksdbSeries(),
	}
	if capacity.CPUs == 0 || capacity.CPUs > maxCPUs {
		read.fail("cpus is %v, but must be above 0 and at most %d", capacity.CPUs, maxCPUs)
	}
	if len(capacity.Series) > maxSeries {
		read.fail("rocksdb_series has %d entries, at most %d are allowed", len(capacity.Series), maxSeries)
	}
	for _, series := range capacity.Series {
		read.name("an entry of rocksdb_series", series)
	}
	if read.err != nil {
		return compaction.Capacity{}, read.err
	}
	return capacity, nil
}
