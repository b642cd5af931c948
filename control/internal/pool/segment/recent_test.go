package segment

import (
	"errors"
	"testing"

	"sluice.dev/control/internal/pool/layout"
)

// withRoom opens a store that keeps so many bytes of checksums.
func withRoom(t *testing.T, directory string, sumsBytes int64) *Store {
	t.Helper()
	store, err := OpenStore(directory, Options{})
	if err != nil {
		t.Fatal(err)
	}
	store.sealed.most = sumsBytes
	return store
}

func numbered(number int) ID {
	return ID{File: layout.FileID{1, byte(number)}}
}

// TestChecksumsOfManySegments are not all kept, nor counted once their segments are removed. All can be read all the same.
func TestChecksumsOfManySegments(t *testing.T) {
	const segments, onePage = 60, int64(sumsHeaderBytes + 2*sumBytes)
	content := []byte("sluice")
	for name, test := range map[string]struct {
		room int64
		kept int
	}{
		"room for some": {20*onePage + 1, 20}, "room for none": {0, leastRecent}, "room for all": {segments * onePage, segments},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			store := withRoom(t, directory, test.room)
			mustKeep := func(when string, kept int) {
				t.Helper()
				if is, bytes := store.sealed.segments.Len(), store.sealed.sumsBytes; is != kept || bytes != int64(kept)*onePage {
					t.Errorf("%s, %d segments are kept with %d bytes of checksums, want %d", when, is, bytes, kept)
				}
			}
			for number := range segments {
				_, appendErr := store.Append(numbered(number), 1, 0, content)
				_, sealErr := store.Seal(numbered(number), 1, int64(len(content)))
				if err := errors.Join(appendErr, sealErr); err != nil {
					t.Fatal(err)
				}
			}
			mustKeep("sealed", test.kept)
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			store = withRoom(t, directory, test.room)
			defer func() { _ = store.Close() }()
			for number := range segments {
				got := make([]byte, len(content))
				if n, err := store.Read(numbered(number), 0, got); err != nil || string(got[:n]) != string(content) {
					t.Fatalf("read %q: %v", got[:n], err)
				}
			}
			mustKeep("read", test.kept)
			for number := range segments {
				var err error
				if number%2 == 0 {
					err = store.RemoveOne(numbered(number), 2)
				} else {
					_, err = store.Remove(numbered(number).File)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			mustKeep("removed", 0)
		})
	}
}

// TestNothingIsDoneAfterTheEnd of a store, whose directory may be another process's by then: who comes late is refused, and
// does not look for the segment again and again.
func TestNothingIsDoneAfterTheEnd(t *testing.T) {
	store := withRoom(t, t.TempDir(), mostSumsBytes)
	open, sealed, other := numbered(1), numbered(2), numbered(3)
	for _, id := range []ID{open, sealed} {
		if _, err := store.Append(id, 1, 0, []byte("sluice")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Seal(sealed, 1, 6); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []ID{open, sealed, other} {
		_, appendErr := store.Append(id, 1, 0, []byte("sluice"))
		_, syncErr := store.Sync(id, 1)
		_, fenceErr := store.Fence(id, 2)
		_, sealErr := store.Seal(id, 1, 6)
		_, readErr := store.Read(id, 0, make([]byte, 6))
		_, describeErr := store.Describe(id)
		_, removeErr := store.Remove(id.File)
		for what, err := range map[string]error{
			"add": appendErr, "sync": syncErr, "fence": fenceErr, "seal": sealErr, "read": readErr, "describe": describeErr,
			"remove": removeErr, "remove one": store.RemoveOne(id, 3),
		} {
			if ReasonOf(err) != Device {
				t.Errorf("%s of %s: %v", what, id, err)
			}
		}
	}
}
