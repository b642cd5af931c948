package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/store"
)

// proto/local/pool is where the schemas are maintained; go generate copies them.
func TestSchemasAreThoseOfProtoLocal(t *testing.T) {
	const canonical = "../../../../../proto/local/pool"
	names, err := filepath.Glob(filepath.Join(canonical, "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	copies, err := os.ReadDir("schema")
	if err != nil || len(copies) != len(names) {
		t.Errorf("%d copies of %d schemas, %v", len(copies), len(names), err)
	}
	for _, name := range names {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join("schema", filepath.Base(name))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from its copy: run go generate (%v)", name, err)
		}
	}
}

// What this package sends is what the schemas say.
func TestMessagesKeepTheSchemas(t *testing.T) {
	id, length := FileID{1, 255}, int64(7)
	for schema, messages := range map[string][]any{
		"attach-params": {AttachParams{CurrentVersion(), "orders", "/db", "rocksdb", 0, &id}, AttachParams{CurrentVersion(), "orders", "/", "a", 7, nil}},
		"attach-result": {AttachResult{CurrentVersion(), strings.Repeat("a", 32), &id}, AttachResult{CurrentVersion(), strings.Repeat("a", 32), nil}},
		"join-params":   {JoinParams{CurrentVersion(), strings.Repeat("a", 32)}},
		"join-result":   {JoinResult{CurrentVersion()}},
		"view-params":   {ViewParams{CurrentVersion(), "orders"}},
		"path-params":   {PathParams{"/db/CURRENT"}},
		"move-params":   {MoveParams{"/a", "/b"}},
		"file-params":   {FileParams{1}},
		"append-params": {AppendParams{1, MaxPayloadBytes}},
		"read-params":   {ReadParams{1, entry.MaxLengthBytes, MaxPayloadBytes}},
		"list-params":   {ListParams{Path: "/"}, ListParams{"/", "a"}},
		"open-result":   {OpenResult{1, id, 7}},
		"length-result": {LengthResult{7}},
		"read-result":   {ReadResult{0}},
		"stat-result":   {StatResult{Kind: KindDirectory}, StatResult{KindFile, &id, &length, new(uint32(2))}},
		"list-result":   {ListResult{Names: []Name{{"a", KindFile, &length, new(true)}, {"b", KindDirectory, nil, nil}}, More: true}, ListResult{Names: []Name{}}},
		"empty-result":  {EmptyResult{}},
		"space-result":  {SpaceResult{7}},
	} {
		for _, message := range messages {
			text, err := json.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			if err := schemas.Validate(schema, text); err != nil {
				t.Errorf("%s: %s: %v", schema, text, err)
			}
		}
	}
}

func TestListOfTheLongestNamesFits(t *testing.T) {
	length := int64(entry.MaxLengthBytes)
	list := ListResult{Names: make([]Name, MaxNames)}
	for i := range list.Names {
		list.Names[i] = Name{strings.Repeat("<", entry.MaxNameBytes), KindFile, &length, new(false)}
	}
	text, err := json.Marshal(list)
	if err != nil || len(text) > MaxLineBytes-1000 {
		t.Errorf("%d bytes of %d, %v", len(text), MaxLineBytes, err)
	}
}

func TestSessionsThatAreNested(t *testing.T) {
	const format = `{"protocol_version":{"major":1,"minor":1},"volume":"orders","path":"/db/output","holder":"worker",%s}`
	const lock = `"lock":"00000000000000000000000000000001"`
	if got, err := ParseAttach(fmt.Appendf(nil, format, `"outer_epoch":7`)); err != nil || got.OuterEpoch != 7 || got.Lock != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ParseAttach(fmt.Appendf(nil, format, lock)); err != nil || got.OuterEpoch != 0 || got.Lock == nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, members := range []string{
		`"outer_epoch":0`, `"outer_epoch":-1`, `"outer_epoch":1.5`, `"outer_epoch":"7"`, `"outer_epoch":null`,
		`"outer_epoch":9007199254740992`, `"outer_epoch":7,` + lock,
	} {
		if _, err := ParseAttach(fmt.Appendf(nil, format, members)); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%s: %v", members, err)
		}
	}
}

// Whatever is taken is within the bounds that the gateway counts on.
func FuzzParams(f *testing.F) {
	for _, seed := range []string{
		`{"protocol_version":{"major":1,"minor":0},"volume":"orders","path":"/","holder":"rocksdb","lock":"00000000000000000000000000000001"}`,
		`{"protocol_version":{"major":1,"minor":1},"volume":"orders","path":"/db/output","holder":"worker","outer_epoch":7}`,
		`{"protocol_version":{"major":1,"minor":7},"session":"00000000000000000000000000000001"}`, `{"path":"/a/b","after":"c"}`,
		`{"source":"/a","target":"/b"}`, `{"file":1,"bytes":4194304}`, `{"file":1e3,"offset_bytes":9007199254740991,"length_bytes":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		paths := map[string]error{}
		if read, err := ParseAttach(text); err == nil {
			paths[read.Path] = entry.CheckVolume(read.Volume)
			if read.OuterEpoch != 0 && read.Lock != nil {
				t.Errorf("%+v", read)
			}
		}
		if read, err := ParsePath(text); err == nil {
			paths[read.Path] = nil
		}
		if read, err := ParseList(text); err == nil {
			paths[read.Path] = nil
		}
		if read, err := ParseMove(text); err == nil {
			paths[read.Source], paths[read.Target] = nil, nil
		}
		for path, err := range paths {
			if err != nil || entry.CheckPath(path) != nil {
				t.Errorf("%q, %v", path, err)
			}
		}
		if read, err := ParseAppend(text); err == nil && (read.File == 0 || read.Bytes < 0 || read.Bytes > MaxPayloadBytes) {
			t.Errorf("%+v", read)
		}
		if read, err := ParseRead(text); err == nil && (read.OffsetBytes < 0 || read.LengthBytes < 0 || read.LengthBytes > MaxPayloadBytes) {
			t.Errorf("%+v", read)
		}
		if read, err := ParseJoin(text); err == nil && len(read.Session) != 32 {
			t.Errorf("%+v", read)
		}
		_, _ = ParseView(text)
		_, _ = ParseFile(text)
	})
}
