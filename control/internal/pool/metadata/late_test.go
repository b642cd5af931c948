package metadata_test

import (
	"testing"
	"time"

	"sluice.dev/control/internal/pool/metadata/replica"
)

// Voters whose answers take long, as on nodes that have too much to do, have a leader all the same, which stays one.
func TestVotersAnswerLate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c.tuning = replica.DefaultTuning()
	for _, to := range c.voters {
		for _, wire := range to.wires {
			wire.delay(300 * time.Millisecond)
		}
	}
	c.start()
	client := c.client("n1")
	lease := c.newStore(client)
	const count = 5
	for number := range count {
		if _, err := client.CreateFile(c.patient(), newFile(lease, 'a', number)); err != nil {
			t.Fatal(err)
		}
	}
	c.requireNames(client, count)
}
