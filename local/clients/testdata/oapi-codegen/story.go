// Program story is the story of ../../README.md with the client that oapi-codegen generates from the OpenAPI document.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	assay "story/client"

	"github.com/oapi-codegen/nullable"
)

var (
	ctx    = context.Background()
	base   = os.Getenv("ASSAY_URL")
	olivia = clientOf(os.Getenv("ASSAY_ORGANIZER"))
	tom    = clientOf(os.Getenv("ASSAY_PARTICIPANT"))
)

func clientOf(token string) *assay.ClientWithResponses {
	return must(assay.NewClientWithResponses(base, assay.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	})))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// answered returns the expected answer. It ends the program with the body if the answer is another.
func answered[T any](answer *T, body []byte) T {
	if answer == nil {
		log.Fatalf("%s", body)
	}
	return *answer
}

func refused(p *assay.Problem, body []byte) string {
	if p == nil {
		log.Fatalf("no such problem: %s", body)
	}
	return fmt.Sprint(p.Status, " ", p.Type)
}

func send(upload *assay.Upload, bytes string) {
	r := must(http.NewRequestWithContext(ctx, upload.Method, upload.Url, strings.NewReader(bytes)))
	for name, value := range upload.Headers {
		r.Header.Set(name, value)
	}
	resp := must(http.DefaultClient.Do(r))
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		log.Fatal("the upload got ", resp.Status)
	}
}

func digest(bytes string) *string { return new(fmt.Sprintf("%x", sha256.Sum256([]byte(bytes)))) }

func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

func main() {
	user := must(tom.UpdateCurrentUserWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, nil, assay.UserPatch{}))
	known := answered(user.JSON200, user.Body)
	fmt.Println("user:", known.Name, choose(known.Known, "is known", "is not known"))

	task := createTask()
	dataset := createDataset(task)
	changeTask(task)

	registration := must(tom.CreateRegistrationWithResponse(ctx, task, nil, assay.RegistrationDraft{Team: "Tom and friends"}))
	registered := answered(registration.JSON201, registration.Body)
	fmt.Println("registration:", registered.Team, registered.State)

	submit(task, dataset, "near", "1 Q0 lake 1 2.0 tom\n1 Q0 pond 2 1.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n")
	worse := submit(task, dataset, "far", "1 Q0 pond 1 2.0 tom\n1 Q0 lake 2 1.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n")
	readLeaderboard(task, dataset)
	listRuns(task)
	invokeTool()

	refusal := must(tom.DeleteSubmissionWithResponse(ctx, task, worse, nil))
	fmt.Println("deletion of what is published:", refused(refusal.ApplicationproblemJSON409, refusal.Body))
	fmt.Println("deletion by organizers:", must(olivia.DeleteSubmissionWithResponse(ctx, task, worse, nil)).StatusCode())
	deleted := must(tom.GetSubmissionWithResponse(ctx, task, worse, nil))
	fmt.Println("deleted:", refused(deleted.ApplicationproblemJSON404, deleted.Body))
}

func createTask() (id string) {
	create := func() *assay.CreateOrganizerResponse {
		return must(olivia.CreateOrganizerWithResponse(ctx, &assay.CreateOrganizerParams{IdempotencyKey: new("story")}, assay.OrganizerDraft{Name: "Lake Lab"}))
	}
	first, second := create(), create()
	organizer, same := answered(first.JSON201, first.Body), answered(second.JSON201, second.Body)
	fmt.Println("organizer:", choose(same.Id == organizer.Id, "the same", "another"), "on repetition, replay", *second.Headers201.IdempotentReplay)
	task := must(olivia.CreateTaskWithResponse(ctx, nil, assay.TaskDraft{OrganizerId: organizer.Id, Name: "Lake search", Description: new("Find *lakes*.")}))
	return answered(task.JSON201, task.Body).Id
}

func createDataset(task string) (id string) {
	truth := "1 0 lake 1\n1 0 pond 0\n2 0 river 2\n"
	draft := assay.DatasetDraft{
		TaskId: task, Name: "Lakes", Split: assay.DatasetDraftSplitTest,
		RunFormat: assay.RunFormat{Kind: assay.RunFormatKindTrecRun},
		Evaluator: assay.Evaluator{Kind: assay.EvaluatorKindRetrieval, Measures: []string{"nDCG@10", "Beauty"}},
		Truths:    &[]assay.File{{Name: "qrels.txt", Size: new(int64(len(truth))), Sha256: digest(truth)}},
	}
	invalid := must(olivia.CreateDatasetWithResponse(ctx, nil, draft))
	faults := *answered(invalid.ApplicationproblemJSON422, invalid.Body).Errors
	fmt.Println("invalid dataset:", refused(invalid.ApplicationproblemJSON422, invalid.Body), faults[0].Pointer)

	draft.Evaluator.Measures[1] = "RR"
	created := must(olivia.CreateDatasetWithResponse(ctx, nil, draft))
	dataset := answered(created.JSON201, created.Body)
	fmt.Println("ground truth:", *(*dataset.Truths)[0].State)
	send((*dataset.Truths)[0].Upload, truth)
	again := must(olivia.GetDatasetWithResponse(ctx, dataset.Id, nil))
	stored := answered(again.JSON200, again.Body)
	fmt.Println("ground truth:", *(*stored.Truths)[0].State)
	return dataset.Id
}

func changeTask(task string) {
	etag := must(olivia.GetTaskWithResponse(ctx, task, nil)).Headers200.ETag
	change := func() *assay.UpdateTaskResponse {
		return must(olivia.UpdateTaskWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, task, &assay.UpdateTaskParams{IfMatch: etag}, assay.TaskPatch{
			Submissions: &assay.SubmissionRulesPatch{PerDay: nullable.NewNullableWithValue(int64(5))},
			Description: nullable.NewNullNullable[string](),
		}))
	}
	current := change()
	changed := answered(current.JSON200, current.Body)
	fmt.Println("change:", *changed.Submissions.PerDay, "submissions a day,", choose(*changed.Description == "", "no", "a"), "description")
	stale := change()
	fmt.Println("stale change:", refused(stale.ApplicationproblemJSON412, stale.Body))
}

func submit(task, dataset, title, bytes string) (id string) {
	created := must(tom.CreateSubmissionWithResponse(ctx, task, nil, assay.SubmissionDraft{
		Type: assay.SubmissionDraftTypeUpload, Title: &title, Visibility: new(assay.SubmissionDraftVisibilityPublic),
		Files: &[]assay.RunFile{{DatasetId: dataset, Name: "run.txt", Size: new(int64(len(bytes))), Sha256: digest(bytes)}},
	}))
	submission := answered(created.JSON201, created.Body)
	fmt.Println("submission:", *submission.Title, *submission.Quota.RemainingToday, "left today")
	send((*submission.Files)[0].Upload, bytes)

	run := submission.RunIds[0]
	for waits := true; waits; {
		got := must(tom.GetRunWithResponse(ctx, run, nil))
		r := answered(got.JSON200, got.Body)
		switch r.State {
		case assay.RunStateCompleted, assay.RunStateFailed, assay.RunStateCancelled:
			fmt.Println("run:", r.State, choose(r.EvaluationId != nil, "shown", "blinded"), "with", len(r.Diagnostics), "diagnostics")
			waits = false
		default:
			time.Sleep(50 * time.Millisecond)
		}
	}
	reviewed := must(olivia.UpdateReviewWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, run, nil, assay.ReviewPatch{
		Published: new(true), Blinded: new(false), NoErrors: new(true),
	}))
	review := answered(reviewed.JSON200, reviewed.Body)
	fmt.Println("review:", choose(review.Published, "published", "unpublished"), choose(review.Blinded, "blinded", "unblinded"))
	return submission.Id
}

func readLeaderboard(task, dataset string) {
	read := func(offset int) *assay.ListTaskEvaluationsResponse {
		return must(tom.ListTaskEvaluationsWithResponse(ctx, task, &assay.ListTaskEvaluationsParams{
			FilterDatasetId: &[]string{dataset}, Sort: new("rank"), Offset: &offset, Limit: new(2),
		}))
	}
	board := read(0)
	for _, e := range answered(board.JSON200, board.Body).Data {
		fmt.Printf("leaderboard: %d %s %s %.4f %.4f\n", *e.Rank, e.Team, *e.Title, *e.Measures["nDCG@10"], *e.Measures["RR"])
	}
	fmt.Println("leaderboard past its end:", read(2).StatusCode())
}

func listRuns(task string) {
	params := assay.ListRunsParams{
		FilterTaskId: &[]string{task}, FilterState: &[]assay.ListRunsParamsFilterState{assay.ListRunsParamsFilterStateCompleted}, Limit: new(1),
	}
	seen := map[string]bool{}
	for more := true; more; {
		got := must(tom.ListRunsWithResponse(ctx, &params))
		page := answered(got.JSON200, got.Body)
		for _, run := range page.Data {
			seen[run.Id] = true
		}
		more = page.Links.Next != nil
		if more {
			params.Cursor = new(must(url.Parse(*page.Links.Next)).Query().Get("cursor"))
		}
	}
	none := must(tom.ListRunsWithResponse(ctx, &assay.ListRunsParams{FilterTaskId: &[]string{task}, FilterState: &[]assay.ListRunsParamsFilterState{
		assay.ListRunsParamsFilterStateFailed, assay.ListRunsParamsFilterStateCancelled,
	}}))
	fmt.Println("runs:", len(seen), "on pages of one; failed:", none.StatusCode())
}

func invokeTool() {
	file := func(name, text string) *[]assay.InlineFile { return &[]assay.InlineFile{{Name: name, Text: &text}} }
	evaluate := func(input assay.EvaluatorInput) assay.EvaluatedRun {
		got := must(tom.InvokeEvaluatorWithResponse(ctx, input))
		return answered(got.JSON200, got.Body).Runs[0]
	}
	ranking := evaluate(assay.EvaluatorInput{
		Runs:     []assay.RunReference{{Name: new("mine"), Files: file("run.txt", "1 Q0 pond 1 2.0 tom\n1 Q0 lake 2 1.0 tom\n")}},
		Truth:    &assay.TruthReference{Files: file("qrels.txt", "1 0 lake 1\n1 0 river 1\n")},
		Measures: &[]string{"RR", "AP"},
	})
	fmt.Printf("tool: %s %.4f %.4f\n", ranking.Name, *ranking.Measures["RR"], (*ranking.PerTopic)["1"]["AP"])
	constant := evaluate(assay.EvaluatorInput{
		Runs: []assay.RunReference{{Files: file("run.csv", "id,depth\na,1\nb,1\n")}},
		Truth: &assay.TruthReference{
			Kind:   new(assay.TruthReferenceKindRegression),
			Format: &assay.RunFormat{Kind: assay.RunFormatKindCsv, IdField: new("id"), ValueField: new("depth")},
			Files:  file("truth.csv", "id,depth\na,1\nb,3\n"),
		},
		Measures: &[]string{"MAE", "Pearson"},
	})
	pearson, named := constant.Measures["Pearson"]
	fmt.Printf("tool: %.4f %s\n", *constant.Measures["MAE"], choose(named && pearson == nil, "and a value that is not defined", ""))
}
