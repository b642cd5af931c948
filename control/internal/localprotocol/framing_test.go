package localprotocol

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadLine(t *testing.T) {
	longest := strings.Repeat("x", MaxLineBytes)
	tests := []struct {
		name, input string
		lines       []string
		end         error
	}{
		{"nothing", "", nil, io.EOF},
		{"one", "a\n", []string{"a"}, io.EOF},
		{"empty lines", "\n\n", []string{"", ""}, io.EOF},
		{"several", "a\nbc\n", []string{"a", "bc"}, io.EOF},
		{"unfinished", "a\nb", []string{"a"}, io.ErrUnexpectedEOF},
		{"longest", longest + "\nb\n", []string{longest, "b"}, io.EOF},
		{"too long", longest + "x\nb\n", nil, ErrLineTooLong},
		{"too long and unfinished", "a\n" + longest + "x", []string{"a"}, ErrLineTooLong},
		{"longest and unfinished", longest, nil, io.ErrUnexpectedEOF},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reader := bufio.NewReaderSize(strings.NewReader(test.input), ReadBufferBytes)
			for _, want := range test.lines {
				line, err := ReadLine(reader)
				if err != nil || string(line) != want {
					t.Fatalf("%.20q, %v; not %.20q", line, err, want)
				}
			}
			if line, err := ReadLine(reader); !errors.Is(err, test.end) {
				t.Errorf("at the end: %.20q, %v; not %v", line, err, test.end)
			}
		})
	}
}

// Whatever comes, lines are what is between newlines, in order, and none is longer than allowed.
func FuzzReadLine(f *testing.F) {
	f.Add([]byte("a\nb\n"), 16)
	f.Add([]byte("\n\n\xff"), 1)
	f.Add(bytes.Repeat([]byte("x"), 100), 17)
	f.Fuzz(func(t *testing.T, input []byte, bufferBytes int) {
		reader := bufio.NewReaderSize(bytes.NewReader(input), max(16, min(bufferBytes, 4096)))
		rest := input
		for {
			line, err := ReadLine(reader)
			if err != nil {
				checkEnd(t, rest, err)
				return
			}
			want, after, found := bytes.Cut(rest, []byte("\n"))
			if !found || !bytes.Equal(line, want) {
				t.Fatalf("the line is %q, of %q", line, rest)
			}
			rest = after
		}
	})
}

func checkEnd(t *testing.T, rest []byte, err error) {
	t.Helper()
	switch {
	case errors.Is(err, io.EOF) && len(rest) == 0:
	case errors.Is(err, io.ErrUnexpectedEOF) && len(rest) > 0 && !bytes.Contains(rest, []byte("\n")):
	case errors.Is(err, ErrLineTooLong) && len(rest) > MaxLineBytes:
	default:
		t.Fatalf("%v, with %q left", err, rest)
	}
}
