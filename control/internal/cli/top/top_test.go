package top

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"sluice.dev/control/internal/cli/clitest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

var update = flag.Bool("update", false, "write the expected frames anew")

func newDisplay(t *testing.T, width, height int) (*display, tcell.SimulationScreen) {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Fini)
	screen.SetSize(width, height)
	shown := &display{screen: screen, colours: true, now: clitest.Now, view: view{focus: startPanel}}
	shown.take(state{cluster: clitest.State(), fetchedAt: clitest.Now()})
	return shown, screen
}

// text is what is on the screen.
func text(screen tcell.SimulationScreen) string {
	cells, width, height := screen.GetContents()
	var lines []string
	for y := range height {
		var line strings.Builder
		for x := range width {
			line.WriteString(string(cells[y*width+x].Runes))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant (%s)\n%s", got, path, want)
	}
}

func press(t *testing.T, shown *display, keys ...any) {
	t.Helper()
	for _, key := range keys {
		var event *tcell.EventKey
		switch key := key.(type) {
		case rune:
			event = tcell.NewEventKey(tcell.KeyRune, key, tcell.ModNone)
		case tcell.Key:
			event = tcell.NewEventKey(key, 0, tcell.ModNone)
		}
		if shown.handle(event) {
			t.Fatalf("%v quits", key)
		}
	}
	shown.draw()
}

func TestFrames(t *testing.T) {
	for _, test := range []struct {
		name          string
		width, height int
		keys          []any
	}{
		{"wide", 140, 30, nil},
		{"small", 80, 12, nil},
		{"narrow", 60, 20, nil},
		{"tiny", 20, 3, nil},
		{"help", 100, 20, []any{'h'}},
		{"help-closed", 140, 30, []any{'h', 'h'}},
		{"tasks-by-progress", 140, 30, []any{'s', 's', tcell.KeyDown}},
		{"leases-by-time-left", 140, 30, []any{tcell.KeyTab, tcell.KeyTab, 's', tcell.KeyEnd}},
		{"filter-typed", 140, 30, []any{'/', 'h', 'e', 'l', 'D', 'x', tcell.KeyBackspace2}},
		{"filter-kept", 140, 30, []any{'/', 'h', 'e', 'l', 'd', tcell.KeyEnter}},
		{"scrolled", 140, 10, []any{tcell.KeyBacktab, 'j', 'j'}},
	} {
		t.Run(test.name, func(t *testing.T) {
			shown, screen := newDisplay(t, test.width, test.height)
			press(t, shown, test.keys...)
			compare(t, test.name, text(screen))
		})
	}
}

func TestNarrowTerminalShowsWhatMatters(t *testing.T) {
	for width, wants := range map[int][]string{
		110: {"read 1.2ms, write 5.5ms", "flush orders", "operator/ann"},
		80:  {"6MB/s  ", "75%", "flush orders", "rate_bytes_per_second=6MB/s", "policy/nightly", "3.7s"},
		60:  {"running", "6MB/s", "95%", "3.7s"},
	} {
		shown, screen := newDisplay(t, width, 20)
		shown.draw()
		for _, want := range wants {
			if got := text(screen); !strings.Contains(got, want) {
				t.Errorf("%q is not there on %d columns:\n%s", want, width, got)
			}
		}
	}
}

func TestTitleBeginsWithWhatIsWrong(t *testing.T) {
	shown, screen := newDisplay(t, 60, 12)
	shown.state.cluster.IsDryRun = true
	shown.state.cluster.Cluster = "a\x1b[2Jb"
	shown.draw()
	if got := text(screen); !strings.HasPrefix(got, "sluice top  cluster a?[2Jb  dry run") {
		t.Errorf("the title is\n%.70s", got)
	}
	shown.take(state{problem: errors.New("connection refused")})
	shown.draw()
	if got := text(screen); !strings.HasPrefix(got, "sluice top  no answer for 0s: connection refused") {
		t.Errorf("the title is\n%.70s", got)
	}
}

func TestResizeDrawsTheFrameOfTheNewSize(t *testing.T) {
	shown, screen := newDisplay(t, 80, 12)
	press(t, shown)
	screen.SetSize(140, 30)
	if shown.handle(tcell.NewEventResize(140, 30)) {
		t.Fatal("a resize quits")
	}
	shown.draw()
	compare(t, "wide", text(screen))
}

func TestCountdownGoesOnBetweenAnswers(t *testing.T) {
	shown, screen := newDisplay(t, 140, 30)
	shown.now = func() time.Time { return clitest.Now().Add(2500 * time.Millisecond) }
	shown.draw()
	compare(t, "counted-down", text(screen))
}

func TestAnswerThatDidNotComeIsShownOverTheLastOne(t *testing.T) {
	shown, screen := newDisplay(t, 140, 30)
	shown.now = func() time.Time { return clitest.Now().Add(7 * time.Second) }
	shown.take(state{problem: errors.New("connection refused\x1b[2J")})
	shown.draw()
	compare(t, "no-answer", text(screen))

	shown.now = clitest.Now
	shown.take(state{cluster: clitest.State(), fetchedAt: clitest.Now()})
	shown.draw()
	compare(t, "wide", text(screen))
}

func TestColours(t *testing.T) {
	for colours, want := range map[bool]tcell.Color{true: tcell.ColorRed, false: tcell.ColorDefault} {
		shown, screen := newDisplay(t, 140, 30)
		shown.colours = colours
		shown.draw()
		cells, width, _ := screen.GetContents()
		lines := strings.Split(text(screen), "\n")
		for y, line := range lines {
			x := strings.Index(line, "unreachable")
			if x < 0 {
				continue
			}
			if got, _, _ := cells[y*width+x].Style.Decompose(); got != want {
				t.Errorf("colours %t: got %v, want %v", colours, got, want)
			}
		}
	}
}

func TestSelectionStaysOnARowThatIsThere(t *testing.T) {
	shown, _ := newDisplay(t, 140, 30)
	press(t, shown, tcell.KeyUp)
	if got := shown.view.selected[startPanel]; got != 0 {
		t.Errorf("above the first row: %d", got)
	}
	press(t, shown, 'j', 'j', 'j', 'j', 'j', 'j', 'j', 'j')
	if got := shown.view.selected[startPanel]; got != 5 {
		t.Errorf("below the last row: %d", got)
	}
	shown.take(state{cluster: &sluicev1.GetClusterResponse{}, fetchedAt: clitest.Now()})
	if got := shown.view.selected[startPanel]; got != 0 {
		t.Errorf("without rows: %d", got)
	}
}

func TestKeysThatQuit(t *testing.T) {
	for _, test := range []struct {
		name   string
		before []any
		key    *tcell.EventKey
		quits  bool
	}{
		{"q", nil, tcell.NewEventKey(tcell.KeyRune, 'q', tcell.ModNone), true},
		{"ctrl-c", nil, tcell.NewEventKey(tcell.KeyCtrlC, 0, tcell.ModCtrl), true},
		{"q in help", []any{'h'}, tcell.NewEventKey(tcell.KeyRune, 'q', tcell.ModNone), true},
		{"q in a filter", []any{'/'}, tcell.NewEventKey(tcell.KeyRune, 'q', tcell.ModNone), false},
		{"ctrl-c in a filter", []any{'/'}, tcell.NewEventKey(tcell.KeyCtrlC, 0, tcell.ModCtrl), true},
		{"x", nil, tcell.NewEventKey(tcell.KeyRune, 'x', tcell.ModNone), false},
	} {
		shown, _ := newDisplay(t, 140, 30)
		press(t, shown, test.before...)
		if got := shown.handle(test.key); got != test.quits {
			t.Errorf("%s: quits is %t", test.name, got)
		}
	}
}

func source() Source {
	return Source{
		Fetch:    func(context.Context) (*sluicev1.GetClusterResponse, error) { return clitest.State(), nil },
		Interval: time.Hour, Now: clitest.Now,
	}
}

// What is asked for after the state of the cluster makes that no younger.
func TestTheStateIsAsOldAsItsAnswer(t *testing.T) {
	now := clitest.Now()
	slow := source()
	slow.Now = func() time.Time { return now }
	slow.Levels = func(context.Context) []*sluicev1.ServiceLevelState {
		now = now.Add(2 * time.Second)
		return nil
	}
	known := slow.ask(t.Context())
	if age := known.age(now); age != 2*time.Second {
		t.Errorf("the state is %v old, want 2s", age)
	}
}

func TestRunEndsWithQ(t *testing.T) {
	screen := clitest.NewScreen()
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), source(), screen, true) }()
	screen.Press('q')
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fetching := source()
	fetch := fetching.Fetch
	fetching.Fetch = func(ctx context.Context) (*sluicev1.GetClusterResponse, error) {
		cancel()
		return fetch(ctx)
	}
	if err := Run(ctx, fetching, tcell.NewSimulationScreen("UTF-8"), true); err != nil {
		t.Error(err)
	}
}

func TestWriteOnceHasEveryRow(t *testing.T) {
	var got bytes.Buffer
	if err := WriteOnce(t.Context(), source(), &got); err != nil {
		t.Fatal(err)
	}
	compare(t, "once", got.String())
}

func TestWriteOnceFailsWithoutAnAnswer(t *testing.T) {
	failing := source()
	failing.Fetch = func(context.Context) (*sluicev1.GetClusterResponse, error) { return nil, errors.New("refused") }
	if err := WriteOnce(t.Context(), failing, &bytes.Buffer{}); err == nil {
		t.Error("it succeeds")
	}
}

// Where each store has one debt, a narrow terminal goes without what it is of rather than latencies.
func TestNarrowTerminalShowsLatenciesOfStoresWithOneDebt(t *testing.T) {
	shown, screen := newDisplay(t, 80, 20)
	for _, node := range shown.state.cluster.GetNodes() {
		if snapshots := node.GetSnapshot().GetSnapshots(); len(snapshots) == 3 {
			node.Snapshot.Snapshots = snapshots[:2]
		}
	}
	shown.draw()
	if got := text(screen); !strings.Contains(got, "read 1.2ms, write 5.5ms") {
		t.Errorf("the latencies are not there:\n%s", got)
	}
}

// A state with service levels has a panel of them, which is reached by the keys and sorted by how far they are.
func TestServiceLevels(t *testing.T) {
	shown, screen := newDisplay(t, 140, 34)
	known := state{cluster: clitest.State(), levels: clitest.ServiceLevels(), fetchedAt: clitest.Now()}
	shown.take(known)
	press(t, shown, tcell.KeyBacktab, tcell.KeyBacktab, 's', tcell.KeyDown)
	compare(t, "service-levels", text(screen))
	// When they are gone, the keys are where they began.
	shown.take(state{cluster: clitest.State(), fetchedAt: clitest.Now()})
	if shown.view.focus != startPanel {
		t.Errorf("the keys are at panel %d", shown.view.focus)
	}
}
