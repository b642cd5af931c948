package wire

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// NodeSnapshot is the state of a node, as its agent tells it.
type NodeSnapshot struct {
	Node string
	// Version is that of the agent.
	Version      string
	Signals      policy.NodeSignals
	Descriptions []store.Description
	Instances    []InstanceSnapshot
	Clients      []policy.ClientLatencies
}

// EncodeNodeSnapshot gives the state of a node as an answer that is sent now.
func EncodeNodeSnapshot(snapshot NodeSnapshot, now time.Time) *sluicev1.GetSnapshotResponse {
	return &sluicev1.GetSnapshotResponse{
		Node:         snapshot.Node,
		Version:      snapshot.Version,
		Signals:      EncodeNodeSignals(snapshot.Signals, now),
		Descriptions: encodeList(snapshot.Descriptions, EncodeDescription),
		Snapshots: encodeList(snapshot.Instances, func(instance InstanceSnapshot) *sluicev1.Snapshot {
			return EncodeSnapshot(instance, now)
		}),
		ClientLatencies: encodeList(snapshot.Clients, func(clients policy.ClientLatencies) *sluicev1.ClientLatencies {
			return encodeClients(clients, now)
		}),
	}
}

// DecodeNodeSnapshot reads the state of a node, which must be the one that was asked; asked is the
// moment before the request was sent, as in DecodeSnapshot.
func DecodeNodeSnapshot(
	node string, message *sluicev1.GetSnapshotResponse, asked time.Time,
) (NodeSnapshot, error) {
	if message.GetNode() != node {
		return NodeSnapshot{}, store.Invalidf("the agent of node %q answers for node %q", node, message.GetNode()).
			WithHint("Set node in the agent's configuration to the name in its certificate.")
	}
	var read fields
	snapshot := NodeSnapshot{
		Node:    read.name("node", node),
		Version: read.text("version", message.GetVersion(), maxNameBytes),
	}
	if read.err != nil {
		return NodeSnapshot{}, read.err
	}
	var err error
	if snapshot.Signals, err = DecodeNodeSignals(message.GetSignals(), asked); err != nil {
		return NodeSnapshot{}, err
	}
	snapshot.Descriptions, err = decodeList("description", message.GetDescriptions(), maxInstances, DecodeDescription)
	if err != nil {
		return NodeSnapshot{}, err
	}
	snapshot.Instances, err = decodeList("snapshot", message.GetSnapshots(), maxInstances,
		func(message *sluicev1.Snapshot) (InstanceSnapshot, error) {
			return DecodeSnapshot(node, message, asked)
		})
	if err != nil {
		return NodeSnapshot{}, err
	}
	snapshot.Clients, err = decodeList("client latencies", message.GetClientLatencies(), maxClientStores,
		func(message *sluicev1.ClientLatencies) (policy.ClientLatencies, error) {
			return decodeClients(node, message, asked)
		})
	if err != nil {
		return NodeSnapshot{}, err
	}
	return snapshot, nil
}

// EncodeNodeSignals gives the signals of a node as a message that is sent now, as EncodeSnapshot does.
func EncodeNodeSignals(signals policy.NodeSignals, now time.Time) *sluicev1.NodeSignals {
	return &sluicev1.NodeSignals{
		CpuUsed:        signals.CPUUsed,
		CpuPressure:    encodeOptionalShare(signals.CPUPressure),
		IoPressure:     encodeOptionalShare(signals.IOPressure),
		MemoryPressure: encodeOptionalShare(signals.MemoryPressure),
		Devices:        encodeList(signals.Devices, encodeDevice),
		Age:            durationpb.New(max(0, now.Sub(signals.SampledAt))),
	}
}

// DecodeNodeSignals reads the signals of a node, which must be there: none at all would pass for an
// idle node. asked is as in DecodeSnapshot. An agent before protocol 1.2 tells no age: its signals then are
// taken for as old as its answer, and the ages of its snapshots alone say what is stale.
func DecodeNodeSignals(message *sluicev1.NodeSignals, asked time.Time) (policy.NodeSignals, error) {
	var read fields
	if message == nil {
		read.fail("signals are missing")
		return policy.NodeSignals{}, read.err
	}
	signals := policy.NodeSignals{
		SampledAt:      asked.Add(-read.optionalDuration("age", message.GetAge(), 0)),
		CPUUsed:        read.share("cpu_used", message.GetCpuUsed()),
		CPUPressure:    read.optionalShare("cpu_pressure", message.CpuPressure),
		IOPressure:     read.optionalShare("io_pressure", message.IoPressure),
		MemoryPressure: read.optionalShare("memory_pressure", message.MemoryPressure),
	}
	if read.err != nil {
		return policy.NodeSignals{}, read.err
	}
	devices, err := decodeList("device", message.GetDevices(), maxDevices, decodeDevice)
	if err != nil {
		return policy.NodeSignals{}, err
	}
	signals.Devices = devices
	return signals, nil
}

func encodeOptionalShare(share float64) *float64 {
	if share < 0 {
		return nil
	}
	return &share
}

func encodeDevice(device policy.DeviceSignals) *sluicev1.DeviceSignals {
	return &sluicev1.DeviceSignals{
		Name:                device.Name,
		InFlight:            device.InFlight,
		ReadBytesPerSecond:  device.ReadBytesPerSecond,
		WriteBytesPerSecond: device.WriteBytesPerSecond,
		Utilisation:         device.Utilisation,
	}
}

func decodeDevice(message *sluicev1.DeviceSignals) (policy.DeviceSignals, error) {
	var read fields
	device := policy.DeviceSignals{
		Name:                read.name("name", message.GetName()),
		InFlight:            read.quantity("in_flight", message.GetInFlight()),
		ReadBytesPerSecond:  read.quantity("read_bytes_per_second", message.GetReadBytesPerSecond()),
		WriteBytesPerSecond: read.quantity("write_bytes_per_second", message.GetWriteBytesPerSecond()),
		Utilisation:         read.share("utilisation", message.GetUtilisation()),
	}
	return device, read.err
}
