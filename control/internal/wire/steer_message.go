package wire

import (
	"time"

	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

// SteerMessage is what an agent sends in an exchange.
type SteerMessage struct {
	// LastRequest is the number of the last request that had come when it was sent, SinceRequest how long before
	// that was.
	LastRequest  uint64
	SinceRequest time.Duration
	// Report is an encoded GetSnapshotResponse for a ReportReader, Answer what became of an order. In a message
	// of a newer version neither may be there.
	Report []byte
	Answer *sluicev1.OrderAnswer
}

// ReadSteerMessage reads an encoded SteerResponse, and keeps its memory.
func ReadSteerMessage(encoded []byte) (SteerMessage, error) {
	if message, isOdd := scanSteerMessage(encoded); !isOdd {
		return message, nil
	}
	response := new(sluicev1.SteerResponse)
	if err := proto.Unmarshal(encoded, response); err != nil {
		return SteerMessage{}, store.Invalidf("a message of the exchange cannot be read: %w", err)
	}
	return decodeSteerMessage(response)
}

func decodeSteerMessage(response *sluicev1.SteerResponse) (SteerMessage, error) {
	message := SteerMessage{LastRequest: response.GetLastRequest(), Answer: response.GetAnswer()}
	if response.GetSnapshot() == nil {
		return message, nil
	}
	var err error
	// Only for a report it matters how old it is.
	if message.SinceRequest, err = DecodeSinceRequest(response); err != nil {
		return SteerMessage{}, err
	}
	if message.Report, err = proto.Marshal(response.GetSnapshot()); err != nil {
		return SteerMessage{}, store.Invalidf("a report of the exchange cannot be read: %w", err)
	}
	return message, nil
}

func scanSteerMessage(encoded []byte) (message SteerMessage, isOdd bool) {
	s := scan{rest: encoded, isOdd: &isOdd}
	for s.next() {
		switch s.tag {
		case 1<<3 | varintField:
			message.LastRequest = s.number
		case 2<<3 | bytesField:
			message.SinceRequest = s.duration()
		case 3<<3 | bytesField:
			message.Report = s.message().rest
		case 4<<3 | bytesField:
			message.Answer = new(sluicev1.OrderAnswer)
			s.need(proto.Unmarshal(s.message().rest, message.Answer) == nil)
		}
	}
	// Of two contents the last one counts, and an empty report is one, too.
	s.need(s.has(2) && s.has(3) != s.has(4) && (len(message.Report) > 0 || s.has(4)))
	return message, isOdd
}
