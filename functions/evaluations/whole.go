package evaluations

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// maxAnswerBytes bounds the leaderboard in an answer, so that AWS Lambda can send it although it escapes bytes.
const maxAnswerBytes = 4 << 20

// Media types of a whole leaderboard.
const (
	mediaCSV   = "text/csv"
	mediaJSONL = "application/jsonl"
)

// dataset loads the dataset that the path names. Its rules decide who sees values, so the read has strong consistency.
func dataset(ctx context.Context, c *api.Call) (*record.DatasetItem, error) {
	id := c.Param("datasetId")
	if !record.IsID(id) {
		return nil, visibility.Missing
	}
	return records.Require[record.DatasetItem](ctx, c.Store, store.Strong, record.DatasetKey(id), visibility.Missing)
}

// whole answers with all entries of the dataset's leaderboard that the caller sees. It writes them to a temporary file, so that memory does
// not grow with the leaderboard.
func whole(ctx context.Context, c *api.Call, d *record.DatasetItem) error {
	if err := c.BeginListing(ctx); err != nil {
		return err
	}
	applyView(c)
	c.Page.Sort = cmp.Or(c.Page.Value("sort"), rank)
	mediaType := mediaCSV + "; charset=utf-8; header=present"
	name := "leaderboard.csv"
	newRows := newTableRows
	if c.Accepted() == mediaJSONL {
		mediaType = mediaJSONL
		name = "leaderboard.jsonl"
		newRows = newLineRows
	}
	r, err := newReader(ctx, c, d, optionsOf(c))
	if err != nil {
		return err
	}
	if done, err := r.wholeUnchanged(ctx); done || err != nil {
		return err
	}
	f, err := c.WriteTempFile(name, mediaType, func(w io.Writer) error {
		rows := newRows(w, r.measures())
		if err := rows.begin(); err != nil {
			return err
		}
		in := r.wholeInputs()
		err := r.each(ctx, func(e shownEntry) (bool, error) {
			e.addTo(in)
			shown := r.render(e)
			shown.User = nil // The names of users would take a read for each page.
			return true, rows.add(shown)
		})
		if err != nil {
			return err
		}
		c.Remember(in)
		return rows.flush()
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

// maxAnswerEntries is more than the number of entries that fit in an answer. The ids and times of an entry have 180 bytes.
const maxAnswerEntries = maxAnswerBytes / 180

// wholeUnchanged answers 304 if the caller already has the leaderboard. Otherwise the entries are read again to render them, so it tries
// only if a board is kept in memory.
func (r *boardReader) wholeUnchanged(ctx context.Context) (done bool, err error) {
	if r.Boards == nil || !r.Conditional() {
		return false, nil
	}
	in := r.wholeInputs()
	n := 0
	err = r.each(ctx, func(e shownEntry) (bool, error) {
		e.addTo(in)
		n++
		return n <= maxAnswerEntries, nil
	})
	if err != nil || n > maxAnswerEntries {
		return false, err
	}
	return r.Unchanged(in)
}

// wholeInputs returns what the whole leaderboard depends on, apart from its entries.
func (r *boardReader) wholeInputs() *api.Inputs {
	in := r.Inputs()
	in.Text(r.rules.State(r.now))
	in.Text(r.measures()...)
	return in
}

// rowWriter writes evaluations in one media type.
type rowWriter interface {
	begin() error // before the first evaluation
	add(record.Evaluation) error
	flush() error // after the last evaluation
}

// tableRows writes evaluations as CSV with the columns of the measures.
type tableRows struct {
	table    *csv.Writer
	measures []string
}

func newTableRows(w io.Writer, measures []string) rowWriter {
	return &tableRows{table: csv.NewWriter(w), measures: measures}
}

func (r *tableRows) begin() error { return api.WriteRow(r.table, header(r.measures)) }

func (r *tableRows) add(e record.Evaluation) error {
	return api.WriteRow(r.table, cells(e, r.measures))
}

func (r *tableRows) flush() error {
	r.table.Flush()
	return r.table.Error()
}

// lineRows writes each evaluation as a line of JSON.
type lineRows struct{ lines *json.Encoder }

func newLineRows(w io.Writer, _ []string) rowWriter {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return lineRows{lines}
}

func (lineRows) begin() error { return nil }

func (r lineRows) add(e record.Evaluation) error { return r.lines.Encode(e) }

func (lineRows) flush() error { return nil }
