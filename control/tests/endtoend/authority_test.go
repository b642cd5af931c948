package endtoend

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/tests/process"
)

const loadedLine = `"msg":"certificates loaded"`

// running are the processes that have certificates, with their files.
func (u *upgrade) running() map[*process.Process]security.Files {
	running := map[*process.Process]security.Files{
		u.active.Process: u.active.files, u.standby.Process: u.standby.files,
	}
	for _, each := range u.nodes {
		running[each.agent] = each.files
	}
	return running
}

// trust replaces what everybody trusts, and waits until all have taken it over without a restart.
func (u *upgrade) trust(authorities ...*securitytest.Authority) {
	u.t.Helper()
	var trusted bytes.Buffer
	for _, each := range authorities {
		trusted.Write(each.PEM())
	}
	securitytest.Replace(u.t, u.operator.CAFile, trusted.Bytes())
	for running, files := range u.running() {
		u.whileLoading(running, func() { securitytest.Replace(u.t, files.CAFile, trusted.Bytes()) })
	}
}

// sign replaces a certificate, and leaves what its holder trusts.
func (u *upgrade) sign(authority *securitytest.Authority, files security.Files, role security.Role, name string) {
	u.t.Helper()
	certificatePEM, keyPEM := authority.Issue(u.t, authority.RequestFor(role, name))
	securitytest.Replace(u.t, files.KeyFile, keyPEM)
	securitytest.Replace(u.t, files.CertificateFile, certificatePEM)
}

// whileLoading replaces files of a process, and waits until it has loaded them.
func (u *upgrade) whileLoading(running *process.Process, replace func()) {
	u.t.Helper()
	loads := func() int { return strings.Count(running.Output(), loadedLine) }
	before := loads()
	replace()
	process.Eventually(u.t, func() error {
		if loads() == before {
			return fmt.Errorf("the new certificates are not loaded; the process says:\n%s", running.Output())
		}
		return nil
	})
}

// requireRefused calls a controller with a certificate of an authority.
func (u *upgrade) requireRefused(authority, trusted *securitytest.Authority) {
	u.t.Helper()
	files := filesFor(u.t, authority, security.RoleOperator, "mallory")
	// The server must be the one that refuses.
	securitytest.Replace(u.t, files.CAFile, append(authority.PEM(), trusted.PEM()...))
	client := u.clientOf(u.active, files)
	refusals := func() int { return strings.Count(u.active.Output(), "certificate signed by unknown authority") }
	before := refusals()
	process.Eventually(u.t, func() error {
		state, err := client.GetCluster(u.t.Context(), &sluicev1.GetClusterRequest{})
		if err == nil {
			u.t.Fatalf("a certificate of the former authority is answered with %v", state)
		}
		if refusals() == before {
			return fmt.Errorf("the controller has not refused the certificate: %w", err)
		}
		return nil
	})
}

// The authority is replaced in the steps of docs/operations.md, and no store is without its leases at any
// time. Programs are started anew in between, so that those with a certificate of either authority meet.
func TestAuthorityIsReplaced(t *testing.T) {
	program := build(t, olderVersion)
	u := newUpgrade(t, program)
	former, next := u.authority, securitytest.NewAuthority(t, clusterName)

	u.trust(former, next)
	u.exchangeAgents(program, olderVersion)
	u.sign(next, u.operator, security.RoleOperator, "ann")
	for _, each := range u.nodes {
		u.whileLoading(each.agent, func() { u.sign(next, each.files, security.RoleAgent, each.name) })
	}
	u.exchangeAgents(program, olderVersion)
	for _, each := range []*controller{u.active, u.standby} {
		u.whileLoading(each.Process, func() { u.sign(next, each.files, security.RoleController, each.name) })
	}
	u.exchangeControllers(program, olderVersion)
	u.trust(next)
	u.exchangeAgents(program, olderVersion)

	u.requireRefused(former, next)
	for _, each := range u.guards {
		if _, _, problem := each.state(); problem != nil {
			t.Error(problem)
		}
	}
}
