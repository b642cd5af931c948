package layout

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
)

// MaxCopies is the most copies that a file may have.
const MaxCopies = 3

// Place chooses the server of each segment: Place(...)[copy][slot]. The file's id decides the cyclic order, so
// that files begin on different servers, and the copies of a slot are on servers that differ. There are as
// many slots as servers.
func Place(id FileID, servers []string, copies int) ([][]string, error) {
	if copies < 1 || copies > MaxCopies {
		return nil, fmt.Errorf("%d copies: a file has 1 to %d", copies, MaxCopies)
	}
	if len(servers) < copies {
		return nil, fmt.Errorf("%d copies need as many servers, and %d can be written to: add servers, or ask for fewer copies",
			copies, len(servers))
	}
	order := slices.Sorted(slices.Values(servers))
	if repeated := len(slices.Compact(slices.Clone(order))) < len(order); repeated {
		return nil, fmt.Errorf("a server is named twice in %q: name each once", order)
	}
	random := rand.New(rand.NewChaCha8(sha256.Sum256(id[:])))
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })

	placed := make([][]string, copies)
	for c := range placed {
		placed[c] = append(slices.Clone(order[c:]), order[:c]...)
	}
	return placed, nil
}
