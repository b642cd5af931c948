package replica

import (
	"context"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// newLogger has the library log as the agent does.
func newLogger(logger *slog.Logger) hclog.Logger {
	intercepting := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "raft", Level: hclog.Debug, Output: io.Discard})
	intercepting.RegisterSink(sink{logger})
	return intercepting
}

type sink struct{ logger *slog.Logger }

var levels = map[hclog.Level]slog.Level{
	hclog.Info: slog.LevelInfo, hclog.Warn: slog.LevelWarn, hclog.Error: slog.LevelError,
}

// Accept takes what the library logs; what is below its information is for who debugs.
func (s sink) Accept(name string, level hclog.Level, message string, attributes ...any) {
	at, known := levels[level]
	if !known {
		at = slog.LevelDebug
	}
	s.logger.Log(context.Background(), at, name+": "+message, attributes...)
}
