package security

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A client that asks every few seconds would else be trusted for as long as it likes.
func TestOldConnectionsEnd(t *testing.T) {
	accepted := time.Unix(1000, 0)
	tests := []struct {
		age  time.Duration
		want string
	}{
		{maxHTTPConnectionAge, ""},
		{maxHTTPConnectionAge + time.Second, "close"},
	}
	for _, test := range tests {
		served := false
		handler := endOldConnections(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true }),
			func() time.Time { return accepted.Add(test.age) })
		request := httptest.NewRequestWithContext(context.WithValue(t.Context(), acceptedAt{}, accepted), http.MethodGet, "/", nil)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if got := recorder.Header().Get("Connection"); got != test.want || !served {
			t.Errorf("after %v: Connection is %q, want %q; served is %v", test.age, got, test.want, served)
		}
	}
}
