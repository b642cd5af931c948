package contract_test

import (
	"context"
	"testing"
	"time"

	"sluice.dev/control/internal/localprotocol/contract"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
)

// patience is for plug-ins that do nothing wrong, on a busy machine too.
const patience = 2 * time.Minute

// The reference store, as the process that people run, keeps the contract.
func TestReferenceStoreKeepsTheContract(t *testing.T) {
	// Its debt comes to no limit, at which it would end all leases.
	process := referencetest.Start(t, referencetest.Build(t), referencetest.SocketDirectory(t), "--limit-bytes", "1000000000000")
	count := 0
	contract.Run(t.Context(), process.SocketPath, patience, func(check contract.Check) {
		count++
		if check.Outcome != contract.Passed {
			t.Errorf("%s %s: %s\nWhat to do: %s", check.Name, check.Outcome, check.Problem, check.Requirement)
		}
	})
	if count < 28 {
		t.Errorf("only %d checks were made", count)
	}
	if err := process.Terminate(); err != nil {
		t.Errorf("after the checks: %v", err)
	}
}

func TestWithoutAPlugInNothingIsChecked(t *testing.T) {
	passed := 0
	contract.Run(t.Context(), "/nowhere/store/instance.sock", patience, func(check contract.Check) {
		if check.Outcome == contract.Passed {
			passed++
		}
		if check.Problem == "" {
			t.Errorf("%s does not say why it was not passed", check.Name)
		}
	})
	if passed > 0 {
		t.Errorf("%d checks have passed", passed)
	}
}

func TestChecksEndWithTheirContext(t *testing.T) {
	process := referencetest.Start(t, referencetest.Build(t), referencetest.SocketDirectory(t))
	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	contract.Run(ctx, process.SocketPath, patience, func(check contract.Check) {
		count++
		if count > 1 && check.Outcome != contract.Skipped {
			t.Errorf("%s %s after the context had ended", check.Name, check.Outcome)
		}
		cancel()
	})
	cancel()
}
