package security

import (
	"net"
	"sync"
)

const (
	// recordBytes is the most that TLS puts into a record, and hands over at a time.
	recordBytes = 16 << 10
	// mostHeldBytes bounds what is held back, and what is kept for later of the memory for it.
	mostHeldBytes = 256 << 10
)

// coalescer is what TLS writes to: the records of one large write go to the system with one call, and not one for each.
type coalescer struct {
	net.Conn

	mutex     sync.Mutex
	isHolding bool
	held      *[]byte
	// failure is of bytes that are gone: none must follow them.
	failure error
}

var heldBuffers = sync.Pool{New: func() any { return new(make([]byte, 0, mostHeldBytes)) }}

// Write holds bytes back between hold and release, as far as there is room.
func (c *coalescer) Write(data []byte) (int, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.failure != nil {
		return 0, c.failure
	}
	if !c.isHolding {
		return c.Conn.Write(data)
	}
	if len(*c.held)+len(data) > mostHeldBytes {
		if err := c.flush(); err != nil {
			return 0, err
		}
	}
	*c.held = append(*c.held, data...)
	return len(data), nil
}

func (c *coalescer) hold() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.held, c.isHolding = heldBuffers.Get().(*[]byte), true
}

func (c *coalescer) release() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	err := c.flush()
	if cap(*c.held) == mostHeldBytes {
		heldBuffers.Put(c.held)
	}
	c.held, c.isHolding = nil, false
	return err
}

func (c *coalescer) flush() error {
	if c.failure != nil {
		return c.failure
	}
	if len(*c.held) > 0 {
		_, c.failure = c.Conn.Write(*c.held)
	}
	*c.held = (*c.held)[:0]
	return c.failure
}

// coalescedConn is a connection of TLS over a coalescer.
type coalescedConn struct {
	net.Conn
	below *coalescer
	// writing lets one large write follow the other.
	writing sync.Mutex
}

// Write gives an error where all of it, or a part, may not have been sent.
func (c *coalescedConn) Write(data []byte) (int, error) {
	if len(data) <= recordBytes {
		return c.Conn.Write(data)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.below.hold()
	n, err := c.Conn.Write(data)
	if failure := c.below.release(); err == nil && failure != nil {
		return 0, failure
	}
	return n, err
}
