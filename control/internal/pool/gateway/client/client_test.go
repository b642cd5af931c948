package client_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/gateway/client"
	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/store"
)

const lease = time.Minute

func config(g *pooltest.Gateway) client.Config {
	return client.Config{Socket: g.Socket, Volume: "orders", Path: "/", Holder: "a test", Wait: lease}
}

func attach(t *testing.T, config client.Config) *client.Session {
	t.Helper()
	session, err := client.Attach(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.End)
	return session
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func mustBe(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func some(length int) []byte {
	content := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(content)
	return content
}

func TestFiles(t *testing.T) {
	session := attach(t, config(pooltest.NewGateway(t, "orders", lease)))
	ctx, content := t.Context(), some(message.MaxPayloadBytes+7)
	made := must[*client.File](t)(session.Create(ctx, "1.new"))
	mustBe(t, made.Append(ctx, content))
	mustBe(t, made.Sync(ctx))
	mustBe(t, session.Rename(ctx, "1.new", "1"))
	names := must[[]message.Name](t)(session.List(ctx))
	if len(names) != 1 || names[0].Name != "1" || *names[0].Sealed || *names[0].LengthBytes != int64(len(content)) {
		t.Errorf("%+v", names)
	}
	mustBe(t, made.Seal(ctx))
	opened := must[*client.File](t)(session.Open(ctx, "1"))
	got := make([]byte, len(content))
	if err := opened.ReadAt(ctx, got, 0); err != nil || !bytes.Equal(got, content) || opened.ID != made.ID {
		t.Errorf("it is not what was written: %v", err)
	}
	if err := opened.ReadAt(ctx, got, 1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("after the end: %v", err)
	}
	opened.Close(ctx)
	mustBe(t, session.Remove(ctx, "1"))
	mustBe(t, session.Remove(ctx, "1"))
	if free := must[int64](t)(session.FreeBytes(ctx)); free <= 0 {
		t.Errorf("%d bytes are free", free)
	}
}

func TestLeaseThatIsHeld(t *testing.T) {
	g := pooltest.NewGateway(t, "orders", lease)
	attach(t, config(g))
	other := config(g)
	other.Wait = 0
	_, err := client.Attach(t.Context(), other)
	if err = client.Explain(err); !strings.Contains(err.Error(), "a test of db-1") {
		t.Errorf("who has it is not said: %v", err)
	}
	other.Socket += ".not"
	_, err = client.Attach(t.Context(), other)
	if err = client.Explain(err); store.CodeOf(err) != store.CodeUnavailable || !strings.Contains(err.Error(), "pool.client.socket") {
		t.Errorf("without an agent: %v", err)
	}
}

// What was synced of a file that was left open is told to whoever comes next, who sees more of it as well.
func TestFilesThatWereLeftOpen(t *testing.T) {
	g := pooltest.NewGateway(t, "orders", lease)
	held, err := files.Attach(t.Context(), files.Config{
		Volume: "orders", Path: "/", Holder: "one that is killed", TimeToLive: lease, Servers: g.Pool.Names(), Copies: 2,
		BlockBytes: 4096, Options: stripe.DefaultOptions(), Suspects: stripe.NewSuspects(time.Now),
	}, g.Metadata, g.Pool.Service, slog.New(slog.DiscardHandler))
	mustBe(t, err)
	left := must[*files.Writer](t)(held.Create(t.Context(), "/left"))
	mustBe(t, left.Append(some(100)))
	mustBe(t, left.Sync(t.Context()))
	mustBe(t, left.Append(some(50)))
	left.Close()
	mustBe(t, held.Detach(t.Context()))

	session := attach(t, config(g))
	if got := session.Left(); len(got) != 1 || got["left"] != 100 {
		t.Errorf("%v were left", got)
	}
	if names := must[[]message.Name](t)(session.List(t.Context())); len(names) != 1 || !*names[0].Sealed || *names[0].LengthBytes < 100 {
		t.Errorf("%+v", names)
	}
}

// A session is gone on with when its agent is back; its files have to be opened and made anew.
func TestAgentThatIsStartedAnew(t *testing.T) {
	g := pooltest.NewGateway(t, "orders", lease)
	wanted := config(g)
	var seen []message.Name
	var last message.FileID
	isLost := false
	wanted.GoesOn = func(names []message.Name, id func(string) (message.FileID, error)) (err error) {
		seen = names
		if last, err = id("1"); err != nil {
			return err
		}
		if isLost {
			return client.ErrLost
		}
		return nil
	}
	session := attach(t, wanted)
	ctx := t.Context()
	file := must[*client.File](t)(session.Create(ctx, "1"))
	mustBe(t, file.Append(ctx, some(10)))
	mustBe(t, file.Sync(ctx))
	g.Stop()
	g.Start(lease)
	for err := range map[error]bool{file.Append(ctx, some(1)): true, file.Sync(ctx): true, file.ReadAt(ctx, some(1), 0): true} {
		if !client.IsFormer(err) {
			t.Errorf("of a file of the former session: %v", err)
		}
	}
	opened := must[*client.File](t)(session.Open(ctx, "1"))
	if opened.LengthBytes != 10 || len(seen) != 1 || last != file.ID {
		t.Errorf("%d bytes, %+v, %v", opened.LengthBytes, seen, last)
	}
	session.Renew()
	must[*client.File](t)(session.Create(ctx, "2"))
	isLost = true
	session.Renew()
	for range 2 {
		if _, err := session.Create(ctx, "3"); !errors.Is(err, client.ErrLost) {
			t.Errorf("after somebody else: %v", err)
		}
	}
}
