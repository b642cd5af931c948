package page

// ring holds the last values that were added to it.
type ring[T any] struct {
	values []T
	// next is where the oldest value is, once the ring is full.
	next int
}

// add appends a value, in the place of the oldest one when there are as many as the bound, which must
// be the same for every call.
func (r *ring[T]) add(value T, bound int) {
	if len(r.values) < bound {
		r.values = append(r.values, value)
		return
	}
	r.values[r.next] = value
	r.next = (r.next + 1) % bound
}

// at is the value at a place, counted from the oldest.
func (r *ring[T]) at(place int) *T {
	return &r.values[(r.next+place)%len(r.values)]
}

// last is the newest value, nil if there is none.
func (r *ring[T]) last() *T {
	if len(r.values) == 0 {
		return nil
	}
	return r.at(len(r.values) - 1)
}
