package main

import (
	"context"
	"errors"
	"io/fs"

	"assay/local/cli/client"
	"assay/local/cli/offline"
	"assay/shared/language/problem"
)

// Exit codes, which scripts rely on.
const (
	done        = 0
	failed      = 1
	fileRefused = 2
	outside     = 3
	runFailed   = 4
	waiting     = 5
	notSignedIn = 6
	notFound    = 7

	interrupted = 130
)

const exitHelp = `Exit codes: 0 done, 1 anything else, 2 a file was refused, 3 outside the window or the quota, 4 the run failed,
5 it is still waited for, 6 not signed in, 7 not found or not allowed, 130 interrupted.`

// refusal is an error with its exit code, and the command that solves the problem. The command is empty if the text names it.
type refusal struct {
	code       int
	text, heal string
}

func (r *refusal) Error() string { return r.text }

// login returns the command that signs in to the server. ASSAY_TOKEN would have precedence over the sign-in.
func (p *program) login() string {
	if p.getenv("ASSAY_TOKEN") != "" {
		return "unset ASSAY_TOKEN, and assay login " + p.server
	}
	return "assay login " + p.server
}

// refuse returns the refusal for an error of a command.
func (p *program) refuse(err error, command string) *refusal {
	r, known := errors.AsType[*refusal](err)
	_, refused := errors.AsType[*offline.Refused](err)
	path, unread := errors.AsType[*fs.PathError](err)
	text := err.Error()
	switch {
	case known:
		return r
	case !p.begun: // The error concerns an argument or a flag.
		return &refusal{failed, text, command + " --help"}
	case errors.Is(err, context.Canceled):
		return &refusal{interrupted, "interrupted", ""}
	case client.IsKind(err, problem.OutsideWindow, problem.QuotaExhausted, problem.QuotaToday):
		return &refusal{outside, text, ""}
	case client.IsKind(err, problem.InvalidToken) && p.getenv("ASSAY_TOKEN") != "": // ASSAY_TOKEN has precedence over sign-ins.
		return &refusal{notSignedIn, text, "unset ASSAY_TOKEN, or set it to a valid access token"}
	case client.IsKind(err, problem.Unauthorized, problem.InvalidToken):
		return &refusal{notSignedIn, text, "assay login " + p.server}
	case client.IsKind(err, problem.InsufficientScope):
		return &refusal{notFound, text, p.login()}
	case client.IsKind(err, problem.NotFound, problem.Forbidden) && p.known: // No command makes this user another one.
		return &refusal{notFound, text, ""}
	case client.IsKind(err, problem.NotFound, problem.Forbidden):
		return &refusal{notFound, text, p.login()}
	case refused, errors.Is(err, client.ErrRefused), unread && (path.Op == "open" || path.Op == "read"):
		return &refusal{fileRefused, text, ""}
	}
	return &refusal{failed, text, ""}
}
