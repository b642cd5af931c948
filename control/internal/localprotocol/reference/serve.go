package reference

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"sluice.dev/control/internal/localprotocol"
)

// advancePeriod keeps a store that nobody asks from having much to catch up with.
const advancePeriod = time.Second

// Serve runs the store on SOCKET_DIRECTORY/reference/INSTANCE.sock until the context ends, and removes
// the socket then. It calls ready with the path of the socket once it takes connections.
func (s *Store) Serve(ctx context.Context, socketDirectory string, logger *slog.Logger, ready func(socketPath string)) error {
	directory := filepath.Join(socketDirectory, StoreName)
	if err := os.MkdirAll(directory, 0o750); err != nil {
		return err
	}
	socketPath := filepath.Join(directory, s.config.Instance+".sock")
	listener, err := localprotocol.Listen(ctx, socketPath)
	if err != nil {
		return fmt.Errorf("cannot serve: %w", err)
	}
	ready(socketPath)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.keepAdvancing(ctx)
	return localprotocol.NewServer(s, logger).Serve(ctx, listener)
}

func (s *Store) keepAdvancing(ctx context.Context) {
	ticker := time.NewTicker(advancePeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.Advance()
		}
	}
}
