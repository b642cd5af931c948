package metadata

import (
	"context"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// read has a read see every change that was answered before, and gives its error as a status.
func read[T any](ctx context.Context, s *Server, get func() (*T, error)) (*T, error) {
	if err := s.replica.Verify(ctx); err != nil {
		return nil, message.Status(err)
	}
	response, err := get()
	return response, message.Status(err)
}

func encodeList[T, M any](values []T, encode func(T) M) []M {
	messages := make([]M, len(values))
	for i, value := range values {
		messages[i] = encode(value)
	}
	return messages
}

func page(after string, limit uint32) entry.Page[string] {
	return entry.Page[string]{After: after, Limit: int(limit)}
}

func pageOfFiles(after []byte, limit uint32) (entry.Page[*entry.FileID], error) {
	if len(after) == 0 {
		return entry.Page[*entry.FileID]{Limit: int(limit)}, nil
	}
	id, err := message.DecodeFileID(after)
	return entry.Page[*entry.FileID]{After: &id, Limit: int(limit)}, err
}

// ListVolumes lists the volumes.
func (s *Server) ListVolumes(ctx context.Context, request *sluicev1.ListVolumesRequest) (*sluicev1.ListVolumesResponse, error) {
	return read(ctx, s, func() (*sluicev1.ListVolumesResponse, error) {
		names, more := s.replica.State().Volumes(page(request.GetAfter(), request.GetLimit()))
		return &sluicev1.ListVolumesResponse{Volumes: names, More: more}, nil
	})
}

// StatPath tells what is at a path.
func (s *Server) StatPath(ctx context.Context, request *sluicev1.StatPathRequest) (*sluicev1.StatPathResponse, error) {
	return read(ctx, s, func() (*sluicev1.StatPathResponse, error) {
		file, err := s.replica.State().Stat(request.GetVolume(), request.GetPath())
		return &sluicev1.StatPathResponse{File: encodeFile(file)}, err
	})
}

func encodeFile(file *entry.File) *sluicev1.PoolFile {
	if file == nil {
		return nil
	}
	return message.EncodeFile(*file)
}

// ListDirectory lists what is in a directory.
func (s *Server) ListDirectory(ctx context.Context, request *sluicev1.ListDirectoryRequest) (*sluicev1.ListDirectoryResponse, error) {
	return read(ctx, s, func() (*sluicev1.ListDirectoryResponse, error) {
		names, more, err := s.replica.State().Directory(request.GetVolume(), request.GetPath(), page(request.GetAfter(), request.GetLimit()))
		return &sluicev1.ListDirectoryResponse{More: more, Entries: encodeList(names, func(name entry.Name) *sluicev1.DirectoryEntry {
			return &sluicev1.DirectoryEntry{Name: name.Name, File: encodeFile(name.File)}
		})}, err
	})
}

// ListOpenFiles lists the files below a directory that are not sealed.
func (s *Server) ListOpenFiles(ctx context.Context, request *sluicev1.ListOpenFilesRequest) (*sluicev1.ListOpenFilesResponse, error) {
	return read(ctx, s, func() (*sluicev1.ListOpenFilesResponse, error) {
		page, err := pageOfFiles(request.GetAfterFileId(), request.GetLimit())
		if err != nil {
			return nil, err
		}
		files, more, err := s.replica.State().OpenFiles(request.GetVolume(), request.GetPath(), page)
		return &sluicev1.ListOpenFilesResponse{More: more, Files: encodeList(files, func(open entry.OpenFile) *sluicev1.OpenFile {
			return &sluicev1.OpenFile{Path: open.Path, File: message.EncodeFile(open.File)}
		})}, err
	})
}

// ListSubtreeLeases lists the leases of a volume.
func (s *Server) ListSubtreeLeases(
	ctx context.Context, request *sluicev1.ListSubtreeLeasesRequest,
) (*sluicev1.ListSubtreeLeasesResponse, error) {
	return read(ctx, s, func() (*sluicev1.ListSubtreeLeasesResponse, error) {
		leases, more, err := s.replica.State().Leases(request.GetVolume(), page(request.GetAfter(), request.GetLimit()))
		return &sluicev1.ListSubtreeLeasesResponse{More: more, Leases: encodeList(leases, func(lease entry.Lease) *sluicev1.SubtreeLease {
			return message.EncodeLease(&lease)
		})}, err
	})
}

// ListFilesOnServer lists the files that have a part on a server.
func (s *Server) ListFilesOnServer(
	ctx context.Context, request *sluicev1.ListFilesOnServerRequest,
) (*sluicev1.ListFilesOnServerResponse, error) {
	return read(ctx, s, func() (*sluicev1.ListFilesOnServerResponse, error) {
		page, err := pageOfFiles(request.GetAfterFileId(), request.GetLimit())
		if err != nil {
			return nil, err
		}
		files, more := s.replica.State().FilesOn(request.GetServer(), page)
		return &sluicev1.ListFilesOnServerResponse{More: more, Files: encodeList(files, message.EncodeFile)}, nil
	})
}

// ListRemovals lists the files whose blocks may still be there.
func (s *Server) ListRemovals(ctx context.Context, request *sluicev1.ListRemovalsRequest) (*sluicev1.ListRemovalsResponse, error) {
	return read(ctx, s, func() (*sluicev1.ListRemovalsResponse, error) {
		page, err := pageOfFiles(request.GetAfterFileId(), request.GetLimit())
		if err != nil {
			return nil, err
		}
		removals, more := s.replica.State().Removals(page)
		return &sluicev1.ListRemovalsResponse{More: more, Removals: encodeList(removals, func(removal entry.Removal) *sluicev1.FileRemoval {
			return message.EncodeRemoval(&removal)
		})}, nil
	})
}

// GetMetadataStatus tells how this node stands, leader or not.
func (s *Server) GetMetadataStatus(
	context.Context, *sluicev1.GetMetadataStatusRequest,
) (*sluicev1.GetMetadataStatusResponse, error) {
	status := s.replica.Status()
	return &sluicev1.GetMetadataStatusResponse{
		Leader: status.Leader, Term: status.Term, AppliedIndex: status.AppliedIndex, Voters: status.Voters,
	}, nil
}
