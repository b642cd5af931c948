package localprotocol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLineBytes bounds a line in both directions, its newline not counted.
const MaxLineBytes = 1 << 20

// readBufferBytes is enough for what is sent once a second; longer lines are put together.
const readBufferBytes = 16 << 10

// ErrLineTooLong says that a peer sent more than MaxLineBytes without a newline. What follows on that
// connection cannot be told apart any more.
var ErrLineTooLong = fmt.Errorf("a line is longer than %d bytes", MaxLineBytes)

// ReadLine returns the next line without its newline. It ends with io.EOF between lines and with
// io.ErrUnexpectedEOF within one: what has no newline was not sent in full.
func ReadLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil && len(line) <= MaxLineBytes+1:
			return line[:len(line)-1], nil
		case len(line) > MaxLineBytes:
			return nil, ErrLineTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}
