package repair

import (
	"context"
	"math"
	"sync"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/stripe"
)

// probes know since when servers do not answer.
type probes struct {
	names       []string
	services    stripe.Services
	patience    time.Duration
	repairAfter time.Duration
	// silentSince has those alone that did not answer when they were last asked.
	silentSince map[string]time.Time
}

func newProbes(names []string, services stripe.Services, patience, repairAfter time.Duration) *probes {
	return &probes{names: names, services: services, patience: patience, repairAfter: repairAfter, silentSince: make(map[string]time.Time)}
}

// Ask asks servers what they have left. Those that do not answer are silent: for how long is not known.
func Ask(ctx context.Context, names []string, services stripe.Services, patience time.Duration) Servers {
	return newProbes(names, services, patience, math.MaxInt64).ask(ctx)
}

func (p *probes) ask(ctx context.Context) Servers {
	asked := time.Now()
	free := make([]int64, len(p.names))
	var asking sync.WaitGroup
	for i, name := range p.names {
		asking.Go(func() { free[i] = p.freeBytes(ctx, name) })
	}
	asking.Wait()
	servers := make(Servers)
	for i, name := range p.names {
		servers[name] = Server{Standing: p.judge(name, free[i] >= 0, asked), FreeBytes: max(free[i], 0)}
	}
	return servers
}

// judge takes the answer of a server, or that there was none.
func (p *probes) judge(name string, hasAnswered bool, asked time.Time) Standing {
	if hasAnswered {
		delete(p.silentSince, name)
		return Answering
	}
	since, isSilent := p.silentSince[name]
	if !isSilent {
		p.silentSince[name], since = asked, asked
	}
	if time.Since(since) < p.repairAfter {
		return Silent
	}
	return Gone
}

// freeBytes is -1 of a server that does not answer.
func (p *probes) freeBytes(ctx context.Context, name string) int64 {
	service, err := p.services(name)
	if err != nil {
		return -1
	}
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	space, err := service.GetBlockSpace(ctx, &sluicev1.GetBlockSpaceRequest{})
	if err != nil {
		return -1
	}
	return int64(space.GetFreeBytes())
}
