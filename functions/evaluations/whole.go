package evaluations

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"

	"assay/shared/api"
	"assay/shared/record"
)

// maxAnswerBytes is how much of a leaderboard stands in an answer, which a function can send whatever of it has to be escaped.
const maxAnswerBytes = 4 << 20

// media types of a whole leaderboard.
const (
	mediaCSV   = "text/csv"
	mediaJSONL = "application/jsonl"
)

// whole answers with all that the caller sees of the dataset's leaderboard. It goes through a file, so that memory does not grow with it.
func whole(ctx context.Context, c *api.Call, d *record.DatasetItem) error {
	if err := c.BeginListing(ctx); err != nil {
		return err
	}
	applyView(c)
	c.Page.Sort = cmp.Or(c.Page.Value("sort"), rank)
	mediaType := mediaCSV + "; charset=utf-8; header=present"
	name := "leaderboard.csv"
	rows := tableRows
	if c.Accepted() == mediaJSONL {
		mediaType = mediaJSONL
		name = "leaderboard.jsonl"
		rows = lineRows
	}
	f, err := c.WriteTempFile(name, mediaType, func(w io.Writer) error {
		add, flush := rows(w, d.Board().Evaluator.Measures)
		err := eachEntry(ctx, c, d, optionsOf(c), func(e record.Evaluation, _ any) (bool, error) {
			e.User = nil // whose name would take a read for each page
			return true, add(e)
		})
		if err != nil {
			return err
		}
		return flush()
	})
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Size > maxAnswerBytes {
		link, err := c.StoreResult(ctx, f, mediaType)
		if err != nil {
			return err
		}
		c.WriteSeeOther(link.URL)
		return nil
	}
	content, err := f.Reader()
	if err != nil {
		return err
	}
	body, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	return c.WriteDocument(mediaType, body)
}

// tableRows writes evaluations as CSV with the columns of the measures.
func tableRows(w io.Writer, measures []string) (add func(record.Evaluation) error, flush func() error) {
	table := csv.NewWriter(w)
	err := api.WriteRow(table, header(measures))
	add = func(e record.Evaluation) error {
		if err == nil {
			err = api.WriteRow(table, cells(e, measures))
		}
		return err
	}
	return add, func() error {
		table.Flush()
		return table.Error()
	}
}

// lineRows writes each evaluation as a line of JSON.
func lineRows(w io.Writer, _ []string) (add func(record.Evaluation) error, flush func() error) {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return func(e record.Evaluation) error { return lines.Encode(e) }, func() error { return nil }
}
