package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

const (
	// writeBytes is how much a store's writer hands over at a time, and scanBytes what a compaction asks for.
	writeBytes = 1 << 20
	scanBytes  = 1 << 20
	smallBytes = 4096
)

// kept is a file that was written: on the device, or in the pool.
type kept interface {
	io.Writer
	// finish returns when all is on the disks.
	finish() error
	// scan reads all of it.
	scan(ctx context.Context) (io.ReadCloser, error)
	readAt(ctx context.Context, buffer []byte, offset int64) error
	remove(ctx context.Context) error
}

// measureSide writes a file, reads it, and removes it.
func measureSide(ctx context.Context, o options, p *pool, s side, random *rand.Rand) (measured, error) {
	var file kept
	var err error
	if s.copies == 0 {
		file, err = createLocal(o.devices[0])
	} else {
		file, err = p.create(ctx, s.copies, random)
	}
	if err != nil {
		return measured{}, err
	}
	found, err := measureFile(ctx, o, p, file, random)
	if err = errors.Join(err, file.remove(ctx)); err != nil {
		return measured{}, err
	}
	if s.copies == 0 {
		err = measureCommits(ctx, deviceFolder(o.devices[0]), o.commits, &found)
	} else {
		err = p.commit(ctx, o, s.copies, &found)
	}
	return found, err
}

func measureFile(ctx context.Context, o options, p *pool, file kept, random *rand.Rand) (measured, error) {
	var found measured
	content := newContent(random.Uint64())
	var err error
	found.WriteBytesPerSecond, found.WriteCPUSecondsPerByte, err = timed(o.fileBytes, p, func() error {
		if err := content.write(file, o.fileBytes); err != nil {
			return err
		}
		return file.finish()
	})
	if err = errors.Join(err, dropPageCache()); err != nil {
		return measured{}, err
	}
	found.ReadBytesPerSecond, found.ReadCPUSecondsPerByte, err = timed(o.fileBytes, p, func() error {
		return scanAll(ctx, file, content, o.fileBytes)
	})
	if err = errors.Join(err, dropPageCache()); err != nil {
		return measured{}, err
	}
	found.SmallReadP50Seconds, found.SmallReadP99Seconds, err = smallReads(ctx, o, file, content, random)
	return found, err
}

// timed gives the bytes per second of something, and the processor time that it took for each.
func timed(size int64, p *pool, do func() error) (bytesPerSecond, cpuSecondsPerByte float64, err error) {
	cpuBefore, err := p.cpuSeconds()
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := do(); err != nil {
		return 0, 0, err
	}
	seconds := time.Since(begin).Seconds()
	cpuAfter, err := p.cpuSeconds()
	return float64(size) / seconds, (cpuAfter - cpuBefore) / float64(size), err
}

// content is what a file of any size holds: a block of random bytes, again and again, each time with another
// byte at its begin, so that a block in the wrong place is seen.
type content struct {
	block []byte
}

// blockBytes is prime, so that no two blocks of a pool begin alike.
const blockBytes = 1048573

func newContent(seed uint64) content {
	block := make([]byte, blockBytes)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	_, _ = random.Read(block)
	return content{block}
}

// fill gives the bytes from an offset on.
func (c content) fill(buffer []byte, offset int64) {
	for len(buffer) > 0 {
		within := offset % blockBytes
		n := copy(buffer, c.block[within:])
		buffer, offset = buffer[n:], offset+int64(n)
	}
}

func (c content) write(to io.Writer, size int64) error {
	buffer := make([]byte, writeBytes)
	for offset := int64(0); offset < size; {
		part := buffer[:min(int64(len(buffer)), size-offset)]
		c.fill(part, offset)
		if _, err := to.Write(part); err != nil {
			return err
		}
		offset += int64(len(part))
	}
	return nil
}

func (c content) check(got []byte, offset int64) error {
	want := make([]byte, len(got))
	c.fill(want, offset)
	if !bytes.Equal(got, want) {
		return fmt.Errorf("the %d bytes at %d are not what was written", len(got), offset)
	}
	return nil
}

func scanAll(ctx context.Context, file kept, content content, size int64) error {
	from, err := file.scan(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	buffer := make([]byte, scanBytes)
	for offset := int64(0); offset < size; {
		part := buffer[:min(int64(len(buffer)), size-offset)]
		if _, err := io.ReadFull(from, part); err != nil {
			return err
		}
		if err := content.check(part, offset); err != nil {
			return err
		}
		offset += int64(len(part))
	}
	return nil
}

// smallReads are of places drawn at random, one after the other.
func smallReads(ctx context.Context, o options, file kept, content content, random *rand.Rand) (p50, p99 float64, err error) {
	seconds := make([]float64, o.reads)
	buffer := make([]byte, smallBytes)
	for i := range seconds {
		offset := random.Int64N(o.fileBytes - smallBytes)
		begin := time.Now()
		if err := file.readAt(ctx, buffer, offset); err != nil {
			return 0, 0, err
		}
		seconds[i] = time.Since(begin).Seconds()
		if err := content.check(buffer, offset); err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(seconds)
	const hundred = 100
	return seconds[len(seconds)/2], seconds[len(seconds)*99/hundred], nil
}

// dropPageCache has the next reads come from the devices.
func dropPageCache() error {
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("1"), 0); err != nil {
		return fmt.Errorf("drop the page cache, which needs root: %w", err)
	}
	return nil
}
