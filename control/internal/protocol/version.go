// Package protocol is what every gRPC server and client of Sluice has in common: the version of the
// network contract, limits of size and time, transport security, permissions, and the form of errors.
//
// A version is MAJOR.MINOR. A minor version adds fields, calls and names, which older peers leave out
// or refuse one by one; peers of different minor versions work together, so that nodes are upgraded one
// at a time, in any order. Peers of different major versions refuse each other. The server refuses
// before it does anything; the client's own check is for answers that it would misread.
package protocol

import (
	"strconv"
	"strings"

	"google.golang.org/grpc/metadata"

	"sluice.dev/control/internal/store"
)

const (
	// Version is that of proto/sluice/v1 which this program speaks.
	Version = "1.10"
	// firstVersion is the first one that peers tell each other.
	firstVersion = "1.0"
	// MetadataKey is where client and server tell each other their version, in the headers of each call.
	MetadataKey = "sluice-protocol"
)

const maxVersionDigits = 4

// majorOf reads the major version of "MAJOR.MINOR".
func majorOf(version string) (int, error) {
	majorText, minorText, _ := strings.Cut(version, ".")
	if !isNumber(majorText) || !isNumber(minorText) {
		return 0, store.Errorf(store.CodeIncompatible, "the protocol version %q is not of the form MAJOR.MINOR", version).
			WithHint("This program speaks %s.", Version)
	}
	return strconv.Atoi(majorText)
}

func isNumber(text string) bool {
	return text != "" && len(text) <= maxVersionDigits && strings.Trim(text, "0123456789") == ""
}

// checkPeer refuses a peer of another major version. self and peer are what an error calls the two.
func checkPeer(header metadata.MD, self, peer string) error {
	versions := header.Get(MetadataKey)
	if len(versions) != 1 {
		return store.Errorf(store.CodeIncompatible, "%s names %d protocol versions in %q, where one is needed; %s speaks %s",
			peer, len(versions), MetadataKey, self, Version).
			WithHint("If it is a release before %s, or no part of Sluice, upgrade or replace it.", firstVersion)
	}
	peerMajor, err := majorOf(versions[0])
	if err != nil {
		return store.Errorf(store.CodeIncompatible, "%s: %w", peer, err)
	}
	ownMajor, err := majorOf(Version)
	if err != nil {
		return err
	}
	switch {
	case peerMajor < ownMajor:
		return incompatible(self, peer, versions[0], peer)
	case peerMajor > ownMajor:
		return incompatible(self, peer, versions[0], self)
	}
	return nil
}

func incompatible(self, peer, peerVersion, older string) error {
	return store.Errorf(store.CodeIncompatible, "%s speaks protocol %s, %s speaks %s: major versions must be the same",
		self, Version, peer, peerVersion).
		WithHint("Upgrade %s.", older)
}
