package wire

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
)

// maxClientStores bounds the kinds of stores that clients of a node tell of.
const maxClientStores = 64

// encodeClients gives what clients have measured as a message that is sent now, as EncodeSnapshot does.
func encodeClients(clients policy.ClientLatencies, now time.Time) *sluicev1.ClientLatencies {
	return &sluicev1.ClientLatencies{
		Store:          clients.Store,
		Clients:        uint32(clients.Clients),
		Age:            durationpb.New(max(0, now.Sub(clients.TakenAt))),
		Latencies:      encodeList(clients.Latencies, encodeLatency),
		ScopeLatencies: encodeList(clients.ScopeLatencies, encodeScopeLatency),
	}
}

// decodeClients reads what clients on a node have measured; asked is as in DecodeSnapshot.
func decodeClients(node string, message *sluicev1.ClientLatencies, asked time.Time) (policy.ClientLatencies, error) {
	var read fields
	clients := policy.ClientLatencies{
		Node:    node,
		Store:   read.name("store", message.GetStore()),
		Clients: int(message.GetClients()),
		TakenAt: asked.Add(-read.duration("age", message.GetAge())),
	}
	if read.err != nil {
		return policy.ClientLatencies{}, read.err
	}
	var err error
	if clients.Latencies, err = decodeList("latency", message.GetLatencies(), maxLatencies, decodeLatency); err != nil {
		return policy.ClientLatencies{}, err
	}
	clients.ScopeLatencies, err = decodeList("scope latency", message.GetScopeLatencies(), maxLatencies, decodeScopeLatency)
	return clients, err
}

// clients reads what decodeClients does; last is what the report before had in the same place.
func (r *ReportReader) clients(s scan, last policy.ClientLatencies, asked time.Time) policy.ClientLatencies {
	read := policy.ClientLatencies{Node: r.node}
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			read.Store = s.text(last.Store, maxNameBytes)
		case 2<<3 | varintField:
			read.Clients = int(uint32(s.number))
		case 3<<3 | bytesField:
			read.TakenAt = asked.Add(-s.duration())
		case 4<<3 | bytesField:
			latency := scanLatency(s.element(), at(last.Latencies, len(read.Latencies)))
			read.Latencies = add(read.Latencies, latency, len(last.Latencies))
		case 5<<3 | bytesField:
			latency := scanScopeLatency(s.element(), at(last.ScopeLatencies, len(read.ScopeLatencies)))
			read.ScopeLatencies = add(read.ScopeLatencies, latency, len(last.ScopeLatencies))
		}
	}
	s.need(read.Store != "" && s.has(3))
	s.need(len(read.Latencies) <= maxLatencies && len(read.ScopeLatencies) <= maxLatencies)
	return read
}
