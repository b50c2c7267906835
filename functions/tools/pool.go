package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"assay/functions/tools/chart"
	"assay/functions/tools/inputs"
	"assay/functions/tools/pooling"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"

	"github.com/a-h/templ"
)

// PoolInput holds the runs to pool, and how deep.
type PoolInput struct {
	Runs   []inputs.RunReference `json:"runs" minItems:"1" maxItems:"100" doc:"the runs, in any order"`
	Depth  int                   `json:"depth,omitempty" minimum:"1" maximum:"1000" doc:"number of documents of each run and topic in the pool; default 100"`
	Format string                `json:"format,omitempty" enum:"pool,qrels" doc:"fields of the file. pool (the default): topic and document; qrels: topic, 0, document and -1, the grade of pooled documents that nobody has judged"`
}

// PoolOutput describes the pool and the contributions of the runs.
type PoolOutput struct {
	Depth     int         `json:"depth"`
	Format    string      `json:"format"`
	Documents int         `json:"documents" doc:"number of documents in the pools of all topics"`
	Topics    []PoolTopic `json:"topics" doc:"topics by name"`
	Runs      []PooledRun `json:"runs" doc:"in the order asked for"`
	Overlap   [][]float64 `json:"overlap" doc:"overlap of each two runs: the number of documents that both contribute, divided by the number that at least one contributes, over all topics; 0 if neither contributes any"`
	File      *FileResult `json:"file" doc:"the pooled documents, for each topic by id"`
}

// PoolTopic is a topic of a pool.
type PoolTopic struct {
	Topic     string `json:"topic"`
	Documents int    `json:"documents"`
}

// PooledRun describes the contribution of a run.
type PooledRun struct {
	Name      string `json:"name"`
	RunID     string `json:"runId,omitempty"`
	Documents int    `json:"documents" doc:"number of documents that the run contributes, over all topics"`
	Unique    int    `json:"unique" doc:"number of documents that only this run contributes"`
}

func (out PoolOutput) file() *FileResult { return out.File }

const (
	formatPool  = "pool"
	formatQrels = "qrels"
)

var poolTool = define(metadata{
	name: "pool", kind: "transformation", problems: fileProblems, summary: "Pool runs for judgment",
	description: "Makes a pool like TREC, from up to 100 runs: the first documents of each run and topic, for people to judge. The " +
		"documents of a topic are ordered by id, so their order does not reveal runs or ranks.\n\n" +
		"`file` has the pool. `content` has up to 3 MiB. A larger pool is behind the link in `url`, which works for half an hour; creating it " +
		"requires a login. With `Accept: text/plain` the answer is the file itself or a redirect to it. The page, and as `image/svg+xml` the " +
		"chart, show how much the runs overlap.",
}, PoolInput{Runs: exampleRuns, Depth: 2},
	func(ctx context.Context, resolver *inputs.Resolver, in PoolInput) (compute[PoolOutput], error) {
		runs, err := resolver.Runs(ctx, "/runs", in.Runs)
		if err == nil {
			err = resolver.CheckRankings(ctx, runs...)
		}
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (PoolOutput, error) {
			out := PoolOutput{Depth: cmp.Or(in.Depth, 100), Format: cmp.Or(in.Format, formatPool)}
			var pool pooling.Pool
			counter := steps.Of(ctx)
			for _, r := range runs { // reads one run after the other, so that only one is in memory
				rankings, err := r.Rankings(ctx)
				if err != nil {
					return out, err
				}
				switch err := pool.Add(counter, rankings, out.Depth); {
				case errors.Is(err, pooling.ErrTopics):
					return out, problem.InvalidMember("/runs", "%v: name runs on fewer", err)
				case errors.Is(err, pooling.ErrContributions):
					return out, problem.InvalidMember("/depth", "%v: name a smaller depth, or fewer runs", err)
				case err != nil:
					return out, err
				}
			}
			topics := pool.Topics(compareTopics)
			out.describe(runs, &pool, topics, pool.Count(counter))
			if err := counter.Err(); err != nil {
				return out, err
			}
			var err error
			out.File, err = writeFile(resolver, "pool.txt", mediaText+charset, func(w io.Writer) error {
				return pool.Write(w, topics, out.Format == formatQrels)
			})
			return out, err
		}, nil
	})

// describe fills in the numbers of the pool.
func (out *PoolOutput) describe(runs []*inputs.Run, pool *pooling.Pool, topics []string, counts pooling.Counts) {
	for _, topic := range topics {
		out.Topics = append(out.Topics, PoolTopic{topic, pool.Size(topic)})
		out.Documents += pool.Size(topic)
	}
	for i, r := range runs {
		out.Runs = append(out.Runs, PooledRun{
			Name:      r.Name,
			RunID:     r.ID,
			Documents: counts.Common[i][i],
			Unique:    counts.Unique[i],
		})
		overlap := make([]float64, len(runs))
		for j := range runs {
			overlap[j] = counts.Overlap(i, j)
		}
		out.Overlap = append(out.Overlap, overlap)
	}
}

func (out PoolOutput) page() (string, templ.Component) {
	return fmt.Sprintf("Pool of depth %d", out.Depth), poolPage(&out)
}

func (out PoolOutput) chart() chart.Chart {
	columns := make([]string, len(out.Runs))
	for i := range columns {
		columns[i] = fmt.Sprint(i + 1)
	}
	return chart.HeatMap(chart.Caption{
		ID: "overlap", Title: "Overlap of runs in the pool",
		Description: "Percent of the documents of either of two runs that both contribute. Columns are the runs of the rows, by number.",
	}, chart.Grid{Rows: lists.Map(out.Runs, func(r PooledRun) string { return r.Name }), Columns: columns, Values: out.Overlap, Percent: true})
}

// maxPoolTopics bounds the topics on a page.
const maxPoolTopics = 300

func (out *PoolOutput) summary() string {
	return fmt.Sprintf("%s for %s, from the first %s of %s.", plural.Count(out.Documents, "document"), plural.Count(len(out.Topics), "topic"),
		plural.Count(out.Depth, "rank"), plural.Count(len(out.Runs), "run"))
}
