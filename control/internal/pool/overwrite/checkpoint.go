package overwrite

import "context"

// writeSnapshot has the tables on the disks, and forgets the log before.
func (f *FileSystem) writeSnapshot() error {
	if err := f.log.room(); err != nil {
		return err
	}
	taken := f.takeSnapshot()
	text := taken.encode()
	// It must not know of what a crash would take away.
	if err := f.log.sync(taken.sequence); err != nil {
		return err
	}
	former := f.snapshot
	if err := install(f.ctx, f.files, former+1, text); err != nil {
		return err
	}
	f.mutex.Lock()
	f.snapshot, f.next = former+1, taken.next
	f.mutex.Unlock()
	return f.files.Remove(f.ctx, snapshotName(former))
}

func (f *FileSystem) takeSnapshot() snapshot {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	begun, last := f.log.cut()
	f.goOnIn(begun)
	return snapshot{tables: f.tables.copied(), sequence: last, next: begun.number}
}

// install writes a snapshot so that it is there as a whole, or not at all.
func install(ctx context.Context, files Files, number uint64, text []byte) error {
	name := snapshotName(number)
	file, err := files.Create(ctx, name+newSuffix)
	if err != nil {
		return err
	}
	defer file.Close()
	const most = 1 << 20
	for len(text) > 0 {
		part := text[:min(len(text), most)]
		if err := file.Append(ctx, part); err != nil {
			return err
		}
		text = text[len(part):]
	}
	if err := file.Seal(ctx); err != nil {
		return err
	}
	return files.Rename(ctx, name+newSuffix, name)
}
