package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"sluice.dev/control/internal/protocol"
)

const (
	// prefixBytes come before each message of gRPC: whether it is compressed, and its length.
	prefixBytes = 5
	// maxMessageBytes of an order are far more than it has; a message of an agent is to fit into a frame.
	maxMessageBytes = 16 << 10
	// firstWindowBytes is what HTTP/2 lets a peer send before it says anything else.
	firstWindowBytes = 65_535
	readBytes        = 2 << 10
)

// agentConnection is the agent's end of its connection to the controller. It speaks as much of HTTP/2 and of
// gRPC as the controller makes use of: a server library, ten thousand times in a process that has one core,
// takes more of it than the controller does, which then waits for its agents.
type agentConnection struct {
	agents *simulatedAgents
	agent  *simulatedAgent
	index  int
	// frames are read by one goroutine.
	frames *http2.Framer

	// mutex guards writing and what follows.
	mutex   sync.Mutex
	network net.Conn
	// unsent are frames that go out together.
	unsent bytes.Buffer
	// encoded is a message with its prefix.
	encoded []byte
	calls   map[uint32]*call
	// window is how many bytes may be sent; callWindow is that of a new call.
	window, callWindow int
	// taken has come since the controller was let send more.
	taken uint32
}

// call is a call that has not ended.
type call struct {
	id       uint32
	method   string
	received []byte
	window   int
	taken    uint32
	// exchange is that of a call of Steer.
	exchange *exchange
}

// serveConnection answers the controller until it closes the connection, and returns why it ended.
func (s *simulatedAgents) serveConnection(raw net.Conn, config *tls.Config) error {
	network := tls.Server(raw, config)
	defer network.Close()
	if err := network.Handshake(); err != nil {
		return err
	}
	index, err := agentIndex(raw.LocalAddr())
	if err != nil {
		return err
	}
	reader := bufio.NewReaderSize(network, readBytes)
	if err := readPreface(reader); err != nil {
		return err
	}
	c := &agentConnection{
		agents: s, agent: &s.agents[index], index: index, network: network,
		calls: make(map[uint32]*call), window: firstWindowBytes, callWindow: firstWindowBytes,
	}
	c.frames = http2.NewFramer(&c.unsent, reader)
	c.frames.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil)
	c.frames.SetReuseFrames()
	defer c.endAll()
	return c.serve()
}

func readPreface(reader io.Reader) error {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(reader, preface); err != nil {
		return err
	}
	if string(preface) != http2.ClientPreface {
		return errors.New("the caller does not speak HTTP/2")
	}
	return nil
}

func (c *agentConnection) serve() error {
	if err := c.locked(func() error { return c.frames.WriteSettings() }); err != nil {
		return err
	}
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			return err
		}
		if err := c.locked(func() error { return c.take(frame) }); err != nil {
			return err
		}
	}
}

// locked does what may write frames, and sends them.
func (c *agentConnection) locked(do func() error) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := do(); err != nil {
		return err
	}
	if c.unsent.Len() == 0 {
		return nil
	}
	_, err := c.unsent.WriteTo(c.network)
	return err
}

func (c *agentConnection) take(frame http2.Frame) error {
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		return c.takeSettings(frame)
	case *http2.PingFrame:
		if frame.IsAck() {
			return nil
		}
		return c.frames.WritePing(true, frame.Data)
	case *http2.WindowUpdateFrame:
		c.widen(frame)
	case *http2.MetaHeadersFrame:
		c.calls[frame.StreamID] = &call{id: frame.StreamID, method: frame.PseudoValue("path"), window: c.callWindow}
	case *http2.DataFrame:
		return c.takeData(frame)
	case *http2.RSTStreamFrame:
		c.end(frame.StreamID)
	case *http2.GoAwayFrame:
		return io.EOF
	}
	return nil
}

func (c *agentConnection) takeSettings(frame *http2.SettingsFrame) error {
	if frame.IsAck() {
		return nil
	}
	if window, isSet := frame.Value(http2.SettingInitialWindowSize); isSet {
		c.callWindow = int(window)
	}
	return c.frames.WriteSettingsAck()
}

func (c *agentConnection) widen(frame *http2.WindowUpdateFrame) {
	if frame.StreamID == 0 {
		c.window += int(frame.Increment)
	} else if widened := c.calls[frame.StreamID]; widened != nil {
		widened.window += int(frame.Increment)
	}
}

// takeData takes the messages that have come whole.
func (c *agentConnection) takeData(frame *http2.DataFrame) error {
	if err := c.acknowledge(0, &c.taken, frame); err != nil {
		return err
	}
	to := c.calls[frame.StreamID]
	if to == nil {
		return nil
	}
	if err := c.acknowledge(to.id, &to.taken, frame); err != nil {
		return err
	}
	to.received = append(to.received, frame.Data()...)
	for len(to.received) >= prefixBytes {
		length := binary.BigEndian.Uint32(to.received[1:prefixBytes])
		if to.received[0] != 0 || length > maxMessageBytes {
			return fmt.Errorf("a message of %d bytes, compressed: %d", length, to.received[0])
		}
		end := prefixBytes + int(length)
		if len(to.received) < end {
			return nil
		}
		if err := c.takeMessage(to, to.received[prefixBytes:end]); err != nil {
			return err
		}
		to.received = append(to.received[:0], to.received[end:]...)
	}
	return nil
}

// acknowledge lets as many bytes come again as have come, once they are many.
func (c *agentConnection) acknowledge(id uint32, taken *uint32, frame http2.Frame) error {
	*taken += frame.Header().Length
	if *taken < firstWindowBytes/4 {
		return nil
	}
	increment := *taken
	*taken = 0
	return c.frames.WriteWindowUpdate(id, increment)
}

func (c *agentConnection) end(id uint32) {
	if ended := c.calls[id]; ended != nil && ended.exchange != nil {
		ended.exchange.timer.Stop()
	}
	delete(c.calls, id)
}

func (c *agentConnection) endAll() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for id := range c.calls {
		c.end(id)
	}
}

// headers are those of an answer. What is never indexed is the same on each connection.
var (
	headers = encodeHeaders(":status", "200", "content-type", "application/grpc", protocol.MetadataKey, protocol.Version)
	success = encodeHeaders("grpc-status", "0")
	unknown = encodeHeaders("grpc-status", fmt.Sprint(int(codes.Unimplemented)))
)

func encodeHeaders(namesAndValues ...string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for i := 0; i < len(namesAndValues); i += 2 {
		// Writing to a buffer does not fail.
		_ = encoder.WriteField(hpack.HeaderField{Name: namesAndValues[i], Value: namesAndValues[i+1], Sensitive: true})
	}
	return block.Bytes()
}

func (c *agentConnection) writeHeaders(id uint32, block []byte, isLast bool) error {
	return c.frames.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: isLast,
	})
}

// answer answers a call of one message.
func (c *agentConnection) answer(to *call, message proto.Message) error {
	delete(c.calls, to.id)
	if err := c.writeHeaders(to.id, headers, false); err != nil {
		return err
	}
	trailers := success
	if message == nil {
		trailers = unknown
	} else if err := c.writeMessage(to, message); err != nil {
		return err
	}
	return c.writeHeaders(to.id, trailers, true)
}

// writeMessage sends a message, or leaves it out if the controller takes no more for now.
func (c *agentConnection) writeMessage(to *call, message proto.Message) error {
	encoded, err := proto.MarshalOptions{}.MarshalAppend(append(c.encoded[:0], make([]byte, prefixBytes)...), message)
	if err != nil {
		return err
	}
	c.encoded = encoded
	if len(encoded) > maxMessageBytes {
		return fmt.Errorf("a message of %d bytes does not fit into a frame", len(encoded))
	}
	if len(encoded) > min(c.window, to.window) {
		return nil
	}
	binary.BigEndian.PutUint32(encoded[1:prefixBytes], uint32(len(encoded)-prefixBytes))
	c.window -= len(encoded)
	to.window -= len(encoded)
	return c.frames.WriteData(to.id, false, encoded)
}
