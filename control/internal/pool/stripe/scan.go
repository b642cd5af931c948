package stripe

import (
	"context"
	"io"
)

// Scanner reads a file from a place to its end, and asks for what comes next before it is wanted: for
// compactions, which read all.
type Scanner struct {
	reader *Reader
	ctx    context.Context
	end    context.CancelFunc
	next   int64
	ahead  []chan part
	// read is what was read last, and rest what was not yet taken of it.
	read, rest []byte
	// free are buffers that were taken whole.
	free [][]byte
	err  error
}

type part struct {
	data []byte
	err  error
}

// NewScanner reads from an offset on. Close ends it.
func NewScanner(ctx context.Context, reader *Reader, offset int64) *Scanner {
	ctx, end := context.WithCancel(ctx)
	return &Scanner{reader: reader, ctx: ctx, end: end, next: offset}
}

// Read gives the next bytes, as io.Reader.
func (s *Scanner) Read(buffer []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.ask()
		s.take()
	}
	n := copy(buffer, s.rest)
	s.rest = s.rest[n:]
	if len(s.rest) == 0 {
		s.free, s.read = append(s.free, s.read), nil
	}
	return n, nil
}

// ask has as many requests under way as the options allow.
func (s *Scanner) ask() {
	options := s.reader.options
	for len(s.ahead) < options.ReadRequests && s.next < s.reader.length {
		begin := s.next
		bytes := min(int64(options.RequestBytes), s.reader.length-begin)
		s.next += bytes
		answer := make(chan part, 1)
		s.ahead = append(s.ahead, answer)
		data := s.buffer(bytes)
		go func() {
			_, err := s.reader.ReadAt(s.ctx, data, begin)
			answer <- part{data, err}
		}()
	}
}

// buffer gives one that was used before, or another.
func (s *Scanner) buffer(bytes int64) []byte {
	if last := len(s.free) - 1; last >= 0 {
		used := s.free[last]
		s.free = s.free[:last]
		return used[:min(bytes, int64(cap(used)))]
	}
	return make([]byte, bytes, s.reader.options.RequestBytes)
}

// take waits for the first of what was asked for.
func (s *Scanner) take() {
	if len(s.ahead) == 0 {
		s.err = io.EOF
		return
	}
	first := <-s.ahead[0]
	s.ahead = s.ahead[1:]
	s.read, s.rest, s.err = first.data, first.data, first.err
	if s.err != nil {
		s.rest = nil
	}
}

// Close ends what is under way.
func (s *Scanner) Close() {
	s.end()
}
