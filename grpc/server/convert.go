package server

import (
	"assay/grpc/assayv1"
	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/record"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// states has the protocol's form of each state of a run.
var states = map[record.RunState]assayv1.RunState{
	record.AwaitingUpload: assayv1.RunState_RUN_STATE_AWAITING_UPLOAD,
	record.Queued:         assayv1.RunState_RUN_STATE_QUEUED,
	record.Running:        assayv1.RunState_RUN_STATE_RUNNING,
	record.Evaluating:     assayv1.RunState_RUN_STATE_EVALUATING,
	record.Completed:      assayv1.RunState_RUN_STATE_COMPLETED,
	record.Failed:         assayv1.RunState_RUN_STATE_FAILED,
	record.Cancelled:      assayv1.RunState_RUN_STATE_CANCELLED,
}

// keyOf returns the key of the value in a table, and whether there is one.
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
		Label: r.Label, State: states[r.State], Attempts: int32(r.Attempts), EvaluationId: r.EvaluationID, Version: r.Version,
		User: protoPerson(r.User), CreateTime: timestamppb.New(r.CreatedAt.Time), QueueTime: protoTime(r.QueuedAt),
		StartTime: protoTime(r.StartedAt), FinishTime: protoTime(r.FinishedAt),
		LogTail: r.LogTail, Log: protoFile(r.ExecutionLog), EvaluationLogTail: r.EvaluationLogTail, EvaluationLog: protoFile(r.EvaluationLog),
		Files:       lists.Map(r.Files, func(f record.File) *assayv1.File { return protoFile(&f) }),
		Diagnostics: lists.Map(r.Diagnostics, protoDiagnostic),
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

func protoDiagnostic(d measure.Diagnostic) *assayv1.Diagnostic {
	severity, _ := keyOf(severities, d.Severity)
	return &assayv1.Diagnostic{Severity: severity, File: d.File, Line: int32(min(d.Line, 1<<31-1)), Message: d.Message}
}
