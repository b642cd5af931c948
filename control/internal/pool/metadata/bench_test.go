package metadata_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/security/securitytest"
)

// BenchmarkChanges has one client, or many at once, tell the lengths of open files: what is asked for while the log is
// being synced goes into it with one further sync.
func BenchmarkChanges(b *testing.B) {
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d at once", clients), func(b *testing.B) {
			_, client := pooltest.NewMetadata(b, securitytest.NewAuthority(b, "test"), 3)
			if err := client.CreateVolume(b.Context(), "db"); err != nil {
				b.Fatal(err)
			}
			lease, _, err := client.AcquireLease(b.Context(), metadata.NewLease{Volume: "db", Path: "/", Holder: "store", TimeToLive: time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			var files atomic.Int64
			b.SetParallelism(clients)
			b.RunParallel(func(pb *testing.PB) {
				file := newFile(lease, 'a', int(files.Add(1)))
				if _, err := client.CreateFile(b.Context(), file); err != nil {
					b.Error(err)
				}
				for length := uint64(1); pb.Next(); length++ {
					if err := client.SetLength(b.Context(), file.ID, lease.Epoch, length); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
