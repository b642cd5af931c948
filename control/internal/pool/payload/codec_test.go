package payload

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/grpc/encoding"
	library "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

func marshal(t interface{ Fatal(...any) }, message any) []byte {
	encoded, err := newCodec().Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(encoded.Materialize())
}

// frames are as the network has them: cut anywhere.
func frames(encoded []byte, at ...int) mem.BufferSlice {
	var cut mem.BufferSlice
	begin := 0
	for _, end := range append(at, len(encoded)) {
		end = max(begin, min(end, len(encoded)))
		cut = append(cut, mem.Copy(encoded[begin:end], mem.DefaultBufferPool()))
		begin = end
	}
	return cut
}

func anyBytes(most int) *rapid.Generator[[]byte] {
	return rapid.SliceOfN(rapid.Byte(), 0, most)
}

func anyRequest(t *rapid.T) *sluicev1.WriteSegmentsRequest {
	request := &sluicev1.WriteSegmentsRequest{
		Segment: &sluicev1.SegmentId{FileId: anyBytes(16).Draw(t, "file"), Slot: rapid.Uint32().Draw(t, "slot")},
		Epoch:   rapid.Uint64().Draw(t, "epoch"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "change") {
	case 0:
		request.Change = &sluicev1.WriteSegmentsRequest_Append{Append: &sluicev1.AppendBytes{
			OffsetBytes: rapid.Uint64().Draw(t, "offset"), Data: anyBytes(5000).Draw(t, "data"),
		}}
	case 1:
		request.Change = &sluicev1.WriteSegmentsRequest_Sync{Sync: &sluicev1.SyncSegment{}}
	case 2:
		request.Change = &sluicev1.WriteSegmentsRequest_Seal{Seal: &sluicev1.SealSegment{LengthBytes: rapid.Uint64().Draw(t, "length")}}
	}
	return request
}

// What this codec and the library's write, both read, however it is cut.
func TestRequestsAreTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRequest(t)
		plain, err := proto.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		received := &Request{}
		defer received.Free()
		for _, encoded := range [][]byte{marshal(t, want), plain} {
			if err := newCodec().Unmarshal(frames(encoded, rapid.IntRange(0, 6000).Draw(t, "cut")), received); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(&received.WriteSegmentsRequest, want) {
				t.Fatalf("%v is read as %v", want, &received.WriteSegmentsRequest)
			}
			got := &sluicev1.WriteSegmentsRequest{}
			if err := proto.Unmarshal(encoded, got); err != nil || !proto.Equal(got, want) {
				t.Fatalf("the library reads %v, %v", got, err)
			}
		}
	})
}

func TestAnswersAreTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := anyBytes(9000).Draw(t, "data")
		want := &sluicev1.ReadSegmentResponse{Data: data}
		if rapid.Bool().Draw(t, "failed") {
			want.Problem = &sluicev1.BlockProblem{Failure: sluicev1.BlockFailure_BLOCK_FAILURE_CORRUPT, Detail: "rotten"}
		}
		buffer := make([]byte, rapid.IntRange(1, 9000).Draw(t, "buffer"))
		encoded := marshal(t, &sluicev1.ReadSegmentResponse{Data: slices.Clone(data), Problem: want.GetProblem()})
		got := &sluicev1.ReadSegmentResponse{}
		into := codec{CodecV2: encoding.GetCodecV2(library.Name), into: buffer}
		if err := into.Unmarshal(frames(encoded, rapid.IntRange(0, 9000).Draw(t, "cut")), got); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(got, want) {
			t.Fatalf("%d bytes are read as %d", len(data), len(got.GetData()))
		}
		if want.GetProblem() == nil && len(data) > 0 && len(data) <= len(buffer) && &got.GetData()[0] != &buffer[0] {
			t.Fatal("the data are not in the buffer")
		}
	})
}

// A buffer that was given back is of another message; until then it stays.
func TestReceivedRequestsShareNothing(t *testing.T) {
	first, second := &Request{}, &Request{}
	for _, each := range []struct {
		into *Request
		with byte
	}{{first, 1}, {second, 2}} {
		encoded := marshal(t, &sluicev1.WriteSegmentsRequest{Change: &sluicev1.WriteSegmentsRequest_Append{
			Append: &sluicev1.AppendBytes{Data: bytes.Repeat([]byte{each.with}, 200<<10)},
		}})
		network := frames(encoded, 16<<10, 32<<10, 100<<10)
		if err := newCodec().Unmarshal(network, each.into); err != nil {
			t.Fatal(err)
		}
		// As the library does: the frames are used again.
		network.Free()
	}
	if data := first.GetAppend().GetData(); bytes.Count(data, []byte{1}) != 200<<10 {
		t.Error("the first request was overwritten by the second")
	}
	first.Free()
	second.Free()
}

func TestBuffersAreOfTheirLength(t *testing.T) {
	for _, length := range []int{0, 1, 8192, 8193, 262144, 1 << 20, 2 << 20} {
		buffer := Buffer(length)
		if len(buffer) != length {
			t.Errorf("%d bytes of %d", len(buffer), length)
		}
		pool.Put(&buffer)
	}
}

// Whatever comes from the network is read as the library reads it, or refused as it does.
func FuzzRequest(f *testing.F) {
	f.Add([]byte{})
	for _, request := range []*sluicev1.WriteSegmentsRequest{
		{Epoch: 3, Change: &sluicev1.WriteSegmentsRequest_Append{Append: &sluicev1.AppendBytes{OffsetBytes: 7, Data: []byte("data")}}},
		{Change: &sluicev1.WriteSegmentsRequest_Fence{Fence: &sluicev1.FenceSegment{}}},
	} {
		encoded := marshal(f, request)
		f.Add(encoded)
		f.Add(append(encoded, encoded...))
		f.Add(protowire.AppendVarint(protowire.AppendTag(encoded, 2, protowire.VarintType), 9))
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		want := &sluicev1.WriteSegmentsRequest{}
		wantErr := proto.Unmarshal(encoded, want)
		got := &Request{}
		defer got.Free()
		err := newCodec().Unmarshal(frames(encoded, len(encoded)/2), got)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, and of the library %v", err, wantErr)
		}
		if err == nil && !proto.Equal(&got.WriteSegmentsRequest, want) {
			t.Fatalf("%v, and of the library %v", &got.WriteSegmentsRequest, want)
		}
	})
}

// FuzzAnswer is FuzzRequest of the answers to reads.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte{})
	f.Add(marshal(f, &sluicev1.ReadSegmentResponse{Data: []byte("data")}))
	f.Add(marshal(f, &sluicev1.ReadSegmentResponse{Data: []byte("data"), Problem: &sluicev1.BlockProblem{Detail: "x"}}))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		want := &sluicev1.ReadSegmentResponse{}
		wantErr := proto.Unmarshal(encoded, want)
		got := &sluicev1.ReadSegmentResponse{}
		into := codec{CodecV2: encoding.GetCodecV2(library.Name), into: make([]byte, 8)}
		err := into.Unmarshal(frames(encoded, len(encoded)/2), got)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, and of the library %v", err, wantErr)
		}
		if err == nil && !proto.Equal(got, want) {
			t.Fatalf("%v, and of the library %v", got, want)
		}
	})
}
