// Package promql takes signals of policies from a Prometheus server: instant queries whose result is one
// number.
//
// No clock is compared with one of another machine. How old a sample may be is left to the server, which
// stamps samples and queries by the same clock: it is told with each query (lookback_delta), or, where it
// does not read that, must have been started with it (--query.lookback-delta). The age of an answer is
// the server's time of the answer less its time of the query. See docs/controller.md for clocks that jump.
package promql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheus "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"sluice.dev/control/internal/policy"
)

const (
	// maxAnswerBytes bounds an answer: one number and some labels are far below it.
	maxAnswerBytes = 1 << 20
	// dateResolution is how far a time of a query may be ahead of the Date of its answer, which is cut off
	// to whole seconds.
	dateResolution = time.Second
	// maxConnections to the server are open at once.
	maxConnections = 16
	remarkPrefix   = "PromQL info:"
)

// Client asks one Prometheus server. It is safe for concurrent use.
type Client struct {
	api api.Client

	mutex sync.Mutex
	// latest is the latest time of a query that the server has named.
	latest time.Time
	// lookback is what serverLookback has found; nil if it must ask.
	lookback *time.Duration
}

// New makes a client of the server at a URL. The TLS configuration is for URLs with https.
func New(url string, tlsConfig *tls.Config) (*Client, error) {
	return NewWithTransport(url, &http.Transport{
		TLSClientConfig: tlsConfig,
		MaxConnsPerHost: maxConnections, MaxIdleConnsPerHost: maxConnections,
		ForceAttemptHTTP2: true,
		IdleConnTimeout:   time.Minute,
	})
}

// NewWithTransport makes a client that reaches the server by a transport of the caller's.
func NewWithTransport(url string, transport http.RoundTripper) (*Client, error) {
	client, err := api.NewClient(api.Config{Address: url, RoundTripper: bounded{transport}})
	if err != nil {
		return nil, fmt.Errorf("the URL %q of Prometheus: %w", url, err)
	}
	return &Client{api: client}, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() {
	if idle, closes := c.api.(api.CloseIdler); closes {
		idle.CloseIdleConnections()
	}
}

// Query asks for one number. No sample that it rests on may be older than maxAge, in whole seconds, by the
// server's clock; a range in the query, as in rate(x[1m]), is left as it is. What goes wrong, and what the
// server itself warns of, is told by the signal, which is then not fresh.
func (c *Client) Query(ctx context.Context, query string, maxAge time.Duration) policy.Signal {
	signal, err := c.query(ctx, query, maxAge)
	if err != nil {
		c.rememberLookback(nil)
		return policy.Signal{Missing: fmt.Sprintf("query %q: %v", query, err)}
	}
	return signal
}

func (c *Client) query(ctx context.Context, query string, maxAge time.Duration) (policy.Signal, error) {
	if err := c.checkLookback(ctx, maxAge); err != nil {
		return policy.Signal{}, err
	}
	recorder := &dateRecorder{Client: c.api}
	result, warnings, _, err := prometheus.NewAPI(recorder).
		Query(ctx, query, time.Time{}, prometheus.WithLookbackDelta(maxAge.Truncate(time.Second)))
	if err != nil {
		return policy.Signal{}, err
	}
	if doubts := withoutRemarks(warnings); len(doubts) > 0 {
		return policy.Signal{}, fmt.Errorf("the answer may rest on a part of the data: %s", strings.Join(doubts, "; "))
	}
	number, askedAt, err := oneNumber(result)
	if err != nil {
		return policy.Signal{}, err
	}
	age, err := recorder.age(askedAt)
	if err != nil {
		return policy.Signal{}, err
	}
	if age > maxAge {
		return policy.Signal{}, fmt.Errorf("the answer is %v old, more than %v", age, maxAge)
	}
	if err := c.checkClock(askedAt, maxAge); err != nil {
		return policy.Signal{}, err
	}
	return policy.Signal{Value: number, Age: age, Fresh: true}, nil
}

// withoutRemarks leaves out what servers before Prometheus 3 said of a query itself among the warnings.
func withoutRemarks(warnings []string) []string {
	return slices.DeleteFunc(warnings, func(warning string) bool { return strings.HasPrefix(warning, remarkPrefix) })
}

// oneNumber is the value of a scalar, or of a vector of one, and the server's time of the query.
func oneNumber(result model.Value) (float64, time.Time, error) {
	var value model.SampleValue
	var at model.Time
	switch result := result.(type) {
	case *model.Scalar:
		value, at = result.Value, result.Timestamp
	case model.Vector:
		if err := checkVector(result); err != nil {
			return 0, time.Time{}, err
		}
		value, at = result[0].Value, result[0].Timestamp
	case nil:
		return 0, time.Time{}, errors.New("the answer has no result")
	default:
		return 0, time.Time{}, fmt.Errorf("the result is a %v, not one number: "+
			"use an instant query that gives a scalar or a single series", result.Type())
	}
	if number := float64(value); !math.IsNaN(number) && !math.IsInf(number, 0) {
		return number, at.Time(), nil
	}
	return 0, time.Time{}, fmt.Errorf("the result is %v, not a number to act on", value)
}

func checkVector(vector model.Vector) error {
	switch {
	case len(vector) == 0:
		return errors.New("no series has a sample that is recent enough")
	case len(vector) > 1:
		return fmt.Errorf("the result has %d series, not one: use an aggregation such as max(...)", len(vector))
	case vector[0] == nil:
		return errors.New("the result is empty where a series should be")
	case vector[0].Histogram != nil:
		return errors.New("the result is a histogram, not one number: use histogram_quantile(...)")
	}
	return nil
}

// checkClock refuses answers of a server whose clock went back by more than maxAge: until it is past the
// latest time that it had named, what it takes for recent are samples from before.
func (c *Client) checkClock(askedAt time.Time, maxAge time.Duration) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if back := c.latest.Sub(askedAt); back > maxAge {
		return fmt.Errorf("the clock of Prometheus went back by %v; "+
			"its answers are taken again when it is past %v", back, c.latest.UTC().Format(time.RFC3339))
	}
	if askedAt.After(c.latest) {
		c.latest = askedAt
	}
	return nil
}

// dateRecorder keeps the Date of the one answer that it passes on.
type dateRecorder struct {
	api.Client
	date string
}

// Do passes a request on.
func (r *dateRecorder) Do(ctx context.Context, request *http.Request) (*http.Response, []byte, error) {
	response, body, err := r.Client.Do(ctx, request)
	if response != nil {
		r.date = response.Header.Get("Date")
	}
	return response, body, err
}

// age is how long before the answer's Date the query was asked, by the same clock: 0 for a live answer,
// more for one that something has kept.
func (r *dateRecorder) age(askedAt time.Time) (time.Duration, error) {
	date, err := http.ParseTime(r.date)
	if err != nil {
		return 0, fmt.Errorf("the answer's Date %q cannot be read: is there a Prometheus at this address? %w",
			r.date, err)
	}
	age := date.Sub(askedAt)
	if age < -dateResolution {
		return 0, fmt.Errorf("the answer's Date is %v before the time of its query: "+
			"the clock of Prometheus jumped, or something between changes the header", -age)
	}
	return max(age, 0), nil
}

// bounded bounds the size of answers.
type bounded struct{ http.RoundTripper }

// CloseIdleConnections lets http.Client reach the transport inside.
func (b bounded) CloseIdleConnections() {
	if idle, closes := b.RoundTripper.(api.CloseIdler); closes {
		idle.CloseIdleConnections()
	}
}

// RoundTrip cuts an answer that is too long off, which makes it one that cannot be read.
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxAnswerBytes)
	return response, nil
}
