package server

import (
	"encoding/base64"
	"fmt"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// logCount is the number of logs of a run. Arrays with an element for each log are in the order of record.LogKinds.
const logCount = 2

// position says how far a client has read a run. It grants no rights, so a forged one gains nothing.
type position struct {
	version int64           // of the run
	lines   [logCount]int64 // how many of each log
}

// token encodes the position as a resume token for the run.
func (p position) token(runID string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %d %d %d", runID, p.version, p.lines[0], p.lines[1]))
}

// parseToken decodes a resume token for the run, or returns what is wrong with it.
func parseToken(runID, token string) (p position, faults []problem.Field) {
	var tokenRun string
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "%s %d %d %d", &tokenRun, &p.version, &p.lines[0], &p.lines[1])
	}
	switch {
	case err != nil || p.version < 1 || slices.Min(p.lines[:]) < 0 || p.token(tokenRun) != token:
		return position{}, badToken("was not sent by the server")
	case tokenRun != runID:
		return position{}, badToken("belongs to another run")
	}
	return p, nil
}

// checkReached refuses a position that the run has not reached. It ignores logs that the caller may not read, because their
// length could reveal their content.
func (p position) checkReached(run *record.RunItem, sight record.Sight) []problem.Field {
	ahead := p.version > run.Version
	for i, k := range record.LogKinds {
		ahead = ahead || sight.ReadsLog(k) && p.lines[i] > lineCount(run, k)
	}
	if ahead {
		return badToken("names a position that the run has not reached")
	}
	return nil
}

// lineCount returns how many lines the log of the run has.
func lineCount(run *record.RunItem, k record.LogKind) int64 {
	state, _, _ := run.Log(k)
	return state.Lines
}

func badToken(fault string) []problem.Field {
	return []problem.Field{problem.NewField("/resume_token",
		"%s: send the token of the last message that you received, or none to begin again", fault)}
}
