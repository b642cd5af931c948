package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/bench/authority"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

const (
	// maxAgents is bounded by the addresses 127.1.0.0 to 127.1.255.255, less some.
	maxAgents = 20_000
	// firstAddress is 127.1.0.1: an agent's address says which one it is.
	firstAddress = 127<<24 | 1<<16 | 1
	storeName    = "simulated"
	instanceName = "main"
	figureName   = "block_cache_hits_total"
)

func nodeName(index int) string { return fmt.Sprintf("node-%05d", index) }

// reference names the one store of an agent.
func reference(index int) policy.Ref {
	return policy.Ref{Node: nodeName(index), Store: storeName, Instance: instanceName}
}

func agentAddress(index, port int) string {
	var octets [4]byte
	binary.BigEndian.PutUint32(octets[:], uint32(firstAddress+index))
	return netip.AddrPortFrom(netip.AddrFrom4(octets), uint16(port)).String()
}

// agentIndex is which agent is at an address.
func agentIndex(address net.Addr) (int, error) {
	parsed, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return 0, fmt.Errorf("address of a connection: %w", err)
	}
	octets := parsed.Addr().Unmap().As4()
	return int(binary.BigEndian.Uint32(octets[:])) - firstAddress, nil
}

// agentsPlan is what the process of the agents is told.
type agentsPlan struct {
	Count     int    `json:"count"`
	Port      int    `json:"port"`
	Directory string `json:"directory"`
}

// simulatedAgents serves all agents of a run.
type simulatedAgents struct {
	startedAt time.Time
	// tasks is how many each agent has.
	tasks  int
	agents []simulatedAgent
}

// simulatedAgent is a store whose tasks write at the rate of the lease, and whose latency rises with it.
type simulatedAgent struct {
	mutex sync.Mutex
	lease *sluicev1.Lease
	// until is when the lease ends.
	until time.Time
}

// serveAgents serves the agents that the plan in a file asks for.
func serveAgents(ctx context.Context, planFile string, tasks int) error {
	text, err := os.ReadFile(planFile)
	if err != nil {
		return err
	}
	var plan agentsPlan
	if err := json.Unmarshal(text, &plan); err != nil {
		return fmt.Errorf("%s: %w", planFile, err)
	}
	issuer, err := authority.New(clusterName)
	if err != nil {
		return err
	}
	if _, err := issuer.Write(plan.Directory, security.RoleController, controllerName); err != nil {
		return err
	}
	if _, err := issuer.Write(plan.Directory, security.RoleViewer, viewerName); err != nil {
		return err
	}
	certificates, err := agentCertificates(issuer, plan.Count)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort("0.0.0.0", strconv.Itoa(plan.Port)))
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	if err := os.WriteFile(filepath.Join(plan.Directory, readyFile), nil, 0o600); err != nil {
		return err
	}
	agents := &simulatedAgents{startedAt: time.Now(), tasks: tasks, agents: make([]simulatedAgent, plan.Count)}
	return agents.serve(ctx, listener, agentTLS(issuer, certificates))
}

// serve serves connections until ctx ends. The controller makes one anew where one fails.
func (s *simulatedAgents) serve(ctx context.Context, listener net.Listener, config *tls.Config) error {
	for {
		connection, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			if err := s.serveConnection(connection, config); err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
				fmt.Fprintf(os.Stderr, "the connection to the agent at %v has ended: %v\n", connection.LocalAddr(), err)
			}
		}()
	}
}

// agentTLS shows the certificate of the agent whose address was connected to.
func agentTLS(issuer *authority.Authority, certificates []tls.Certificate) *tls.Config {
	authorities := x509.NewCertPool()
	authorities.AddCert(issuer.Certificate())
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			index, err := agentIndex(hello.Conn.LocalAddr())
			if err != nil || index < 0 || index >= len(certificates) {
				return nil, fmt.Errorf("no agent at %v: %w", hello.Conn.LocalAddr(), err)
			}
			return &certificates[index], nil
		},
	}
}

// report makes up the state of a store.
func (s *simulatedAgents) report(agent *simulatedAgent, index int, now time.Time) *sluicev1.GetSnapshotResponse {
	report := wire.EncodeNodeSnapshot(wire.NodeSnapshot{
		Node: nodeName(index), Version: "simulated",
		Signals: policy.NodeSignals{SampledAt: now, CPUUsed: 0.3, CPUPressure: 0.1, IOPressure: 0.2, MemoryPressure: 0,
			Devices: []policy.DeviceSignals{{Name: "sda", InFlight: 3, WriteBytesPerSecond: 5e7, Utilisation: 0.6}}},
		Descriptions: []store.Description{{
			Store: storeName, Instance: instanceName, StoreVersion: "1", PluginVersion: "1",
			MaxTimeToLive: time.Minute,
			Capabilities: []store.Capability{{Kind: store.Compaction, CanStart: true,
				Settings: []store.SettingName{store.RateBytesPerSecond, store.Hold}}},
		}},
		Instances: []wire.InstanceSnapshot{{
			Ref: reference(index), Snapshot: s.snapshot(now),
		}},
	}, now)
	s.refresh(report, agent, index, now)
	return report
}

// refresh brings a report up to date. To make it anew each time would be most of what the agents do, which all
// share a core. The latency goes up and down, for each agent at another time, so that rates change.
func (s *simulatedAgents) refresh(
	report *sluicev1.GetSnapshotResponse, agent *simulatedAgent, index int, now time.Time,
) {
	snapshot := report.GetSnapshots()[0]
	snapshot.Leases = agent.leases(now)
	phase := now.Sub(s.startedAt).Seconds()/30 + float64(index)/7
	snapshot.Figures[figureName] = phase
	p99 := time.Duration(float64(20*time.Millisecond) * (1 + 0.5*math.Sin(phase)))
	for _, latency := range snapshot.GetLatencies() {
		set(latency.GetMean(), p99/4)
		set(latency.GetP50(), p99/5)
		set(latency.GetP99(), p99)
		set(latency.GetP999(), 2*p99)
		set(latency.GetMax(), 3*p99)
	}
}

func set(duration *durationpb.Duration, to time.Duration) {
	duration.Seconds, duration.Nanos = int64(to/time.Second), int32(to%time.Second)
}

// leases are those in force.
func (a *simulatedAgent) leases(now time.Time) []*sluicev1.Lease {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.lease == nil || !a.until.After(now) {
		return nil
	}
	return []*sluicev1.Lease{{
		Kind: a.lease.GetKind(), Scope: a.lease.GetScope(), Setting: a.lease.GetSetting(), Owner: a.lease.GetOwner(),
		TimeLeft: durationpb.New(a.until.Sub(now)),
	}}
}

func (s *simulatedAgents) snapshot(now time.Time) store.Snapshot {
	snapshot := store.Snapshot{
		TakenAt: now,
		Debts:   []store.Debt{{Kind: store.Compaction, Bytes: 3e9, TriggerBytes: 1e9, LimitBytes: 1e10, Files: 40}},
		Latencies: []store.Latency{
			{Class: "read", Interval: time.Second, Count: 1000}, {Class: "write", Interval: time.Second, Count: 1000},
		},
		Figures: map[string]float64{figureName: 0},
	}
	for i := range s.tasks {
		snapshot.Tasks = append(snapshot.Tasks, store.Task{
			ID: strconv.Itoa(i), Kind: store.Compaction, State: store.Running, Phase: "merge",
			BytesDone: 1e8, BytesTotal: 1e9, RateBytesPerSecond: 1e7, Age: time.Minute,
		})
	}
	return snapshot
}

// setLease keeps a lease.
func setLease(
	agent *simulatedAgent, index int, request *sluicev1.SetLeaseRequest,
) (*sluicev1.SetLeaseResponse, error) {
	_, order, err := wire.DecodeSetLease(nodeName(index), request)
	if err != nil {
		return nil, err
	}
	lease := wire.EncodeLease(store.Lease{
		Kind: order.Kind, Scope: order.Scope, Setting: order.Setting, Owner: order.Owner, TimeLeft: order.TimeToLive,
	})
	agent.mutex.Lock()
	agent.lease, agent.until = lease, time.Now().Add(order.TimeToLive)
	agent.mutex.Unlock()
	return &sluicev1.SetLeaseResponse{Lease: lease}, nil
}
