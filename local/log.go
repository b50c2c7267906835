package main

import (
	"io"
	"log/slog"
	"slices"
	"time"
)

// The forms of the log.
const (
	logShort = "short" // a line that a person reads in a terminal
	logJSON  = "json"  // everything, for programs
)

// newLog returns the log in the form. In the short one, times are those of the day and lines about what went well lack what only
// programs look for.
func newLog(form string, out io.Writer) *slog.Logger {
	if form == logJSON {
		return slog.New(slog.NewJSONHandler(out, nil))
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: shorten}))
}

// longAttributes are those that the short form leaves out: a request is known by its method and path.
var longAttributes = []string{"requestId", "operation", "user"}

func shorten(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case slices.Contains(longAttributes, a.Key), a.Key == slog.LevelKey && a.Value.Any() == slog.LevelInfo:
		return slog.Attr{}
	case a.Key == slog.TimeKey:
		return slog.String(slog.TimeKey, a.Value.Time().Format(time.TimeOnly))
	case a.Value.Kind() == slog.KindDuration:
		return slog.String(a.Key, a.Value.Duration().Round(10*time.Microsecond).String())
	}
	return a
}
