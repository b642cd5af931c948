package protocol

import (
	"testing"

	"google.golang.org/grpc/metadata"

	"sluice.dev/control/internal/store"
)

func TestOwnVersionIsAccepted(t *testing.T) {
	if err := checkPeer(metadata.Pairs(MetadataKey, Version), "this", "that"); err != nil {
		t.Error(err)
	}
}

// FuzzCheckPeer accepts exactly versions of the own major number.
func FuzzCheckPeer(f *testing.F) {
	f.Add("1.0")
	f.Add("2.17")
	f.Add("01.x")
	f.Fuzz(func(t *testing.T, version string) {
		err := checkPeer(metadata.Pairs(MetadataKey, version), "this", "that")
		major, malformed := majorOf(version)
		if accepted := malformed == nil && major == 1; accepted != (err == nil) {
			t.Errorf("%q: major %d, %v; error %v", version, major, malformed, err)
		}
		if err != nil && store.CodeOf(err) != store.CodeIncompatible {
			t.Errorf("%q: code %s", version, store.CodeOf(err))
		}
	})
}
