package overwrite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Open begins a file system in an empty directory, or goes on with the one that is there. It gives all that was synced,
// and of what was not the beginning. The context is for that alone.
func Open(ctx context.Context, files Files, options Options) (*FileSystem, error) {
	if options.RecordBytes < 1 || options.SendBytes < 1 || options.SegmentBytes < 2*(options.RecordBytes+maxTargetBytes+overheadBytes) {
		return nil, fmt.Errorf("segments of %d bytes are too short for records of %d", options.SegmentBytes, options.RecordBytes)
	}
	listed, err := files.List(ctx)
	if err != nil {
		return nil, err
	}
	there, err := sort(listed)
	if err != nil {
		return nil, err
	}
	state, err := there.recover(ctx, files, options)
	if err != nil {
		return nil, err
	}
	return start(ctx, files, options, there, state)
}

// LastSnapshot gives the name of the last snapshot, of those of all files; an empty one if there is none.
func LastSnapshot(names []string) string {
	var last string
	for _, name := range names {
		if _, isOne := parseName(snapshotPrefix, name); isOne && name > last {
			last = name
		}
	}
	return last
}

// IsSnapshot says whether a name is that of a snapshot, or of one that is being written.
func IsSnapshot(name string) bool {
	_, isOne := parseName(snapshotPrefix, strings.TrimSuffix(name, newSuffix))
	return isOne
}

// contents are the files of a directory by what they are.
type contents struct {
	segments  map[uint64]Listed
	snapshots map[uint64]Listed
	// unfinished are names of what nobody has come to the end of.
	unfinished []string
}

// sort refuses what is no directory of a file system.
func sort(listed []Listed) (contents, error) {
	there := contents{segments: make(map[uint64]Listed), snapshots: make(map[uint64]Listed)}
	for _, each := range listed {
		finished, isUnfinished := strings.CutSuffix(each.Name, newSuffix)
		segment, isSegment := parseName(segmentPrefix, finished)
		snapshot, isSnapshot := parseName(snapshotPrefix, finished)
		switch {
		case !isSegment && !isSnapshot:
			return there, fmt.Errorf("%s is no part of a mounted file system: mount another directory, or remove it", each.Name)
		case isUnfinished:
			there.unfinished = append(there.unfinished, each.Name)
		case isSegment:
			there.segments[segment] = each
		default:
			there.snapshots[snapshot] = each
		}
	}
	if len(there.snapshots) == 0 && len(there.segments) > 0 {
		return there, fmt.Errorf("%w: there are segments, and no snapshot", ErrCorrupt)
	}
	return there, nil
}

// recovered is what was there, and where the log goes on.
type recovered struct {
	*tables
	sequence uint64
	// next is a segment that was never there, snapshot the last that was; 0 if there was none.
	next, snapshot uint64
}

func (c contents) recover(ctx context.Context, files Files, options Options) (recovered, error) {
	if len(c.snapshots) == 0 {
		return recovered{tables: newTables(options.UID, options.GID, options.Now().UnixNano()), next: 1}, nil
	}
	number := slices.Max(slices.Collect(maps.Keys(c.snapshots)))
	text, err := readWhole(ctx, files, c.snapshots[number])
	if err != nil {
		return recovered{}, err
	}
	from, err := parseSnapshot(text)
	if err != nil {
		return recovered{}, fmt.Errorf("%w: %s: %w", ErrCorrupt, snapshotName(number), err)
	}
	replayed := replay{tables: from.tables, sequence: from.sequence}
	next, err := replayed.all(ctx, files, from.next, c.segments)
	if err != nil {
		return recovered{}, err
	}
	if replayed.cutBytes > 0 {
		options.Logger.Info("what was not synced is cut off", "segment", segmentName(next-1), "bytes", replayed.cutBytes)
	}
	for _, each := range from.nameless() {
		from.drop(each)
	}
	lengths := make(map[uint64]int64)
	for number, each := range c.segments {
		lengths[number] = each.Length
	}
	if wrong, isWrong := from.mustBeIn(lengths); isWrong {
		return recovered{}, fmt.Errorf("%w: a part of the file %d is not in %s", ErrCorrupt, wrong.inode, segmentName(wrong.segment))
	}
	return recovered{tables: from.tables, sequence: replayed.sequence, next: next, snapshot: number}, nil
}

func readWhole(ctx context.Context, files Files, listed Listed) ([]byte, error) {
	reader, err := files.Open(ctx, listed.Name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", listed.Name, err)
	}
	defer reader.Close()
	text := make([]byte, listed.Length)
	const most = 4 << 20
	for begin := 0; begin < len(text); begin += most {
		if err := reader.ReadAt(ctx, text[begin:min(begin+most, len(text))], int64(begin)); err != nil {
			return nil, fmt.Errorf("read %s: %w", listed.Name, err)
		}
	}
	return text, nil
}

// start notes what was recovered in a snapshot: nothing of the log before is read again, so that what was cut off of it
// stays cut off.
func start(ctx context.Context, files Files, options Options, there contents, state recovered) (*FileSystem, error) {
	taken := snapshot{tables: state.tables, sequence: state.sequence, next: state.next}
	if err := install(ctx, files, state.snapshot+1, taken.encode()); err != nil {
		return nil, err
	}
	f := &FileSystem{
		files: files, options: options, logger: options.Logger, tender: newTender(), tables: state.tables,
		log: newLog(files, options, state.sequence, state.next), segments: make(map[uint64]*segment),
		snapshot: state.snapshot + 1, next: state.next,
	}
	f.ctx, f.end = context.WithCancel(context.Background())
	if err := f.tidy(ctx, there); err != nil {
		f.end()
		return nil, err
	}
	f.head = f.log.head()
	f.segments[f.head.number] = f.head
	f.background.Go(func() { f.log.run(f.ctx) })
	f.background.Go(func() {
		f.tender.run(f.tend, func(err error) { f.logger.Warn("the log of a mount could not be cleaned", "error", err) })
	})
	return f, nil
}

// tidy removes what nobody needs any more, and notes the segments that are left.
func (f *FileSystem) tidy(ctx context.Context, there contents) error {
	names := there.unfinished
	for number := range there.snapshots {
		names = append(names, snapshotName(number))
	}
	for number, each := range there.segments {
		if f.tables.live[number] == 0 {
			names = append(names, each.Name)
			continue
		}
		f.segments[number] = &segment{number: number, length: each.Length}
		f.endedBytes += each.Length
	}
	for _, name := range names {
		if err := f.files.Remove(ctx, name); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	return nil
}
