package replica

import (
	"log/slog"
	"net"
	"testing"
	"time"

	"sluice.dev/control/internal/accept/accepttest"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
)

// A voter that has too many open files for a moment hears the others again after it.
func TestAVoterHearsAgainAfterTooManyOpenFiles(t *testing.T) {
	const patience = time.Minute
	near, far := net.Pipe()
	listener := &accepttest.Listener{Failures: 2, Connections: make(chan net.Conn)}
	credentials := securitytest.NewAuthority(t, "test").Open(t, security.RoleAgent, "voter1")
	s := newStream(Config{Node: "voter1"}, listener, credentials, slog.New(slog.DiscardHandler))
	select {
	case listener.Connections <- near:
	case <-time.After(patience):
		t.Error("it takes no more connections")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_ = far.Close()
}
