package main

import (
	"io"
	"log/slog"
	"slices"
	"time"
)

// The forms of the log.
const (
	logShort = "short" // lines for people in a terminal
	logJSON  = "json"  // all attributes, for programs
)

// newLog returns a log in the form. In the short form, times have no date, and lines lack their level if it is INFO and attributes that
// only programs use.
func newLog(form string, out io.Writer) *slog.Logger {
	if form == logJSON {
		return slog.New(slog.NewJSONHandler(out, nil))
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: shorten}))
}

// longAttributes are the attributes that the short form leaves out. Method and path describe a request.
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
