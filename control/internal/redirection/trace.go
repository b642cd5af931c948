// Package redirection finds the settings of SSD Write Redirect for two devices and a trace of writes: it
// replays the trace on a model of both devices, and takes the settings with which the fast one answers best.
//
// Source: SSD Write Redirect (SoCC 2019), algorithm 1, with its flags the other way round, as its text has
// them.
package redirection

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"sluice.dev/control/internal/store"
)

// Write is a write of a trace.
type Write struct {
	// AtSeconds is when it was asked for, since the trace began.
	AtSeconds float64
	Bytes     float64
}

// Request is a write or a read of a trace.
type Request struct {
	Write
	IsRead bool
}

const (
	columnSeconds   = "seconds"
	columnOperation = "operation"
	columnBytes     = "bytes"
	operationWrite  = "write"
	operationRead   = "read"
)

// ReadTrace reads the writes of a trace, as ReadRequests does. A trace without writes is an error.
func ReadTrace(source io.Reader) ([]Write, error) {
	requests, err := ReadRequests(source)
	if err != nil {
		return nil, err
	}
	writes := Writes(requests)
	if len(writes) == 0 {
		return nil, store.Invalidf("the trace has no writes").WithHint("Writes have the operation %s.", operationWrite)
	}
	return writes, nil
}

// Writes are those of the requests.
func Writes(requests []Request) []Write {
	var writes []Write
	for _, request := range requests {
		if !request.IsRead {
			writes = append(writes, request.Write)
		}
	}
	return writes
}

// ReadRequests reads a trace: CSV with the columns seconds, operation (read or write) and bytes, its rows by
// time. Errors are of code store.CodeInvalid and name the line.
func ReadRequests(source io.Reader) ([]Request, error) {
	rows := csv.NewReader(source)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil || !slices.Equal(header, []string{columnSeconds, columnOperation, columnBytes}) {
		return nil, store.Invalidf("the trace does not begin with the line %s,%s,%s",
			columnSeconds, columnOperation, columnBytes).WithHint("docs/policies/redirect.md describes traces.")
	}
	var requests []Request
	last := 0.0
	for line := 2; ; line++ {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return requests, nil
		}
		if err != nil {
			return nil, store.Invalidf("the trace cannot be read: %w", err)
		}
		request, err := parseRow(row, last)
		if err != nil {
			return nil, store.Invalidf("line %d of the trace: %w", line, err)
		}
		last = request.AtSeconds
		requests = append(requests, request)
	}
}

func parseRow(row []string, last float64) (Request, error) {
	at, err := parseNumber(row[0])
	if err != nil {
		return Request{}, fmt.Errorf("%s %w", columnSeconds, err)
	}
	if at < last {
		return Request{}, fmt.Errorf("%s is %v, before the line above", columnSeconds, at)
	}
	if row[1] != operationWrite && row[1] != operationRead {
		return Request{}, fmt.Errorf("%s is %q, neither %s nor %s", columnOperation, row[1], operationRead, operationWrite)
	}
	bytes, err := parseNumber(row[2])
	if err != nil {
		return Request{}, fmt.Errorf("%s %w", columnBytes, err)
	}
	return Request{Write{AtSeconds: at, Bytes: bytes}, row[1] == operationRead}, nil
}

func parseNumber(text string) (float64, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(number) || math.IsInf(number, 0) || number < 0 {
		return 0, fmt.Errorf("is %q, no number from 0 on", text)
	}
	return number, nil
}
