package segment

import "github.com/hashicorp/golang-lru/v2/simplelru"

const (
	// mostRecent is how many sealed segments' files and checksums are kept for the next read.
	mostRecent = 4096
	// mostSumsBytes bounds their checksums, those of 64 GiB, for segments may be of any size.
	mostSumsBytes = 64 << 20
	// leastRecent are kept in any case: who reads some large ones by turns must not have each read push out the next.
	leastRecent = 16
)

// recent are the sealed segments that were used last. They do not change, so that it does no harm to hold one twice. Its methods
// are not called at the same time.
type recent struct {
	segments  *simplelru.LRU[ID, *held]
	sumsBytes int64
	// most bounds sumsBytes.
	most int64
}

func newRecent() (*recent, error) {
	r := &recent{most: mostSumsBytes}
	var err error
	r.segments, err = simplelru.NewLRU(mostRecent, r.fallsOut)
	return r, err
}

// fallsOut has a segment closed once its readers are done, for which nobody waits.
func (r *recent) fallsOut(_ ID, segment *held) {
	r.sumsBytes -= segment.sumsBytes
	go segment.close()
}

func (r *recent) get(id ID) (segment *held, isThere bool) {
	return r.segments.Get(id)
}

func (r *recent) add(segment *held) {
	segment.sumsBytes = segment.sumsOnDisk()
	r.sumsBytes += segment.sumsBytes
	r.segments.Add(segment.id, segment)
	for r.sumsBytes > r.most && r.segments.Len() > leastRecent {
		r.segments.RemoveOldest()
	}
}

func (r *recent) remove(id ID) {
	r.segments.Remove(id)
}

func (r *recent) all() []*held {
	return r.segments.Values()
}
