package payload

import (
	"sync"

	"google.golang.org/grpc/mem"

	"sluice.dev/control/internal/pool/segment"
)

// headBytes is room for what a message has beside its data.
const headBytes = 4096

// sizes are those of the buffers that are kept, for small reads, for requests as clients make them, and for the largest.
var sizes = [...]int{2 * segment.PageBytes, segment.MaxRequestBytes/4 + headBytes, segment.MaxRequestBytes + headBytes}

// buffers keeps buffers for the next use. Unlike those of the library they are not cleared: whoever gets one fills it.
type buffers struct {
	kept [len(sizes)]sync.Pool
}

var pool mem.BufferPool = &buffers{}

// Buffer gives one of that length, with anything in it. It may be given away as the data of a ReadSegmentResponse.
func Buffer(length int) []byte {
	return *pool.Get(length)
}

// Get gives a buffer of that length, with anything in it.
func (b *buffers) Get(length int) *[]byte {
	for i, size := range sizes {
		if length > size {
			continue
		}
		if kept, isThere := b.kept[i].Get().(*[]byte); isThere {
			*kept = (*kept)[:length]
			return kept
		}
		return new(make([]byte, length, size))
	}
	return new(make([]byte, length))
}

// Put keeps a buffer that has come from Get.
func (b *buffers) Put(buffer *[]byte) {
	for i, size := range sizes {
		if cap(*buffer) == size {
			b.kept[i].Put(buffer)
			return
		}
	}
}
