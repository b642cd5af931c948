package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// connectionCount is how many connections a plug-in must serve at the same time.
	connectionCount = 8
	// manyRequests are sent before any answer is read.
	manyRequests = 20
)

func connectionChecks() []check {
	return []check{
		{"answers-in-order", "Answer the requests of one connection in the order in which they came, also when they came at once.", checkOrder},
		{"several-connections", "Serve at least 8 connections at the same time: one on which nothing is asked must not hold up the others.", checkSeveral},
		{"half-closed", "Answer all requests that were sent before the client has closed its direction of the connection, then close it.", checkHalfClosed},
		{"unfinished-line", "Do nothing about what came without a newline before a connection ended.", checkUnfinished},
		{"abandoned-connections", "Go on when clients leave without waiting for their answers.", checkAbandoned},
	}
}

// sendRequests asks for snapshots, all at once, with ids from 0.
func (c *connection) sendRequests(count int) error {
	var lines bytes.Buffer
	for id := range count {
		line, err := request(id, "snapshot", members{})
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	_, err := c.Write(lines.Bytes())
	return err
}

// receiveInOrder reads the answers to sendRequests.
func (c *connection) receiveInOrder(count int) error {
	for id := range count {
		got, err := c.receive()
		if err != nil {
			return fmt.Errorf("answer %d of %d: %w", id+1, count, err)
		}
		if err := errors.Join(accepted(got, "snapshot"), sameJSON(got.id, id)); err != nil {
			return fmt.Errorf("answer %d of %d: %w", id+1, count, err)
		}
	}
	return nil
}

func checkOrder(ctx context.Context, s *subject) error {
	connection, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if err := connection.sendRequests(manyRequests); err != nil {
		return err
	}
	return connection.receiveInOrder(manyRequests)
}

func checkSeveral(ctx context.Context, s *subject) error {
	var open []*connection
	for range connectionCount {
		connection, err := s.dial(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = connection.Close() }()
		open = append(open, connection)
	}
	// From the last to the first: those before it are open and silent.
	for i := len(open) - 1; i >= 0; i-- {
		if err := open[i].exchangeAccepted(snapshotLine); err != nil {
			return fmt.Errorf("connection %d of %d: %w", i+1, len(open), err)
		}
	}
	return nil
}

func checkHalfClosed(ctx context.Context, s *subject) error {
	connection, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if err := errors.Join(connection.sendRequests(manyRequests), connection.CloseWrite()); err != nil {
		return err
	}
	if err := connection.receiveInOrder(manyRequests); err != nil {
		return err
	}
	return connection.expectEnd()
}

// expectEnd makes sure that the plug-in closes the connection.
func (c *connection) expectEnd() error {
	err := c.wait()
	if err == nil {
		_, err = io.Copy(io.Discard, c.reader)
	}
	if err != nil {
		return fmt.Errorf("the plug-in did not close the connection: %w", err)
	}
	return nil
}

func checkUnfinished(ctx context.Context, s *subject) error {
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	line, err := request(1, "set", given.first)
	if err != nil {
		return err
	}
	connection, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	_, err = connection.Write(line)
	if err := errors.Join(err, connection.CloseWrite(), connection.expectEnd()); err != nil {
		return err
	}
	left, err := s.leases(ctx)
	if err == nil && len(left) > 0 {
		err = errors.New("an order without a newline was obeyed")
	}
	return err
}

// checkAbandoned leaves connections one after the other. On another one as many answers are waited for
// meanwhile, so that the plug-in has the time to notice, and to fail over it.
func checkAbandoned(ctx context.Context, s *subject) error {
	const rounds = 10
	for round := range rounds {
		abandoned, err := s.dial(ctx)
		if err != nil {
			return fmt.Errorf("after %d connections were abandoned: %w", round, err)
		}
		if err := errors.Join(abandoned.sendRequests(manyRequests), abandoned.Close()); err != nil {
			return err
		}
		if err := checkOrder(ctx, s); err != nil {
			return fmt.Errorf("after %d connections were abandoned: %w", round+1, err)
		}
	}
	return nil
}
