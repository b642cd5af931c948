package security

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"sluice.dev/control/internal/store"
)

// Permissions says which roles may call a method, by its full name, "/package.Service/Method". What is
// not listed nobody may call.
type Permissions map[string][]Role

// UnaryServerInterceptor refuses calls that the caller's role may not make, as store.CodeForbidden.
func (p Permissions) UnaryServerInterceptor(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	if err := p.check(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// StreamServerInterceptor refuses streams as UnaryServerInterceptor does calls.
func (p Permissions) StreamServerInterceptor(
	server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
) error {
	if err := p.check(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(server, stream)
}

func (p Permissions) check(ctx context.Context, method string) error {
	caller, err := FromContext(ctx)
	if err != nil {
		return err
	}
	allowed := p[method]
	if slices.Contains(allowed, caller.Role) {
		return nil
	}
	refusal := forbiddenf("%s may not call %s", caller, method)
	if len(allowed) == 0 {
		return refusal
	}
	return refusal.WithHint("It needs a certificate with the role %s.", joinRoles(allowed))
}

// CheckOwner refuses orders for leases under the name of a policy to everybody but controllers, as
// store.CodeForbidden: the policy would take such a lease for its own, and renew what it never decided.
func CheckOwner(ctx context.Context, owner string) error {
	if !strings.HasPrefix(owner, store.PolicyOwnerPrefix) {
		return nil
	}
	caller, err := FromContext(ctx)
	if err != nil || caller.Role == RoleController {
		return err
	}
	return forbiddenf("%s may not order as %q, which is for the policies of controllers", caller, owner).
		WithHint("Order under another owner, such as %s/%s, and replace the lease if a policy has it.", caller.Role, caller.Name)
}

func joinRoles(roles []Role) string {
	texts := make([]string, len(roles))
	for i, role := range roles {
		texts[i] = string(role)
	}
	return strings.Join(texts, " or ")
}
