package agent_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/agent"
	"sluice.dev/control/internal/compaction"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
)

// job is one that a store offers.
func job() compaction.Job {
	return compaction.Job{
		ID: "a", DatabasePath: "/srv/db", OutputPath: "/srv/db/.sluice-compaction-a", Input: []byte("x"),
		RocksDB: compaction.Version{Major: 11, Minor: 8}, InputBytes: 7, DataPaths: []string{}, Objects: []compaction.Object{},
	}
}

// offer has a job offered by a store, and gives the answer.
func offer(t *testing.T, socket string, offered compaction.Job) string {
	t.Helper()
	connection, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	job, err := json.Marshal(offered)
	if err != nil {
		t.Fatal(err)
	}
	const request = `{"jsonrpc":"2.0","id":1,"method":"run","params":{"protocol_version":{"major":1,"minor":0},"job":%s}}` + "\n"
	if _, err := fmt.Fprintf(connection, request, job); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1000)
	length, err := connection.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer[:length])
}

func TestCompactionsThatStayAreCounted(t *testing.T) {
	n := newNode(t)
	socket := filepath.Join(n.sockets, "agent", "compaction.sock")
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	n.config.Compaction.Client = &agent.CompactionClient{Socket: socket}
	stop := n.start()
	if answer := offer(t, socket, job()); !strings.Contains(answer, `"placement":"local","reason":"no-peer"`) {
		t.Error(answer)
	}
	families := n.scrape(security.RoleViewer, "prometheus")
	for _, name := range []string{"sluice_compaction_client_jobs_total", "sluice_compaction_client_input_bytes_total"} {
		for _, metric := range families[name].GetMetric() {
			want := 0.0
			if metric.GetLabel()[0].GetValue() == "no-peer" {
				want = map[string]float64{"sluice_compaction_client_jobs_total": 1, "sluice_compaction_client_input_bytes_total": 7}[name]
			}
			if got := metric.GetCounter().GetValue(); got != want {
				t.Errorf("%s %v: %v, want %v", name, metric.GetLabel(), got, want)
			}
		}
	}
	information, err := os.Stat(socket)
	if err != nil || information.Mode().Perm() != 0o660 {
		t.Errorf("the socket is %v, %v", information.Mode(), err)
	}
	stop()
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is still there")
	}
}

// The agent's socket is where those of stores are, and is none.
func TestOwnSocketIsNoStore(t *testing.T) {
	n := newNode(t)
	socket := filepath.Join(n.sockets, "agent", "compaction.sock")
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	n.config.Compaction.Client = &agent.CompactionClient{Socket: socket}
	n.startStore("a")
	n.start()
	if snapshots := snapshot(t, n.controller(1)).GetSnapshots(); len(snapshots) != 1 {
		t.Errorf("%v", snapshots)
	}
}

func TestSocketInUse(t *testing.T) {
	n := newNode(t)
	n.config.Compaction.Client = &agent.CompactionClient{Socket: filepath.Join(n.sockets, "c.sock")}
	n.start()
	_, err := agent.Open(t.Context(), n.config, nil)
	if err == nil || !strings.Contains(err.Error(), "compaction.client.socket: ") {
		t.Errorf("%v does not name the key", err)
	}
}

// A disk that does not answer, here by a pipe in the place of a file, keeps compactions waiting alone: not
// stores, and not the end of the agent.
func TestDiskThatHangs(t *testing.T) {
	n := newNode(t)
	state := t.TempDir()
	entry := filepath.Join(state, "compactions", "1.json")
	if err := os.Mkdir(filepath.Dir(entry), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(entry, 0o600); err != nil {
		t.Fatal(err)
	}
	n.config.Compaction.Worker = &agent.CompactionWorker{StateDirectory: state, Slots: 1, MemoryBytes: 1, JobMemoryBytes: 1}
	n.startStore("a")
	stop := n.start()
	mustSet(t, n.controller(1), hold("a", "policy/a", time.Minute))
	peer := sluicev1.NewCompactionServiceClient(n.connection(security.RoleAgent, "db-2"))
	watch, err := peer.WatchCapacity(t.Context(), &sluicev1.WatchCapacityRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if capacity, err := watch.Recv(); err != nil || capacity.GetFreeSlots() != 0 {
		t.Errorf("%v, %v", capacity, err)
	}
	stop()
	// This fails where nobody waits for it any more.
	pipe, err := os.OpenFile(entry, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		t.Error(err)
	}
}

// Whoever copies the example of the page must not be stopped by what the agent refuses.
func TestExampleOfThePageLoads(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "remote-compaction.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindSubmatch(page)
	if example == nil {
		t.Fatal("there is no example")
	}
	const around = `cluster: east
node: db-1
tls: {certificate_file: /a, key_file: /b, ca_file: /c}
`
	path := filepath.Join(t.TempDir(), "agent.yml")
	if err := os.WriteFile(path, append([]byte(around), example[1]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Load(path); err != nil {
		t.Error(err)
	}
}
