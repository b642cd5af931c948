package stripe_test

import (
	"io"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/stripe"
)

// Both have clients and servers in one process, over TLS: what is left is what they compute.
const benchBytes = 64 << 20

func benchFile(b *testing.B) (*pooltest.Pool, stripe.File) {
	pool := pooltest.New(b, 4)
	tr := newTrial(b, pool, pool.Names(), 1)
	tr.file.Stripes = layout.Stripes{BlockBytes: 1 << 20, Slots: 4}
	return pool, tr.file
}

func benchWrite(b *testing.B, pool *pooltest.Pool, file stripe.File) {
	writer, err := stripe.NewWriter(b.Context(), file, 1, pool.Service, stripe.DefaultOptions(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer writer.Close()
	data := some(1 << 20)
	for range benchBytes / len(data) {
		if err := writer.Append(data); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := writer.Seal(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkWrite(b *testing.B) {
	pool, file := benchFile(b)
	b.SetBytes(benchBytes)
	for b.Loop() {
		lastID++
		file.ID = layout.FileID{lastID, byte(time.Now().UnixNano())}
		benchWrite(b, pool, file)
	}
}

func BenchmarkScan(b *testing.B) {
	pool, file := benchFile(b)
	benchWrite(b, pool, file)
	b.SetBytes(benchBytes)
	for b.Loop() {
		reader, err := stripe.NewReader(file, benchBytes, pool.Service, stripe.DefaultOptions(), stripe.NewSuspects(time.Now), nil)
		if err != nil {
			b.Fatal(err)
		}
		scanner := stripe.NewScanner(b.Context(), reader, 0)
		if n, err := io.Copy(io.Discard, scanner); n != benchBytes || err != nil {
			b.Fatal(n, err)
		}
		scanner.Close()
	}
}
