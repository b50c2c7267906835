package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/problem"
)

// Exit codes, which scripts rely on.
const (
	done, failed, fileRefused, outside, runFailed, waiting, notSignedIn, notFound = 0, 1, 2, 3, 4, 5, 6, 7

	interrupted = 130
)

const exitHelp = `Exit codes: 0 done, 1 anything else, 2 a file was refused, 3 outside the window or the quota, 4 the run failed,
5 it is still waited for, 6 not signed in, 7 not found or not allowed, 130 interrupted.`

// refusal is an error with the exit code that goes with it, and the command that heals it; none where the text says it.
type refusal struct {
	code       int
	text, heal string
}

func (r *refusal) Error() string { return r.text }

func exitCode(err error) int {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.code
	}
	_, refused := errors.AsType[*offline.Refused](err)
	path, unread := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil:
		return done
	case client.IsKind(err, problem.OutsideWindow, problem.QuotaExhausted, problem.QuotaToday):
		return outside
	case client.IsKind(err, problem.Unauthorized, problem.InvalidToken):
		return notSignedIn
	case client.IsKind(err, problem.Forbidden, problem.InsufficientScope, problem.NotFound):
		return notFound
	case errors.Is(err, context.Canceled):
		return interrupted
	case refused, errors.Is(err, client.ErrRefused), unread && (path.Op == "open" || path.Op == "read"):
		return fileRefused
	}
	return failed
}

// explain says what went wrong in a command, and which one heals it.
func (p *program) explain(err error, command string) {
	r, _ := errors.AsType[*refusal](err)
	heal := cmp.Or(r, &refusal{}).heal
	switch {
	case !p.begun: // for an argument or a flag
		heal = command + " --help"
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	case client.IsKind(err, problem.InvalidToken) && p.getenv("ASSAY_TOKEN") != "": // which goes before any sign-in
		heal = "a valid access token in ASSAY_TOKEN, or none there and assay login " + p.server
	case client.IsKind(err, problem.Unauthorized, problem.InvalidToken):
		heal = "assay login " + p.server
	case client.IsKind(err, problem.InsufficientScope):
		heal = "assay login " + p.server + ", or an access token with more scopes"
	case client.IsKind(err, problem.NotFound, problem.Forbidden):
		heal = "assay login " + p.server + " as somebody who may"
	}
	fmt.Fprintln(p.errs, "assay:", printable(strings.TrimSpace(err.Error())))
	if heal != "" {
		fmt.Fprintln(p.errs, "Try:", printable(heal))
	}
}
