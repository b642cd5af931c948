package protocol_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// probe dials as a program does that knows nothing of Sluice, with these certificates.
func probe(t *testing.T, address string, certificates ...tls.Certificate) grpc_health_v1.HealthClient {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true, Certificates: certificates}
	return grpc_health_v1.NewHealthClient(dial(t, address, grpc.WithTransportCredentials(credentials.NewTLS(config))))
}

func certificate(t *testing.T, authority *securitytest.Authority, request securitytest.Request) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(authority.Issue(t, request))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// A call that gets through comes to a service that has nothing to say.
func TestHealthNeedsACertificateOfTheClusterAndNoVersion(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	address := serveUnimplemented(t, authority.Open(t, security.RoleAgent, "n1"))
	another := securitytest.NewAuthority(t, cluster)
	tests := map[string]struct {
		certificates []tls.Certificate
		want         codes.Code
	}{
		"viewer":         {[]tls.Certificate{certificate(t, authority, authority.RequestFor(security.RoleViewer, "probe"))}, codes.Unimplemented},
		"no certificate": {nil, codes.Unavailable},
		"certificate of another authority": {
			[]tls.Certificate{certificate(t, another, another.RequestFor(security.RoleViewer, "probe"))}, codes.Unavailable,
		},
		"certificate of another cluster": {
			[]tls.Certificate{certificate(t, authority, securitytest.Request{URIs: []string{"sluice://other/viewer/probe"}})},
			codes.Unavailable,
		},
		"unknown role": {
			[]tls.Certificate{certificate(t, authority, securitytest.Request{URIs: []string{"sluice://" + cluster + "/prober/probe"}})},
			codes.Unavailable,
		},
		"no role": {[]tls.Certificate{certificate(t, authority, securitytest.Request{})}, codes.Unavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := probe(t, address, test.certificates...).Check(bounded(t), &grpc_health_v1.HealthCheckRequest{})
			if status.Code(err) != test.want {
				t.Errorf("error is %v, want %s", err, test.want)
			}
		})
	}
}

// Health has a contract of its own: peers of any version of Sluice may ask for it.
func TestHealthIsOfNoVersion(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	address := serveUnimplemented(t, authority.Open(t, security.RoleAgent, "n1"))
	viewer := certificate(t, authority, authority.RequestFor(security.RoleViewer, "probe"))
	ctx := metadata.AppendToOutgoingContext(bounded(t), protocol.MetadataKey, "2.0")
	client := probe(t, address, viewer)
	if _, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("check: %v", err)
	}
	stream, err := client.Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("watch: %v", err)
	}
}

// Nothing ends the server here but that its streams have ended.
func TestHealthWatchesEndWithTheServer(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, health := grpc.NewServer(protocol.ServerOptions(authority.Open(t, security.RoleAgent, "n1"))...), protocol.NewHealth()
	grpc_health_v1.RegisterHealthServer(server, health)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	health.SetServingStatus("active", grpc_health_v1.HealthCheckResponse_NOT_SERVING)

	client := probe(t, listener.Addr().String(), certificate(t, authority, authority.RequestFor(security.RoleViewer, "probe")))
	watches := make(map[string]grpc_health_v1.Health_WatchClient)
	for name, want := range map[string]grpc_health_v1.HealthCheckResponse_ServingStatus{
		"": grpc_health_v1.HealthCheckResponse_SERVING, "active": grpc_health_v1.HealthCheckResponse_NOT_SERVING,
		"unknown": grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN,
	} {
		watches[name], err = client.Watch(bounded(t), &grpc_health_v1.HealthCheckRequest{Service: name})
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := watches[name].Recv(); err != nil || answer.GetStatus() != want {
			t.Fatalf("the health of %q is %v, %v; want %s", name, answer, err, want)
		}
	}
	health.Shutdown()
	server.GracefulStop()
	for name, watch := range watches {
		last, err := lastOf(watch)
		if err := wire.Error(err); store.CodeOf(err) != store.CodeUnavailable || !strings.Contains(err.Error(), "this server stops") {
			t.Errorf("the watch of %q ended with %v", name, err)
		}
		if name != "active" && last.GetStatus() != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
			t.Errorf("the last that was heard of %q is %v", name, last)
		}
	}
}

// lastOf reads a watch to its end; the message is nil if there was none.
func lastOf(watch grpc_health_v1.Health_WatchClient) (last *grpc_health_v1.HealthCheckResponse, err error) {
	for {
		message, err := watch.Recv()
		if err != nil {
			return last, err
		}
		last = message
	}
}
