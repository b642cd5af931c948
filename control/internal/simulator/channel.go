package simulator

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Channel is how messages get from the agent to the controller and back.
type Channel struct {
	// MinDelay and MaxDelay bound the time that a message takes; with a spread wider than the time
	// between messages, they overtake each other.
	MinDelay, MaxDelay time.Duration
	// LossShare of messages get lost, DuplicateShare arrive a second time, later.
	LossShare, DuplicateShare float64
}

type message[T any] struct {
	arrives time.Duration
	content T
}

// link is one direction of a channel.
type link[T any] struct {
	Channel
	random  *rand.Rand
	pending []message[T]
}

func (l *link[T]) send(now time.Duration, content T) {
	if l.random.Float64() < l.LossShare {
		return
	}
	l.post(now, content)
	if l.random.Float64() < l.DuplicateShare {
		l.post(now+l.MaxDelay, content)
	}
}

func (l *link[T]) post(now time.Duration, content T) {
	delay := l.MinDelay + time.Duration(l.random.Float64()*float64(l.MaxDelay-l.MinDelay))
	l.pending = append(l.pending, message[T]{arrives: now + delay, content: content})
	slices.SortStableFunc(l.pending, func(a, b message[T]) int { return cmp.Compare(a.arrives, b.arrives) })
}

// receive takes what has arrived, in the order of arrival.
func (l *link[T]) receive(now time.Duration) []T {
	var arrived []T
	for len(l.pending) > 0 && l.pending[0].arrives <= now {
		arrived = append(arrived, l.pending[0].content)
		l.pending = l.pending[1:]
	}
	return arrived
}
