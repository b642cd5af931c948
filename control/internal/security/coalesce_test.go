package security

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"
)

// recorder is a connection that notes what each call has written.
type recorder struct {
	net.Conn
	writes [][]byte
	fails  error
}

func (r *recorder) Write(data []byte) (int, error) {
	if r.fails != nil {
		return 0, r.fails
	}
	r.writes = append(r.writes, bytes.Clone(data))
	return len(data), nil
}

// cutter writes as TLS does: a record after the other.
type cutter struct {
	net.Conn
	below net.Conn
}

func (c cutter) Write(data []byte) (int, error) {
	for begin := 0; begin < len(data); begin += recordBytes {
		if _, err := c.below.Write(data[begin:min(begin+recordBytes, len(data))]); err != nil {
			return begin, err
		}
	}
	return len(data), nil
}

func coalesced(to *recorder) *coalescedConn {
	below := &coalescer{Conn: to}
	return &coalescedConn{Conn: cutter{below: below}, below: below}
}

func TestLargeWritesAreOneCall(t *testing.T) {
	for _, test := range []struct{ size, calls int }{
		{1, 1}, {recordBytes, 1}, {2*recordBytes + 1, 1}, {mostHeldBytes, 1}, {mostHeldBytes + 1, 2}, {3 * mostHeldBytes, 3},
	} {
		to := &recorder{}
		data := bytes.Repeat([]byte("0123456789"), test.size/10+1)[:test.size]
		if n, err := coalesced(to).Write(data); n != test.size || err != nil {
			t.Fatal(n, err)
		}
		if len(to.writes) != test.calls {
			t.Errorf("%d bytes were %d calls, not %d", test.size, len(to.writes), test.calls)
		}
		if !bytes.Equal(bytes.Join(to.writes, nil), data) {
			t.Errorf("%d bytes have become others", test.size)
		}
	}
}

// What was held back and could not be written is not followed by anything.
func TestNothingFollowsLostBytes(t *testing.T) {
	gone := errors.New("gone")
	to := &recorder{fails: gone}
	conn := coalesced(to)
	if n, err := conn.Write(make([]byte, 3*recordBytes)); n != 0 || !errors.Is(err, gone) {
		t.Errorf("%d, %v", n, err)
	}
	to.fails = nil
	for _, size := range []int{1, 3 * recordBytes} {
		if _, err := conn.Write(make([]byte, size)); !errors.Is(err, gone) {
			t.Errorf("%d bytes follow: %v", size, err)
		}
	}
	if len(to.writes) != 0 {
		t.Error("bytes have followed those that were lost")
	}
}

// TLS answers to some of what it reads in between.
func TestOtherRecordsStayWhole(t *testing.T) {
	to := &recorder{}
	conn := coalesced(to)
	var writers sync.WaitGroup
	writers.Go(func() {
		for range 100 {
			_, _ = conn.Write(bytes.Repeat([]byte{'a'}, 2*recordBytes))
		}
	})
	writers.Go(func() {
		for range 100 {
			_, _ = conn.below.Write([]byte("bbb"))
		}
	})
	writers.Wait()
	all := bytes.Join(to.writes, nil)
	if bytes.Count(all, []byte("bbb")) != 100 || bytes.Count(all, []byte{'a'}) != 200*recordBytes {
		t.Error("bytes were lost, or are among others")
	}
}
