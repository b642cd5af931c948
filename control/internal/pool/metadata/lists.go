package metadata

import (
	"context"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// limitOf is that of a page; below 0 is none that a message could have.
func limitOf[K any](page entry.Page[K]) uint32 {
	return uint32(min(max(page.Limit, 0), entry.MaxPageEntries))
}

func decodeList[M, T any](messages []M, decode func(M) (T, error)) ([]T, error) {
	var values []T
	for _, encoded := range messages {
		value, err := decode(encoded)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// Volumes gives a page of the names of volumes, in their order, and whether there are more.
func (c *Client) Volumes(ctx context.Context, page entry.Page[string]) (names []string, more bool, err error) {
	response, err := call(ctx, c, &sluicev1.ListVolumesRequest{After: page.After, Limit: limitOf(page)},
		sluicev1.PoolMetadataServiceClient.ListVolumes)
	return response.GetVolumes(), response.GetMore(), err
}

// Stat gives the file at a path, nil for a directory.
func (c *Client) Stat(ctx context.Context, volume, path string) (*entry.File, error) {
	response, err := call(ctx, c, &sluicev1.StatPathRequest{Volume: volume, Path: path}, sluicev1.PoolMetadataServiceClient.StatPath)
	if err != nil || response.GetFile() == nil {
		return nil, err
	}
	file, err := message.DecodeFile(response.GetFile())
	return &file, err
}

// Directory gives a page of what is in a directory, in the order of the names, and whether there is more.
func (c *Client) Directory(ctx context.Context, volume, path string, page entry.Page[string]) (names []entry.Name, more bool, err error) {
	response, err := call(ctx, c, &sluicev1.ListDirectoryRequest{Volume: volume, Path: path, After: page.After, Limit: limitOf(page)},
		sluicev1.PoolMetadataServiceClient.ListDirectory)
	if err != nil {
		return nil, false, err
	}
	names, err = decodeList(response.GetEntries(), func(encoded *sluicev1.DirectoryEntry) (entry.Name, error) {
		if encoded.GetFile() == nil {
			return entry.Name{Name: encoded.GetName()}, entry.CheckName(encoded.GetName())
		}
		file, err := message.DecodeFile(encoded.GetFile())
		return entry.Name{Name: encoded.GetName(), File: &file}, err
	})
	return names, response.GetMore(), err
}

// OpenFiles gives a page of the files below a directory that are not sealed, in the order of their ids, and whether
// there are more.
func (c *Client) OpenFiles(
	ctx context.Context, volume, path string, page entry.Page[*entry.FileID],
) (files []entry.OpenFile, more bool, err error) {
	request := &sluicev1.ListOpenFilesRequest{Volume: volume, Path: path, AfterFileId: message.EncodeFileID(page.After), Limit: limitOf(page)}
	response, err := call(ctx, c, request, sluicev1.PoolMetadataServiceClient.ListOpenFiles)
	if err != nil {
		return nil, false, err
	}
	files, err = decodeList(response.GetFiles(), func(encoded *sluicev1.OpenFile) (entry.OpenFile, error) {
		file, err := message.DecodeFile(encoded.GetFile())
		return entry.OpenFile{Path: encoded.GetPath(), File: file}, err
	})
	return files, response.GetMore(), err
}

// AllOpenFiles gives the files below a directory that are not sealed.
func (c *Client) AllOpenFiles(ctx context.Context, volume, path string) ([]entry.OpenFile, error) {
	var all []entry.OpenFile
	var page entry.Page[*entry.FileID]
	for {
		files, more, err := c.OpenFiles(ctx, volume, path, page)
		all = append(all, files...)
		if err != nil || !more || len(files) == 0 {
			return all, err
		}
		page.After = &files[len(files)-1].File.ID
	}
}

// Leases gives a page of the leases of a volume, in the order of their paths, and whether there are more.
func (c *Client) Leases(ctx context.Context, volume string, page entry.Page[string]) (leases []entry.Lease, more bool, err error) {
	response, err := call(ctx, c, &sluicev1.ListSubtreeLeasesRequest{Volume: volume, After: page.After, Limit: limitOf(page)},
		sluicev1.PoolMetadataServiceClient.ListSubtreeLeases)
	if err != nil {
		return nil, false, err
	}
	leases, err = decodeList(response.GetLeases(), message.DecodeLease)
	return leases, response.GetMore(), err
}

// FilesOn gives a page of the files that have a part on a server, in the order of their ids, and whether there are more.
func (c *Client) FilesOn(ctx context.Context, server string, page entry.Page[*entry.FileID]) (files []entry.File, more bool, err error) {
	request := &sluicev1.ListFilesOnServerRequest{Server: server, AfterFileId: message.EncodeFileID(page.After), Limit: limitOf(page)}
	response, err := call(ctx, c, request, sluicev1.PoolMetadataServiceClient.ListFilesOnServer)
	if err != nil {
		return nil, false, err
	}
	files, err = decodeList(response.GetFiles(), message.DecodeFile)
	return files, response.GetMore(), err
}

// Files gives a page of all files, in the order of their ids, and whether there are more.
func (c *Client) Files(ctx context.Context, page entry.Page[*entry.FileID]) (files []entry.File, more bool, err error) {
	return c.FilesOn(ctx, "", page)
}

// File gives the file of an id, whatever its paths, nil if there is none.
func (c *Client) File(ctx context.Context, id entry.FileID) (*entry.File, error) {
	files, _, err := c.Files(ctx, entry.Page[*entry.FileID]{After: before(id), Limit: 1})
	if err != nil || len(files) == 0 || files[0].ID != id {
		return nil, err
	}
	return &files[0], nil
}

// before is the greatest id that is less than one; nil if there is none.
func before(id entry.FileID) *entry.FileID {
	for i := len(id) - 1; i >= 0; i-- {
		id[i]--
		if id[i] != 0xff {
			return &id
		}
	}
	return nil
}

// Removals gives a page of the files whose blocks may still be there, in the order of their ids, and whether there are
// more.
func (c *Client) Removals(ctx context.Context, page entry.Page[*entry.FileID]) (removals []entry.Removal, more bool, err error) {
	request := &sluicev1.ListRemovalsRequest{AfterFileId: message.EncodeFileID(page.After), Limit: limitOf(page)}
	response, err := call(ctx, c, request, sluicev1.PoolMetadataServiceClient.ListRemovals)
	if err != nil {
		return nil, false, err
	}
	removals, err = decodeList(response.GetRemovals(), message.DecodeRemoval)
	return removals, response.GetMore(), err
}
