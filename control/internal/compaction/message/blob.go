package message

import (
	"bytes"
	"encoding/base64"
)

const (
	// longText is from where on a text of base64 is not left to the parser of JSON, which goes through it again and again and
	// takes many times as long: BenchmarkParseWorkerLine.
	longText = 4 << 10
	// placeholder is what is left in its place, and is base64 of it.
	placeholder = "taken out"
)

// takeBlob takes the first long text of a line out of it, if that is base64. Else the line stays as it is, and there is no
// blob. Whose text it is shows where the placeholder turns up.
func takeBlob(line []byte) (short, blob []byte) {
	left := base64.StdEncoding.EncodeToString([]byte(placeholder))
	for open := bytes.IndexByte(line, '"'); open >= 0; {
		size := bytes.IndexByte(line[open+1:], '"')
		if size < 0 {
			return line, nil
		}
		if size < longText {
			open += 1 + size
			continue
		}
		text := line[open+1 : open+1+size]
		// Between two texts there is more than base64, and so there is in one that has an escape.
		if open > 0 && line[open-1] == '\\' || bytes.Contains(line, []byte(left)) {
			return line, nil
		}
		if blob = decodeBlob(text); blob == nil {
			return line, nil
		}
		return bytes.Join([][]byte{line[:open+1], []byte(left), line[open+1+size:]}, nil), blob
	}
	return line, nil
}

// decodeBlob gives nothing for what a parser would refuse: base64 alone leaves out ends of lines.
func decodeBlob(text []byte) []byte {
	blob := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	count, err := base64.StdEncoding.Decode(blob, text)
	if err != nil || base64.StdEncoding.EncodedLen(count) != len(text) {
		return nil
	}
	return blob[:count]
}
