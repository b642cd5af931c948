package promql

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	prometheus "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

const (
	queryEndpoint = "/api/v1/query"
	lookbackFlag  = "query.lookback-delta"
	// noDuration is refused by a server that reads lookback_delta, and ignored by one that does not.
	noDuration = "none"
)

// checkLookback refuses a server that would take samples older than maxAge for the present ones. One that
// does not read lookback_delta, such as Prometheus 2.42, does as its own flag says.
func (c *Client) checkLookback(ctx context.Context, maxAge time.Duration) error {
	lookback, err := c.serverLookback(ctx)
	if err != nil {
		return err
	}
	if lookback > maxAge {
		return fmt.Errorf("this Prometheus takes samples up to %v old, more than %v: "+
			"start it with --%s=%v, or set stale_seconds to %.0f", lookback, maxAge, lookbackFlag, maxAge, lookback.Seconds())
	}
	return nil
}

// serverLookback is the age up to which the server takes samples whatever it is asked for; 0 if it reads
// lookback_delta. It is asked once, and again after a query has failed: it may be another server then.
func (c *Client) serverLookback(ctx context.Context) (time.Duration, error) {
	c.mutex.Lock()
	known := c.lookback
	c.mutex.Unlock()
	if known != nil {
		return *known, nil
	}
	lookback, err := c.askLookback(ctx)
	if err != nil {
		return 0, err
	}
	c.rememberLookback(&lookback)
	return lookback, nil
}

func (c *Client) rememberLookback(lookback *time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.lookback = lookback
}

func (c *Client) askLookback(ctx context.Context) (time.Duration, error) {
	address := c.api.URL(queryEndpoint, nil)
	form := "query=1&lookback_delta=" + noDuration
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), strings.NewReader(form))
	if err != nil {
		return 0, fmt.Errorf("ask whether Prometheus reads lookback_delta: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, _, err := c.api.Do(ctx, request)
	switch {
	case err != nil:
		return 0, fmt.Errorf("ask whether Prometheus reads lookback_delta: %w", err)
	case response.StatusCode == http.StatusBadRequest:
		return 0, nil
	case response.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("ask whether Prometheus reads lookback_delta: it answers %s", response.Status)
	}
	return c.askLookbackFlag(ctx)
}

func (c *Client) askLookbackFlag(ctx context.Context) (time.Duration, error) {
	flags, err := prometheus.NewAPI(c.api).Flags(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask Prometheus how old samples may be: %w", err)
	}
	lookback, err := model.ParseDuration(flags[lookbackFlag])
	if err != nil {
		return 0, fmt.Errorf("ask Prometheus how old samples may be: its flag %s is %q", lookbackFlag, flags[lookbackFlag])
	}
	return time.Duration(lookback), nil
}
