package localprotocol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLineBytes bounds a line in both directions, its newline not counted.
const MaxLineBytes = 1 << 20

// ReadBufferBytes is enough for what is sent once a second; longer lines are put together.
const ReadBufferBytes = 16 << 10

// ErrLineTooLong says that a peer sent more than a line may have without a newline. What follows on that
// connection cannot be told apart any more.
var ErrLineTooLong = errors.New("a line is too long")

// ReadLine returns the next line without its newline. It ends with io.EOF between lines and with
// io.ErrUnexpectedEOF within one: what has no newline was not sent in full.
func ReadLine(reader *bufio.Reader) ([]byte, error) {
	return ReadLineUpTo(reader, MaxLineBytes)
}

// ReadLineUpTo is ReadLine for lines of another greatest length.
func ReadLineUpTo(reader *bufio.Reader, mostBytes int) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil && len(line) <= mostBytes+1:
			return line[:len(line)-1], nil
		case len(line) > mostBytes:
			return nil, fmt.Errorf("%w: over %d bytes", ErrLineTooLong, mostBytes)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}
