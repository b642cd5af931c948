package segment

import (
	"bytes"
	"testing"

	"sluice.dev/control/internal/pool/layout"
)

func FuzzName(f *testing.F) {
	f.Add("0.1.7.open")
	f.Add("1023.2.18446744073709551615.sealed")
	f.Add("0.1.7.sealed.sums")
	f.Add("00.1.7.open")
	f.Add("-1.1.7.open")
	f.Fuzz(func(t *testing.T, name string) {
		id, epoch, sealed, ok := parseName(layout.FileID{1}, name)
		if ok && fileName(id, epoch, sealed) != name {
			t.Errorf("%q is read as %s epoch %d", name, id, epoch)
		}
	})
}

func FuzzSums(f *testing.F) {
	some := &sums{}
	some.add(bytes.Repeat([]byte("x"), 2*PageBytes+5))
	f.Add((&sums{}).encode())
	f.Add(some.encode())
	f.Add(some.encode()[:20])
	f.Fuzz(func(t *testing.T, text []byte) {
		decoded, err := decodeSums(text)
		if err == nil && !bytes.Equal(decoded.encode(), text) {
			t.Errorf("%x is read as %+v", text, decoded)
		}
	})
}
