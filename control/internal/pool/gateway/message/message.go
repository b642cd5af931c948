// Package message is the form of what a store's plug-in and the agent of its node say about files of a pool:
// JSON-RPC 2.0, one object a line, each followed by as many bytes of a file as its member "bytes" says. The
// messages are described by the JSON Schemas of proto/local/pool, of which folder schema holds a copy, and by
// docs/pool-files.md.
package message

import (
	"embed"
	"encoding/json"
	"fmt"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/store"
)

//go:generate sh -c "cp ../../../../../proto/local/pool/*.schema.json schema/"

//go:embed schema/*.schema.json
var schemaFiles embed.FS

var schemas = localprotocol.NewSchemas(schemaFiles, "https://sluice.dev/local/pool/1/")

const (
	// MaxLineBytes bounds a line in both directions, its newline not counted: a list of the longest names.
	MaxLineBytes = 4 << 20
	// MaxPayloadBytes bounds what follows one.
	MaxPayloadBytes = 4 << 20
	// MaxNames bounds the names of one list.
	MaxNames = 2000
	// MaxHolderBytes is less than the metadata takes: the node's name comes before it.
	MaxHolderBytes = 128
)

// Methods of the agent's socket.
const (
	MethodAttach          = "attach"
	MethodJoin            = "join"
	MethodView            = "view"
	MethodCreate          = "create"
	MethodAppend          = "append"
	MethodSync            = "sync"
	MethodSeal            = "seal"
	MethodClose           = "close"
	MethodOpen            = "open"
	MethodRead            = "read"
	MethodStat            = "stat"
	MethodList            = "list"
	MethodRemove          = "remove"
	MethodRename          = "rename"
	MethodLink            = "link"
	MethodMakeDirectory   = "make_directory"
	MethodRemoveDirectory = "remove_directory"
	MethodRelease         = "release"
	MethodSpace           = "space"
)

// Version is a version of the messages. Peers of different major versions refuse each other; a minor
// version only adds members and words.
type Version struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
}

// CurrentVersion is what this package speaks.
func CurrentVersion() Version {
	return Version{Major: 1, Minor: 2}
}

// String is the form "1.2".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// FileID is the id of a file in 32 hexadecimal digits.
type FileID layout.FileID

// MarshalText gives the digits.
func (id FileID) MarshalText() ([]byte, error) {
	return []byte(layout.FileID(id).String()), nil
}

// UnmarshalText reads them.
func (id *FileID) UnmarshalText(text []byte) error {
	read, err := layout.ParseFileID(string(text))
	*id = FileID(read)
	return err
}

// AttachParams begin a session.
type AttachParams struct {
	ProtocolVersion Version `json:"protocol_version"`
	Volume          string  `json:"volume"`
	Path            string  `json:"path"`
	Holder          string  `json:"holder"`
	// OuterEpoch is that of the lease that the path is under, of a session that is nested in another one.
	OuterEpoch uint64  `json:"outer_epoch,omitempty"`
	Lock       *FileID `json:"lock,omitempty"`
}

// AttachResult is a session that has begun; a view and a nested one have no lock.
type AttachResult struct {
	ProtocolVersion Version `json:"protocol_version"`
	Session         string  `json:"session"`
	Lock            *FileID `json:"lock,omitempty"`
}

// JoinParams have a connection share a session.
type JoinParams struct {
	ProtocolVersion Version `json:"protocol_version"`
	Session         string  `json:"session"`
}

// ViewParams begin a session that reads a volume without a lease.
type ViewParams struct {
	ProtocolVersion Version `json:"protocol_version"`
	Volume          string  `json:"volume"`
}

// JoinResult is what join answers.
type JoinResult struct {
	ProtocolVersion Version `json:"protocol_version"`
}

// PathParams name a file or directory.
type PathParams struct {
	Path string `json:"path"`
}

// MoveParams name the path that a file has, and another one.
type MoveParams struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// FileParams name an open file.
type FileParams struct {
	File uint64 `json:"file"`
}

// AppendParams say for which file the bytes after the line are.
type AppendParams struct {
	File  uint64 `json:"file"`
	Bytes int    `json:"bytes"`
}

// ReadParams say what is wanted of a file.
type ReadParams struct {
	File        uint64 `json:"file"`
	OffsetBytes int64  `json:"offset_bytes"`
	LengthBytes int    `json:"length_bytes"`
}

// ListParams say what is wanted of a directory.
type ListParams struct {
	Path  string `json:"path"`
	After string `json:"after,omitempty"`
}

// OpenResult is a file that is open.
type OpenResult struct {
	File        uint64 `json:"file"`
	ID          FileID `json:"id"`
	LengthBytes int64  `json:"length_bytes"`
}

// LengthResult says how long a file is that is written.
type LengthResult struct {
	LengthBytes int64 `json:"length_bytes"`
}

// ReadResult says how many bytes follow.
type ReadResult struct {
	Bytes int `json:"bytes"`
}

// Kinds of what a path names.
const (
	KindFile      = "file"
	KindDirectory = "directory"
)

// StatResult says what a path names. The other members are of files.
type StatResult struct {
	Kind        string  `json:"kind"`
	ID          *FileID `json:"id,omitempty"`
	LengthBytes *int64  `json:"length_bytes,omitempty"`
	Links       *uint32 `json:"links,omitempty"`
}

// Name is one in a directory.
type Name struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	LengthBytes *int64 `json:"length_bytes,omitempty"`
	// Sealed is of files alone: one that is not is written, or was left open by whoever has written it.
	Sealed *bool `json:"sealed,omitempty"`
}

// ListResult is a part of a directory.
type ListResult struct {
	Names []Name `json:"names"`
	More  bool   `json:"more"`
}

// SpaceResult says how much room there is for files of as many copies as the agent makes.
type SpaceResult struct {
	FreeBytes int64 `json:"free_bytes"`
}

// EmptyResult says that it is done.
type EmptyResult struct{}

// ParseAttach reads and checks the params of attach. Errors are of type *store.Error or wrap one, as those of all
// these functions.
func ParseAttach(params json.RawMessage) (AttachParams, error) {
	read, err := parseVersioned[AttachParams]("attach-params", params)
	if err != nil {
		return read, err
	}
	if len(read.Holder) > MaxHolderBytes {
		return read, store.Invalidf("the holder has %d bytes, at most %d are allowed", len(read.Holder), MaxHolderBytes)
	}
	return read, entry.CheckPath(read.Path)
}

// ParseJoin reads and checks the params of join.
func ParseJoin(params json.RawMessage) (JoinParams, error) {
	return parseVersioned[JoinParams]("join-params", params)
}

// ParseView reads and checks the params of view.
func ParseView(params json.RawMessage) (ViewParams, error) {
	return parseVersioned[ViewParams]("view-params", params)
}

// ParsePath reads and checks the params of methods for a path.
func ParsePath(params json.RawMessage) (PathParams, error) {
	read, err := parse[PathParams]("path-params", params)
	if err != nil {
		return read, err
	}
	return read, entry.CheckPath(read.Path)
}

// ParseMove reads and checks the params of rename and link.
func ParseMove(params json.RawMessage) (MoveParams, error) {
	read, err := parse[MoveParams]("move-params", params)
	if err != nil {
		return read, err
	}
	if err := entry.CheckPath(read.Source); err != nil {
		return read, err
	}
	return read, entry.CheckPath(read.Target)
}

// ParseFile reads and checks the params of sync, seal and close.
func ParseFile(params json.RawMessage) (FileParams, error) {
	return parse[FileParams]("file-params", params)
}

// ParseAppend reads and checks the params of append.
func ParseAppend(params json.RawMessage) (AppendParams, error) {
	return parse[AppendParams]("append-params", params)
}

// ParseRead reads and checks the params of read.
func ParseRead(params json.RawMessage) (ReadParams, error) {
	return parse[ReadParams]("read-params", params)
}

// ParseList reads and checks the params of list.
func ParseList(params json.RawMessage) (ListParams, error) {
	read, err := parse[ListParams]("list-params", params)
	if err != nil {
		return read, err
	}
	return read, entry.CheckPath(read.Path)
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

// parseVersioned looks at the version before the schema, which may be another one in another version.
func parseVersioned[T any](schema string, text []byte) (T, error) {
	var said struct {
		ProtocolVersion *Version `json:"protocol_version"`
	}
	own := CurrentVersion()
	if json.Unmarshal(text, &said) == nil && said.ProtocolVersion != nil && said.ProtocolVersion.Major != own.Major {
		var nothing T
		return nothing, store.Errorf(store.CodeIncompatible,
			"the agent speaks version %v of the protocol of files of a pool, the plug-in version %v", own, *said.ProtocolVersion).
			WithHint("Install versions whose protocols have the same major version.")
	}
	return parse[T](schema, text)
}
