package stripe_test

import (
	"testing"
	"time"

	"sluice.dev/control/internal/pool/stripe"
)

func TestNodesAreSuspectForAWhile(t *testing.T) {
	now := time.Unix(1000, 0)
	suspects := stripe.NewSuspects(func() time.Time { return now })
	suspects.Add("pool1")
	if !suspects.Has("pool1") || suspects.Has("pool2") {
		t.Error("the one that has failed is suspect, and no other")
	}
	now = now.Add(31 * time.Second)
	if suspects.Has("pool1") {
		t.Error("it is suspect for ever")
	}
}
