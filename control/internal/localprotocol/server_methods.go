package localprotocol

import (
	"context"
	"encoding/json"

	"sluice.dev/control/internal/store"
)

// readParams validates the params of a method before anything is done with them.
func readParams[Params any](method string, text json.RawMessage) (Params, error) {
	var params Params
	if err := Validate(method+"-params", text); err != nil {
		return params, NewError(NumberInvalid, method+": "+err.Error(),
			"docs/local-protocol.md lists the params of each method.")
	}
	if err := json.Unmarshal(text, &params); err != nil {
		return params, NewError(NumberInvalid, method+": "+err.Error(), "")
	}
	return params, nil
}

func (s *Server) describe(ctx context.Context, text json.RawMessage) (any, error) {
	if err := checkClientVersion(text); err != nil {
		return nil, err
	}
	if _, err := readParams[describeParams](methodDescribe, text); err != nil {
		return nil, err
	}
	description, err := s.handler.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return newDescribeResult(description), nil
}

// checkClientVersion comes before the schema, which may be another one in another version.
func checkClientVersion(text json.RawMessage) error {
	var params map[string]any
	if json.Unmarshal(text, &params) != nil {
		return nil
	}
	client, readable := versionIn(params)
	if readable && client.Major != CurrentVersion().Major {
		return incompatible(CurrentVersion(), client)
	}
	return nil
}

func (s *Server) snapshot(ctx context.Context, text json.RawMessage) (any, error) {
	if _, err := readParams[snapshotParams](methodSnapshot, text); err != nil {
		return nil, err
	}
	snapshot, err := s.handler.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return newSnapshotResult(snapshot), nil
}

func (s *Server) set(ctx context.Context, text json.RawMessage) (any, error) {
	params, err := readParams[orderParams](methodSet, text)
	if err != nil {
		return nil, err
	}
	given, err := s.handler.Set(ctx, params.order())
	if err != nil {
		return nil, err
	}
	return setResult{Lease: newLease(given)}, nil
}

func (s *Server) clear(ctx context.Context, text json.RawMessage) (any, error) {
	params, err := readParams[clearParams](methodClear, text)
	if err != nil {
		return nil, err
	}
	cleared, err := s.handler.Clear(ctx, store.Selection(params))
	if err != nil {
		return nil, err
	}
	return clearResult{Cleared: newCount(uint64(cleared))}, nil
}

func (s *Server) start(ctx context.Context, text json.RawMessage) (any, error) {
	params, err := readParams[orderParams](methodStart, text)
	if err != nil {
		return nil, err
	}
	if err := s.handler.Start(ctx, params.order()); err != nil {
		return nil, err
	}
	return startResult{}, nil
}

func (s *Server) abort(ctx context.Context, text json.RawMessage) (any, error) {
	params, err := readParams[abortParams](methodAbort, text)
	if err != nil {
		return nil, err
	}
	if err := s.handler.Abort(ctx, store.Abortion(params)); err != nil {
		return nil, err
	}
	return abortResult{}, nil
}
