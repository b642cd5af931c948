package protocol

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// Encoded is a message as it came. RecvMsg of a stream that was opened with ReceiveEncoded takes one.
type Encoded []byte

// ReceiveEncoded is for calls whose caller decodes what it receives by itself. They differ in nothing on the
// wire.
func ReceiveEncoded() grpc.CallOption {
	return grpc.ForceCodecV2(encodedCodec{encoding.GetCodecV2(proto.Name)})
}

// encodedCodec is the library's codec of protobuf, but leaves Encoded as it is.
type encodedCodec struct{ encoding.CodecV2 }

func (c encodedCodec) Unmarshal(data mem.BufferSlice, message any) error {
	encoded, isEncoded := message.(*Encoded)
	if !isEncoded {
		return c.CodecV2.Unmarshal(data, message)
	}
	*encoded = own(data)
	return nil
}

// own gives the bytes of buffers that the library may use again. It does not where there is one buffer that
// comes from no pool, as for most messages.
func own(data mem.BufferSlice) []byte {
	if len(data) == 1 {
		if plain, isPlain := data[0].(mem.SliceBuffer); isPlain {
			return plain
		}
	}
	return data.Materialize()
}
