package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	maxFigureCharacters = 128
	// digestCharacters is two underscores and half a digest.
	digestCharacters = 18
)

// FigureName is the name of a figure about a part of a store, such as a scope, as plug-ins make it: whatever is not a
// small letter or a digit is an underscore with the two hexadecimal digits of its byte, and a name that would be too
// long ends in a digest. docs/hbase-cache-latency.md describes it.
func FigureName(prefix, part, suffix string) string {
	room := maxFigureCharacters - len(prefix) - len(suffix) - 2
	encoded := encodePart(part)
	if len(encoded) > room {
		digest := sha256.Sum256([]byte(part))
		encoded = encoded[:room-digestCharacters] + "__" + hex.EncodeToString(digest[:8])
	}
	return prefix + "_" + encoded + "_" + suffix
}

func encodePart(part string) string {
	var encoded strings.Builder
	for _, each := range []byte(part) {
		if each >= 'a' && each <= 'z' || each >= '0' && each <= '9' {
			encoded.WriteByte(each)
		} else {
			fmt.Fprintf(&encoded, "_%02x", each)
		}
	}
	return encoded.String()
}
