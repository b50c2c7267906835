package tools

import (
	"context"
	"encoding/json"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// Tool describes a tool.
type Tool struct {
	Name        string          `json:"name" example:"evaluator"`
	Kind        string          `json:"kind" enum:"evaluation,comparison,inspection,transformation" doc:"evaluation: measures runs; comparison: distinguishes runs; inspection: shows what is in one run or file; transformation: writes a run or a truth"`
	Summary     string          `json:"summary" doc:"what the tool does, in one line"`
	Description string          `json:"description" doc:"Markdown"`
	URL         string          `json:"url" format:"uri-reference" doc:"address to POST an input to" example:"/v1/tools/evaluator"`
	MediaTypes  []string        `json:"mediaTypes" doc:"media types of the answer, chosen by Accept"`
	Input       json.RawMessage `json:"input" doc:"JSON Schema of the input"`
	Output      json.RawMessage `json:"output" doc:"JSON Schema of the answer as JSON"`
	Example     any             `json:"example" doc:"an example input; replace the ids in it"`
}

func (t *tool) describe() (shown Tool, err error) {
	shown = Tool{
		Name: t.name, Kind: t.kind, Summary: t.summary, Description: t.description, URL: t.path(),
		MediaTypes: append([]string{mediaJSON}, t.media()...), Example: t.example,
	}
	if shown.Input, err = api.JSONSchema(t.input); err == nil {
		shown.Output, err = api.JSONSchema(t.output)
	}
	return shown, err
}

func show(_ context.Context, _ *api.Call, t tool) (Tool, error) { return t.describe() }

func showPage(ctx context.Context, c *api.Call, t tool) error {
	input, err := exampleFor(ctx, c, t.example)
	if err != nil {
		return err
	}
	example, err := json.MarshalIndent(input, "", "  ")
	if err != nil {
		return err
	}
	return webpage.Page{Title: "The tool " + t.name, Here: toolsPath, Form: true, Main: toolPage(t, string(example), c.BaseURL())}.Send(ctx, c)
}

// exampleFor returns an example that works on this server. For the tool leaderboard it names the newest public dataset.
func exampleFor(ctx context.Context, c *api.Call, example any) (any, error) {
	if _, named := example.(LeaderboardInput); !named {
		return example, nil
	}
	newest, err := records.Query[record.DatasetItem](ctx, c.Store, store.Query{
		Index: record.ByKind, Partition: record.KindPartitions(record.KindDataset, access.Everyone)[0], Descending: true, Limit: 1,
	})
	if err != nil || len(newest) == 0 {
		return example, err
	}
	return LeaderboardInput{DatasetID: newest[0].ID}, nil
}

// curlCommand returns a shell command that invokes the tool. It asks for the first media type of the tool other than JSON.
func (t *tool) curlCommand(base string) string {
	accept, output := "", ""
	if len(t.shownAs) > 0 {
		accept = " -H 'Accept: " + t.shownAs[0].mediaType + "'"
		output = " -o " + t.name + t.shownAs[0].ending
	}
	return "curl -s --json @input.json" + accept + output + " " + base + t.path()
}

// answerTypes lists the formats of the tool's answers in words.
func (t *tool) answerTypes() string {
	words := lists.Map(t.shownAs, func(r representation) string { return r.name })
	return "Answers with " + strings.Join(append([]string{"JSON"}, words...), ", ")
}
