package segment

// Read reads bytes of a segment into a buffer, fewer where the segment ends, and checks the pages that they
// are in.
func (s *Store) Read(id ID, offset int64, buffer []byte) (int, error) {
	if offset < 0 || len(buffer) > MaxRequestBytes {
		return 0, Failf(Invalid, "%d bytes at %d: at most %d are read at once, from 0 on", len(buffer), offset, MaxRequestBytes)
	}
	n := 0
	err := s.look(id, func(segment *held) error {
		var err error
		n, err = segment.read(offset, buffer)
		return err
	})
	return n, err
}

// Describe gives the state of a segment.
func (s *Store) Describe(id ID) (State, error) {
	var state State
	err := s.look(id, func(segment *held) error {
		state = State{ID: id, Length: segment.sums.length, Sealed: segment.sealed, Epoch: segment.epoch}
		return nil
	})
	return state, err
}

// look shares a segment with other readers.
func (s *Store) look(id ID, do func(*held) error) error {
	for {
		segment, err := s.find(id)
		if err != nil {
			return err
		}
		again, err := segment.look(do)
		if !again {
			return err
		}
	}
}

func (h *held) look(do func(*held) error) (again bool, err error) {
	if err := h.loadForReaders(); err != nil {
		return false, err
	}
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	if h.closed {
		return true, nil
	}
	return false, do(h)
}

func (h *held) loadForReaders() error {
	h.mutex.RLock()
	loaded := h.file != nil
	h.mutex.RUnlock()
	if loaded {
		return nil
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.load()
}

func (h *held) read(offset int64, buffer []byte) (int, error) {
	end := min(offset+int64(len(buffer)), h.sums.length)
	if offset >= end {
		return 0, nil
	}
	begin := offset / PageBytes * PageBytes
	pages := buffer
	limit := min((end+PageBytes-1)/PageBytes*PageBytes, h.sums.length)
	if begin != offset || limit != end {
		pages = make([]byte, limit-begin)
	}
	pages = pages[:limit-begin]
	if _, err := h.file.ReadAt(pages, begin); err != nil {
		return 0, ofDevice("read", h.id, err)
	}
	if err := h.sums.check(begin, pages); err != nil {
		return 0, Failf(Corrupt, "%s: %w", h.id, err)
	}
	return copy(buffer, pages[offset-begin:end-begin]), nil
}
