package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/security"
)

// pooled is a pool, and the configuration of an agent that uses it.
type pooled struct {
	*world
	pool   *pooltest.Pool
	config string
}

func newPooled(t *testing.T) *pooled {
	t.Helper()
	p := &pooled{world: newWorld(t), pool: pooltest.New(t, 3)}
	voters, _ := pooltest.NewMetadata(t, p.pool.Authority, 1)
	client := map[string]any{
		"voters": []map[string]string{{"node": voters[0].Name, "address": voters[0].Address()}}, "block_bytes": 4096,
	}
	var servers []map[string]string
	for name, server := range p.pool.Servers {
		servers = append(servers, map[string]string{"node": name, "address": server.Address()})
	}
	client["servers"] = servers
	text, err := yaml.Marshal(map[string]any{
		"cluster": "test", "node": "client", "tls": p.pool.Authority.Files(t, security.RoleAgent, "client"),
		"pool": map[string]any{"client": client},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.config = filepath.Join(t.TempDir(), "agent.yml")
	if err := os.WriteFile(p.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pooled) pooled(t *testing.T, arguments ...string) result {
	t.Helper()
	return p.run(t, append([]string{"pool", "--config", p.config}, arguments...)...)
}

func (p *pooled) must(t *testing.T, arguments ...string) string {
	t.Helper()
	done := p.pooled(t, arguments...)
	if done.code != 0 {
		t.Fatalf("sluice pool %s: code %d, %s%s", strings.Join(arguments, " "), done.code, done.stdout, done.stderr)
	}
	return done.stdout
}

func TestPool(t *testing.T) {
	p := newPooled(t)
	content := bytes.Repeat([]byte("a line of a file\n"), 3000)
	source, target := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	p.must(t, "create-volume", "backups")
	if got := p.must(t, "volumes"); got != "VOLUME\nbackups\n" {
		t.Errorf("volumes: %s", got)
	}
	p.must(t, "make-directory", "backups", "/2026")
	p.must(t, "put", "backups", source, "/2026/dump")
	p.must(t, "put", "backups", source, "/2026/dump")
	if got := p.must(t, "list", "backups", "/2026"); got != "NAME  SIZE  COPIES  STATE\ndump  51kB  2       sealed\n" {
		t.Errorf("list: %s", got)
	}
	p.pool.Servers["pool2"].Stop()
	p.mustStand(t)
	p.must(t, "get", "backups", "/2026/dump", target)
	if got, err := os.ReadFile(target); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %d bytes of %d: %v", len(got), len(content), err)
	}
	p.pool.Servers["pool2"].Start()
	p.must(t, "remove", "backups", "/2026/dump")
	p.must(t, "remove", "backups", "/2026")
	var listed struct {
		Entries []listedFile `json:"entries"`
	}
	if err := json.Unmarshal([]byte(p.must(t, "list", "backups", "/", "-o", "json")), &listed); err != nil || len(listed.Entries) > 0 {
		t.Errorf("%+v: %v", listed, err)
	}
	p.must(t, "remove-volume", "backups")
}

// mustStand has one file of 51000 bytes in 13 blocks of 4096 in two copies, and pool2 does not answer.
func (p *pooled) mustStand(t *testing.T) {
	t.Helper()
	var status poolStatus
	if err := json.Unmarshal([]byte(p.must(t, "status", "-o", "json")), &status); err != nil {
		t.Fatal(err)
	}
	if status.Files != 1 || status.SegmentsLeft != 0 || status.SegmentsWaiting != 2 || status.UnreadableSlots != 0 || status.RepairedBy != "" {
		t.Errorf("%+v", status)
	}
	for i, state := range []string{"answering", "silent", "answering"} {
		server := status.Servers[i]
		isHeld := server.HeldBytes > 0 && server.FreeBytes > 0 && server.FillShare > 0
		if server.State != state || isHeld != (state == "answering") {
			t.Errorf("%+v should be %s", server, state)
		}
	}
	text := p.must(t, "status")
	if !strings.Contains(text, "pool2  silent     ?") || !strings.Contains(text, "nobody") {
		t.Errorf("status: %s", text)
	}
}

func TestPoolRemovesATree(t *testing.T) {
	p := newPooled(t)
	source := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(source, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must(t, "create-volume", "backups")
	for _, directory := range []string{"/2026", "/2026/11", "/2027"} {
		p.must(t, "make-directory", "backups", directory)
	}
	for _, path := range []string{"/2026/a", "/2026/11/b", "/2027/c", "/d"} {
		p.must(t, "put", "backups", source, path)
	}
	if done := p.pooled(t, "remove", "backups", "/2026"); done.code == 0 || !strings.Contains(done.stderr, "is not empty") {
		t.Errorf("a directory that is not empty: code %d, %s", done.code, done.stderr)
	}
	p.must(t, "remove", "--recursive", "backups", "/2026")
	if got := p.must(t, "list", "backups", "/"); strings.Contains(got, "2026") || strings.Count(got, "\n") != 3 {
		t.Errorf("left: %s", got)
	}
	p.must(t, "remove", "--recursive", "backups", "/")
	p.must(t, "remove-volume", "backups")
}

func TestPoolSaysWhatIsWrong(t *testing.T) {
	p := newPooled(t)
	p.must(t, "create-volume", "backups")
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must(t, "put", "backups", there, "/there")
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"no file":               {[]string{"put", "backups", "/missing", "/x"}, "/missing"},
		"no directory":          {[]string{"put", "backups", there, "/2026/x"}, "/2026"},
		"a volume that is used": {[]string{"remove-volume", "backups"}, "is not empty"},
		"no volume":             {[]string{"list", "other", "/"}, "other"},
		"no path":               {[]string{"get", "backups", "/other", there + ".new"}, "/other"},
		"a file that is there":  {[]string{"get", "backups", "/there", there}, "file exists"},
		"no absolute path":      {[]string{"list", "backups", "there"}, "does not begin with /"},
	} {
		t.Run(name, func(t *testing.T) {
			if done := p.pooled(t, test.arguments...); done.code == 0 || !strings.Contains(done.stderr, test.want) {
				t.Errorf("code %d, %s", done.code, done.stderr)
			}
		})
	}
	if got, err := os.ReadFile(there); err != nil || string(got) != "mine" {
		t.Errorf("a file of this host has become %q: %v", got, err)
	}
	if got := p.must(t, "list", "backups", "/"); !strings.Contains(got, "there") || strings.Count(got, "\n") != 2 {
		t.Errorf("left: %s", got)
	}
	without := p.run(t, "pool", "--config", "/missing", "volumes")
	if without.code == 0 || !strings.Contains(without.stderr, "docs/agent.md") {
		t.Errorf("code %d, %s", without.code, without.stderr)
	}
}

func TestMountSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	mount := func(folder string) result {
		return w.run(t, "pool", "mount", "orders", folder, "--socket", filepath.Join(t.TempDir(), "pool.sock"), "--wait", "1ms")
	}
	if got := mount(folder); got.code != exitUnreachable || !strings.Contains(got.stderr, "pool.client.socket") {
		t.Errorf("without an agent: code %d, %s", got.code, got.stderr)
	}
	if err := os.WriteFile(filepath.Join(folder, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := mount(folder); got.code == exitOK || !strings.Contains(got.stderr, "mine is there") {
		t.Errorf("a folder that is not empty: code %d, %s", got.code, got.stderr)
	}
}
