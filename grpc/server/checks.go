package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"assay/grpc/assayv1"
	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/queue"
)

// Limits of requests from workers.
const (
	maxWait             = time.Minute
	maxPools            = 10
	maxHeartbeatLines   = 1000
	maxHeartbeatBytes   = 256 << 10
	maxNameBytes        = 200
	maxDiagnostic       = 2000     // characters of a diagnostic
	maxDiagnosticsBytes = 64 << 10 // bytes of all diagnostics of one call
)

// quote quotes and shortens a text from a request for use in an answer.
func quote(s string) string {
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return strconv.Quote(s)
}

// leasedRequest is a request that names a lease.
type leasedRequest interface {
	GetRunId() string
	GetLeaseId() string
}

func checkLeaseRef(ctx context.Context, in leasedRequest) (queue.LeaseRef, problem.Fields) {
	var fields problem.Fields
	for pointer, id := range map[string]string{"/run_id": in.GetRunId(), "/lease_id": in.GetLeaseId()} {
		fields.AddIf(!record.IsID(id), pointer, "must be the ULID that Lease gave")
	}
	return queue.LeaseRef{RunID: in.GetRunId(), LeaseID: in.GetLeaseId(), UserID: leaseIdentity(callerOf(ctx))}, fields
}

// checkLease returns the demands of a worker and the duration that it waits. A token with pools restricts the worker to those pools.
func checkLease(in *assayv1.LeaseRequest, token *access.Token) (wants []demand, wait time.Duration, err error) {
	fields := record.CheckHolder("/worker", in.GetWorker())
	pools := in.GetPools()
	works := []record.Work{record.ExecuteImage, record.Evaluate}
	only := cmp.Or(token, new(access.Token)).Pools // empty: all pools
	if len(pools) == 0 {
		pools = only
	}
	if len(pools) == 0 {
		pools = []string{record.DefaultPool}
	}
	if len(pools) > maxPools {
		fields.Add("/pools", "has %d pools; at most %d are allowed", len(pools), maxPools)
		pools = nil
	}
	for i, p := range pools {
		fields.AddIf(!record.IsPool(p), fmt.Sprintf("/pools/%d", i),
			"must be the name of a pool: up to 50 lower-case letters, digits and hyphens, for one of an organizer behind its id and a slash")
		fields.AddIf(len(only) > 0 && !slices.Contains(only, p), fmt.Sprintf("/pools/%d", i),
			"is none of the pools of this access token, which are %s", strings.Join(only, ", "))
	}
	if len(in.GetKinds()) > 0 {
		works = nil
	}
	for i, k := range in.GetKinds() {
		w, ok := keyOf(kinds, k)
		fields.AddIf(!ok, fmt.Sprintf("/kinds/%d", i), "must be a known kind of work")
		works = append(works, w)
	}
	if d := in.GetWait(); d != nil {
		wait = d.AsDuration()
		fields.AddIf(d.CheckValid() != nil || wait < 0 || wait > maxWait, "/wait", "must be from 0 to %v", maxWait)
	}
	for _, p := range pools {
		for _, w := range works {
			if d := (demand{p, w}); !slices.Contains(wants, d) {
				wants = append(wants, d)
			}
		}
	}
	return wants, wait, problem.Check(fields)
}

// streams maps each stream of output to its stored name.
var streams = map[assayv1.Stream]string{
	assayv1.Stream_STREAM_STDOUT: record.StreamStdout,
	assayv1.Stream_STREAM_STDERR: record.StreamStderr,
	assayv1.Stream_STREAM_WORKER: record.StreamWorker,
}

func checkLines(in *assayv1.HeartbeatRequest) ([]record.LogLine, problem.Fields) {
	var fields problem.Fields
	fields.AddIf(in.GetFirstLine() < 0, "/first_line", "must not be negative")
	if n := len(in.GetLines()); n > maxHeartbeatLines {
		fields.Add("/lines", "has %d lines; at most %d go in one call", n, maxHeartbeatLines)
		return nil, fields
	}
	var lines []record.LogLine
	size := 0
	for i, l := range in.GetLines() {
		stream, ok := streams[l.GetStream()]
		if !ok {
			fields.Add(fmt.Sprintf("/lines/%d/stream", i), "must be STREAM_STDOUT, STREAM_STDERR or STREAM_WORKER")
		}
		size += len(l.GetText())
		lines = append(lines, record.LogLine{Stream: stream, Text: l.GetText()})
	}
	fields.AddIf(size > maxHeartbeatBytes, "/lines", "has %s; at most %s go in one call", problem.Size(size),
		problem.Size(maxHeartbeatBytes))
	return lines, fields
}

// checkOutputs returns the declared files of an output, without their states.
func checkOutputs(in *assayv1.CompleteRunRequest) ([]record.File, problem.Fields) {
	if n := len(in.GetFiles()); n == 0 || n > record.MaxFiles {
		return nil, problem.Fields{problem.NewField("/files", "has %d files; an output has 1 to %d", n, record.MaxFiles)}
	}
	files := lists.Map(in.GetFiles(), func(f *assayv1.File) record.File {
		return record.File{Name: f.GetName(), Size: f.GetSize(), SHA256: f.GetSha256(), MediaType: f.GetMediaType()}
	})
	fields := record.CheckLengths("/files", files)
	_, more := record.CheckFiles(record.In("/files"), files, nil)
	return files, append(fields, more...)
}

// severities maps each severity of the protocol to its stored form.
var severities = map[assayv1.Diagnostic_Severity]measure.Severity{
	assayv1.Diagnostic_SEVERITY_ERROR:   measure.Error,
	assayv1.Diagnostic_SEVERITY_WARNING: measure.Warning,
}

func checkDiagnostics(pointer string, in []*assayv1.Diagnostic) ([]measure.Diagnostic, problem.Fields) {
	if len(in) > measure.MaxDiagnostics {
		return nil, problem.Fields{
			problem.NewField(pointer, "has %d diagnostics; a run keeps at most %d", len(in), measure.MaxDiagnostics)}
	}
	var fields problem.Fields
	var all []measure.Diagnostic
	size := 0
	for i, d := range in {
		size += len(d.GetMessage()) + len(d.GetFile())
		if size > maxDiagnosticsBytes {
			fields.Add(pointer, "have more than %s together; leave out the least useful", problem.Size(maxDiagnosticsBytes))
			break
		}
		at := fmt.Sprintf("%s/%d", pointer, i)
		n := utf8.RuneCountInString(d.GetMessage())
		severity, ok := severities[d.GetSeverity()]
		fields.AddIf(!ok, at+"/severity", "must be SEVERITY_ERROR or SEVERITY_WARNING")
		fields.AddIf(n == 0 || n > maxDiagnostic, at+"/message", "has %d characters; a diagnostic has 1 to %d", n, maxDiagnostic)
		fields.AddIf(len(d.GetFile()) > maxNameBytes, at+"/file", "has %s; at most %s are allowed",
			problem.Size(len(d.GetFile())), problem.Size(maxNameBytes))
		fields.AddIf(d.GetLine() < 0, at+"/line", "must not be negative")
		// A message may end with the output of a participant's program, so invalid characters are replaced, not refused.
		all = append(all, measure.Diagnostic{Severity: severity, File: record.Line(d.GetFile()), Line: int(d.GetLine()),
			Message: record.Text(d.GetMessage()), SafeWhileBlinded: d.GetDiscreet()})
	}
	return measure.Grouped(all), fields
}
