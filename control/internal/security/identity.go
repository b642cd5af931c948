// Package security holds who may do what over the network: mutual TLS 1.3 from certificates of one
// authority, the identity in each certificate, and the roles that a call needs.
//
// A certificate names its holder in its only URI, sluice://CLUSTER/ROLE/NAME. DNS names and addresses
// in it are not relied upon. An order is for a node, not for an address: whoever controls DNS, DHCP or
// the routing could else lead an order for one node to another that also has a good certificate; and
// nodes that get other addresses need no new certificates. DNS names may be there for browsers.
//
// A gRPC connection never outlives the certificate that its peer showed: both ends close it when that
// expires, by the monotonic clock from the handshake on, and gRPC connects again with the files as they
// are by then. A call that is under way at that moment fails as unavailable. HTTPS servers refuse
// requests on such connections. Replacing the files has no effect on connections that are there; package
// protocol bounds their age to an hour, as HTTPS servers do, and so how long a withdrawn authority goes on
// to be trusted.
package security

import (
	"context"
	"crypto/x509"
	"slices"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"sluice.dev/control/internal/store"
)

// Role is what the holder of a certificate is in its cluster.
type Role string

// The roles of a cluster.
const (
	RoleAgent      Role = "agent"
	RoleController Role = "controller"
	RoleOperator   Role = "operator"
	RoleViewer     Role = "viewer"
)

// Roles lists every role.
func Roles() []Role {
	return []Role{RoleAgent, RoleController, RoleOperator, RoleViewer}
}

// serves says whether holders of the role have servers, and so need certificates for that.
func (r Role) serves() bool {
	return r == RoleAgent || r == RoleController
}

// Identity is the holder of a certificate.
type Identity struct {
	Cluster string
	Role    Role
	// Name is the node of an agent, or the name of a controller or person.
	Name string
}

const (
	scheme = "sluice://"
	// maxNameBytes is that of a DNS name, which nodes often have for theirs.
	maxNameBytes = 253
)

// String is the form sluice://CLUSTER/ROLE/NAME.
func (i Identity) String() string {
	return scheme + i.Cluster + "/" + string(i.Role) + "/" + i.Name
}

// ParseIdentity reads the form sluice://CLUSTER/ROLE/NAME. Cluster and name consist of ASCII letters,
// digits, and "-", "." and "_" between them. Errors are of store.CodeForbidden.
func ParseIdentity(uri string) (Identity, error) {
	rest, hasScheme := strings.CutPrefix(uri, scheme)
	parts := strings.Split(rest, "/")
	if !hasScheme || len(parts) != 3 {
		return Identity{}, forbiddenf("the identity %q is not of the form sluice://CLUSTER/ROLE/NAME", uri)
	}
	identity := Identity{Cluster: parts[0], Role: Role(parts[1]), Name: parts[2]}
	switch {
	case !ValidName(identity.Cluster):
		return Identity{}, forbiddenf("the identity %q has the cluster %q, which is no name", uri, identity.Cluster)
	case !slices.Contains(Roles(), identity.Role):
		return Identity{}, forbiddenf("the identity %q has the role %q, which is not known", uri, identity.Role).
			WithHint("Known roles: %v.", Roles())
	case !ValidName(identity.Name):
		return Identity{}, forbiddenf("the identity %q ends in %q, which is no name", uri, identity.Name)
	}
	return identity, nil
}

// ValidName says whether a node, cluster or person can be called so.
func ValidName(name string) bool {
	const inner = "-._"
	return name != "" && len(name) <= maxNameBytes && name == strings.Trim(name, inner) &&
		!strings.ContainsFunc(name, func(r rune) bool {
			isWord := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
			return !isWord && !strings.ContainsRune(inner, r)
		})
}

// identityOf reads the identity of a certificate's holder, who must be of the cluster.
func identityOf(certificate *x509.Certificate, cluster string) (Identity, error) {
	if count := len(certificate.URIs); count != 1 {
		return Identity{}, forbiddenf("the certificate of %q has %d URIs, where one names its holder",
			certificate.Subject, count).
			WithHint("Give it the URI sluice://%s/ROLE/NAME as its only one among the subject alternative names.", cluster)
	}
	identity, err := ParseIdentity(certificate.URIs[0].String())
	if err != nil {
		return Identity{}, err
	}
	if identity.Cluster != cluster {
		return Identity{}, forbiddenf("%s is of the cluster %q, not of %q", identity, identity.Cluster, cluster)
	}
	return identity, nil
}

// FromContext gives the identity of who made the call that the context is of. The handshake has
// verified it.
func FromContext(ctx context.Context) (Identity, error) {
	caller, isCall := peer.FromContext(ctx)
	if !isCall {
		return Identity{}, forbiddenf("there is no caller")
	}
	info, isTLS := caller.AuthInfo.(credentials.TLSInfo)
	if !isTLS || len(info.State.PeerCertificates) == 0 {
		return Identity{}, forbiddenf("the caller at %v showed no certificate", caller.Addr)
	}
	certificate := info.State.PeerCertificates[0]
	if len(certificate.URIs) != 1 {
		return Identity{}, forbiddenf("the caller at %v has no identity", caller.Addr)
	}
	return ParseIdentity(certificate.URIs[0].String())
}

func forbiddenf(format string, arguments ...any) *store.Error {
	return store.Errorf(store.CodeForbidden, format, arguments...)
}
