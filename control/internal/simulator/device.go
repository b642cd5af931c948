package simulator

// Device is what the simulated store writes to: one queue, served in the order of arrival.
type Device struct {
	// Name is what the node calls it; empty for "disk".
	Name string
	// BytesPerSecond is what it can write.
	BytesPerSecond float64
	// QueueLimitBytes is how much of background work may wait in its queue, as the kernel's page cache
	// and its queue let it.
	QueueLimitBytes float64
}

// queue is the state of a device: bytes of the foreground and of background work that wait.
type queue struct {
	Device
	foreground, background float64
	// written and busySeconds only grow.
	written, busySeconds float64
}

// room is how much background work may put into the queue now.
func (q *queue) room() float64 {
	return max(0, q.QueueLimitBytes-q.background)
}

// delaySeconds is how long what arrives now waits until it is written.
func (q *queue) delaySeconds() float64 {
	return (q.foreground + q.background) / q.BytesPerSecond
}

// serve writes for a time. Both kinds of bytes are taken to be mixed evenly in the queue.
func (q *queue) serve(seconds float64) {
	waiting := q.foreground + q.background
	if waiting == 0 {
		return
	}
	served := min(waiting, q.BytesPerSecond*seconds)
	left := 1 - served/waiting
	q.foreground *= left
	q.background *= left
	q.written += served
	q.busySeconds += served / q.BytesPerSecond
}
