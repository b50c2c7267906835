package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/grpc/assayv1"
	"assay/shared/computation/measure"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/runview"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// runService implements RunService. Callers see the same runs and members as over HTTP (functions/runs).
type runService struct {
	assayv1.UnimplementedRunServiceServer
	env     Env
	watched *watchedRuns
	watches openCalls
}

// viewer returns the caller's view of the store.
func (s *runService) viewer(ctx context.Context) *visibility.Viewer {
	return &visibility.Viewer{Store: s.env.Store, Caller: callerOf(ctx), Consistency: store.Eventual}
}

func (s *runService) GetRun(ctx context.Context, in *assayv1.GetRunRequest) (*assayv1.GetRunResponse, error) {
	mask, fields := checkMask(in.GetReadMask())
	if err := problem.Check(append(checkID("/run_id", in.GetRunId()), fields...)); err != nil {
		return nil, err
	}
	v := s.viewer(ctx)
	r, roles, err := visibility.Get[record.RunItem](ctx, v, in.GetRunId(), record.RunKey)
	if err != nil {
		return nil, err
	}
	reader := runview.Reader{Viewer: v, Now: s.env.Now()}
	shown, err := reader.ShowWithLinks(ctx, s.env.Files, r, roles)
	if err != nil {
		return nil, err
	}
	if err := v.ResolvePeople(ctx, shown.People()); err != nil {
		return nil, err
	}
	out := protoRun(shown)
	mask.apply(out)
	return &assayv1.GetRunResponse{Run: out}, nil
}

func (s *runService) ListRuns(ctx context.Context, in *assayv1.ListRunsRequest) (*assayv1.ListRunsResponse, error) {
	f, mask, cursor, err := checkList(in)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(int(in.GetPageSize()), page.DefaultLimit)
	v := s.viewer(ctx)
	out, size := &assayv1.ListRunsResponse{}, 0
	people := map[*assayv1.Run]*record.Person{}
	reader := runview.Reader{Viewer: v, Now: s.env.Now()}
	next, err := reader.List(ctx, f, cursor, min(limit, page.MaxLimit), func(r record.Run) (full bool, err error) {
		run := protoRun(r)
		mask.apply(run)
		if run.GetUser() != nil {
			people[run] = r.User
		}
		out.Runs = append(out.Runs, run)
		size += proto.Size(run)
		return size >= page.MaxBytes, nil
	})
	if problem.InvalidCursor.Is(err) {
		return nil, problem.InvalidMember("/page_token", "names a run that is no longer in the list: begin again without one")
	}
	if err != nil {
		return nil, err
	}
	if err := v.ResolvePeople(ctx, slices.Collect(maps.Values(people))); err != nil {
		return nil, err
	}
	for run, p := range people {
		run.User = protoPerson(p)
		mask.apply(run)
	}
	if next != "" {
		out.NextPageToken = pageToken(in, next)
	}
	return out, nil
}

func checkID(pointer, id string) (fields problem.Fields) {
	fields.AddIf(!record.IsID(id), pointer, "must be a ULID")
	return fields
}

// checkList returns the filter, the mask, and the id of the first run of the page.
func checkList(in *assayv1.ListRunsRequest) (f runview.Filter, m mask, cursor string, err error) {
	m, fields := checkMask(in.GetReadMask())
	for _, member := range []struct {
		pointer, id string
		to          *[]string
	}{
		{"/task_id", in.GetTaskId(), &f.TaskIDs}, {"/dataset_id", in.GetDatasetId(), &f.DatasetIDs},
		{"/submission_id", in.GetSubmissionId(), &f.SubmissionIDs}, {"/user_id", in.GetUserId(), &f.UserIDs},
	} {
		if member.id != "" {
			fields = append(fields, checkID(member.pointer, member.id)...)
			*member.to = []string{member.id}
		}
	}
	for i, s := range in.GetStates() {
		state, ok := keyOf(states, s)
		fields.AddIf(!ok, fmt.Sprintf("/states/%d", i), "must be a known state")
		f.States = append(f.States, state)
	}
	fields.AddIf(in.GetPageSize() < 0, "/page_size", "must not be negative")
	if token := in.GetPageToken(); token != "" {
		b, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil || len(b) < filterBytes || !record.IsID(string(b[filterBytes:])) || pageToken(in, string(b[filterBytes:])) != token {
			fields.Add("/page_token", "must be the next_page_token of an answer to the same request")
		} else {
			cursor = string(b[filterBytes:])
		}
	}
	return f, m, cursor, problem.Check(fields)
}

// filterBytes is the length of the digest of the filter in a page token.
const filterBytes = 8

// pageToken encodes the digest of the filter and the id of the first run of the next page.
func pageToken(in *assayv1.ListRunsRequest, next string) string {
	states := slices.Clone(in.GetStates())
	slices.Sort(states)
	sum := sha256.Sum256([]byte(strings.Join([]string{in.GetTaskId(), in.GetDatasetId(), in.GetSubmissionId(), in.GetUserId(),
		fmt.Sprint(states)}, "\x00")))
	return base64.RawURLEncoding.EncodeToString(append(sum[:filterBytes], next...))
}

// mask is a read mask (AIP-157): the selected fields, each with the mask of its own fields. A nil mask selects all fields.
type mask map[protoreflect.Name]mask

func checkMask(in *fieldmaskpb.FieldMask) (mask, problem.Fields) {
	if len(in.GetPaths()) == 0 || len(in.GetPaths()) == 1 && in.GetPaths()[0] == "*" {
		return nil, nil
	}
	m := mask{}
	for _, path := range in.GetPaths() {
		if one := (&fieldmaskpb.FieldMask{Paths: []string{path}}); !one.IsValid(&assayv1.Run{}) {
			return nil, []problem.Field{problem.NewField("/read_mask", "has %s, which is no field of a run", quote(path))}
		}
		m.add(strings.Split(path, "."))
	}
	return m, nil
}

func (m mask) add(path []string) {
	name := protoreflect.Name(path[0])
	if _, there := m[name]; !there {
		m[name] = mask{}
	}
	if len(path) == 1 {
		m[name] = nil // the whole field
	} else if m[name] != nil {
		m[name].add(path[1:])
	}
}

// apply clears the fields of the run that are not selected.
func (m mask) apply(run *assayv1.Run) { m.clear(run.ProtoReflect()) }

func (m mask) clear(msg protoreflect.Message) {
	if m == nil {
		return
	}
	msg.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		sub, selected := m[f.Name()]
		switch {
		case !selected:
			msg.Clear(f)
		case sub != nil:
			sub.clear(v.Message())
		}
		return true
	})
}

// states maps each state of a run to its form in the protocol.
var states = map[record.RunState]assayv1.RunState{
	record.AwaitingUpload: assayv1.RunState_RUN_STATE_AWAITING_UPLOAD,
	record.Queued:         assayv1.RunState_RUN_STATE_QUEUED,
	record.Running:        assayv1.RunState_RUN_STATE_RUNNING,
	record.Evaluating:     assayv1.RunState_RUN_STATE_EVALUATING,
	record.Completed:      assayv1.RunState_RUN_STATE_COMPLETED,
	record.Failed:         assayv1.RunState_RUN_STATE_FAILED,
	record.Cancelled:      assayv1.RunState_RUN_STATE_CANCELLED,
}

// keyOf returns the key of the value in a table.
func keyOf[K, V comparable](table map[K]V, value V) (key K, found bool) {
	for k, v := range table {
		if v == value {
			return k, true
		}
	}
	return key, false
}

// protoRun converts a run as a caller sees it.
func protoRun(r record.Run) *assayv1.Run {
	return &assayv1.Run{
		Id: r.ID, SubmissionId: r.SubmissionID, TaskId: r.TaskID, DatasetId: r.DatasetID, UserId: r.UserID, Team: r.Team,
		Alias: r.Alias, RegistrationId: r.RegistrationID,
		Label: r.Label, Final: r.Final, State: states[r.State], Attempts: int32(r.Attempts), EvaluationId: r.EvaluationID, Version: r.Version,
		User: protoPerson(r.User), CreateTime: timestamppb.New(r.CreatedAt.Time), QueueTime: protoTime(r.QueuedAt),
		StartTime: protoTime(r.StartedAt), FinishTime: protoTime(r.FinishedAt),
		LogTail: r.LogTail, Log: protoFile(r.ExecutionLog), EvaluationLogTail: r.EvaluationLogTail, EvaluationLog: protoFile(r.EvaluationLog),
		Files: protoFiles(r.Files), Diagnostics: lists.Map(r.Diagnostics, protoDiagnostic),
	}
}

func protoPerson(p *record.Person) *assayv1.Person {
	if p == nil {
		return nil
	}
	return &assayv1.Person{Id: p.ID, Name: p.Name, Email: p.Email}
}

func protoTime(at *record.Instant) *timestamppb.Timestamp {
	if at == nil {
		return nil
	}
	return timestamppb.New(at.Time)
}

func protoFile(f *record.File) *assayv1.File {
	if f == nil {
		return nil
	}
	return &assayv1.File{Name: f.Name, Size: f.Size, Sha256: f.SHA256, MediaType: f.MediaType, Stored: f.State == record.FileStored,
		Url: f.URL}
}

func protoFiles(list []record.File) []*assayv1.File {
	return lists.Map(list, func(f record.File) *assayv1.File { return protoFile(&f) })
}

func protoDiagnostic(d measure.Diagnostic) *assayv1.Diagnostic {
	severity, _ := keyOf(severities, d.Severity)
	return &assayv1.Diagnostic{Severity: severity, File: d.File, Line: int32(min(d.Line, 1<<31-1)), Message: d.Message,
		Lines: d.Lines, Count: int32(min(d.Count, 1<<31-1))}
}
