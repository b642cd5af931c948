package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/control/internal/pool/repair"
	"sluice.dev/control/internal/pool/stripe"
)

const (
	// repairPeriod is how often it is looked whether something is to be repaired, which goes through all files.
	repairPeriod = time.Minute
	// listPeriod is how often all segments of a server are looked at, which opens each of them.
	listPeriod = time.Hour
	// repairPassTime is how long a pass goes on until it is looked again what is most urgent.
	repairPassTime = 10 * time.Minute
)

// poolRepair repairs a pool while no other agent does; its parts are nil where this one is not to.
type poolRepair struct {
	access   *PoolAccess
	repairer *repair.Repairer
}

// repairs says whether this agent repairs the pool when no other does.
func (p Pool) repairs() bool {
	return p.Client != nil && p.Client.RepairBytesPerSecond > 0
}

// assemblePoolRepair has connections of its own, so that stores do not wait behind what is moved.
func (a *Agent) assemblePoolRepair(registry prometheus.Registerer) error {
	if !a.config.Pool.repairs() {
		return nil
	}
	var err error
	if a.poolRepair.access, err = OpenPool(a.config, a.logger); err != nil {
		return fmt.Errorf("pool.client: %w", err)
	}
	client, access := a.config.Pool.Client, a.poolRepair.access
	const percent = 100
	a.poolRepair.repairer = repair.New(repair.Config{
		Holder: "repair of " + a.config.Node, TimeToLive: seconds(client.LeaseSeconds), Servers: access.Servers.Names(),
		RepairAfter: seconds(client.RepairAfterSeconds), BytesPerSecond: int64(client.RepairBytesPerSecond),
		BalanceTolerance: client.BalanceTolerancePercent / percent, Options: stripe.DefaultOptions(),
		Period: repairPeriod, ListPeriod: listPeriod, PassTime: repairPassTime,
	}, access.Metadata, access.Servers.Service, repair.NewMetrics(registry), a.logger)
	return nil
}

func seconds(number float64) time.Duration {
	return time.Duration(number * float64(time.Second))
}

// servePoolRepair runs until its context ends. It is over, with its lease given back, when stop returns: before the
// agent's own servers are, which may hold the metadata.
func (a *Agent) servePoolRepair(ctx context.Context) (stop func()) {
	if a.poolRepair.repairer == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.poolRepair.repairer.Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func (a *Agent) closePoolRepair() error {
	if a.poolRepair.access == nil {
		return nil
	}
	return a.poolRepair.access.Close()
}
