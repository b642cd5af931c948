package wire

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

// Bounds of the time between two snapshots of an exchange.
const (
	leastInterval = 100 * time.Millisecond
	mostInterval  = time.Minute
)

// Steering is how an exchange of a controller with a node goes.
type Steering struct {
	// Interval is the time between two snapshots, Delay that until the first one.
	Interval, Delay time.Duration
}

// EncodeSteering gives the first request of an exchange.
func EncodeSteering(steering Steering) *sluicev1.SteerRequest {
	return &sluicev1.SteerRequest{
		Interval: durationpb.New(steering.Interval), Delay: durationpb.New(steering.Delay),
	}
}

// DecodeSteering reads and checks the first request of an exchange.
func DecodeSteering(request *sluicev1.SteerRequest) (Steering, error) {
	var read fields
	steering := Steering{
		Interval: read.duration("interval", request.GetInterval()),
		Delay:    read.duration("delay", request.GetDelay()),
	}
	if steering.Interval < leastInterval || steering.Interval > mostInterval {
		read.fail("interval is %v, but must be %v to %v", steering.Interval, leastInterval, mostInterval)
	}
	if steering.Delay > steering.Interval {
		read.fail("delay is %v, but must be at most the interval of %v", steering.Delay, steering.Interval)
	}
	return steering, read.err
}

// DecodeOrderTimeout reads after what time an order of an exchange is given up.
func DecodeOrderTimeout(request *sluicev1.SteerRequest) (time.Duration, error) {
	var read fields
	timeout := read.duration("timeout", request.GetTimeout())
	if timeout == 0 {
		read.fail("timeout is missing")
	}
	return timeout, read.err
}

// DecodeSinceRequest reads how long before a message of an exchange a request had come.
func DecodeSinceRequest(response *sluicev1.SteerResponse) (time.Duration, error) {
	var read fields
	since := read.duration("since_request", response.GetSinceRequest())
	return since, read.err
}

// EncodeOutcome gives what became of an order: the binary form of what a call with it would have ended
// with, nil for nil.
func EncodeOutcome(err error) []byte {
	if err == nil {
		return nil
	}
	encoded, encodeErr := proto.Marshal(status.Convert(Status(err)).Proto())
	if encodeErr != nil || len(encoded) == 0 {
		// Nothing at all would say that the order was obeyed.
		return []byte{0x08, byte(code.Code_UNKNOWN)}
	}
	return encoded
}

// DecodeOutcome reads what became of an order, as the error that a call with it would have given. What
// cannot be read is an error, too.
func DecodeOutcome(encoded []byte) error {
	if len(encoded) == 0 {
		return nil
	}
	var message spb.Status
	if err := proto.Unmarshal(encoded, &message); err != nil {
		return store.Invalidf("what became of the order cannot be read: %w", err)
	}
	if message.GetCode() == int32(code.Code_OK) {
		return store.Invalidf("the order has failed, but without a code")
	}
	return Error(status.ErrorProto(&message))
}
