package gateway

import (
	"context"

	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/repair"
)

// space asks all servers; what one has that does not answer does not count.
func (c *connection) space(ctx context.Context) (any, error) {
	if c.session == nil {
		return nil, errNothingBegun()
	}
	pool := c.server.pool
	var free int64
	for _, server := range repair.Ask(ctx, pool.Servers, pool.Services, pool.Options.Patience) {
		free += server.FreeBytes
	}
	return message.SpaceResult{FreeBytes: free / int64(pool.Copies)}, nil
}
