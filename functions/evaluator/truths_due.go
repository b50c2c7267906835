package evaluator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

const (
	// longWork is how long a pass lasts after which the index is read again, since others may have stored truths meanwhile.
	longWork = time.Second
	// duePerPayer is how many datasets of one payer a pass holds in memory. The next pass finds the others.
	duePerPayer = 10
)

// payerTurns remembers which payers had the pending work of a dataset done last. It belongs to one goroutine.
type payerTurns struct {
	served map[string]int // how many had been served then
	count  int
}

// maxPayers is how many payers are remembered.
const maxPayers = 10_000

func (t *payerTurns) serve(payer string) {
	if t.served == nil || len(t.served) >= maxPayers {
		t.served = map[string]int{}
	}
	t.count++
	t.served[payer] = t.count
}

// dueDataset is a dataset with pending work that is due.
type dueDataset struct {
	item  store.Item
	payer string
	nth   int // of those of its payer
}

// runDatasetsDue does the pending work of datasets that is due, such as reading uploaded truths. The users who stored the files take turns,
// and the one who was served last comes last.
func (w *Worker) runDatasetsDue(ctx context.Context) (failed error) {
	tried := map[store.Key]bool{}
	for ctx.Err() == nil {
		due, err := w.datasetsDue(ctx, tried)
		failed = errors.Join(failed, err)
		if len(due) == 0 {
			return failed
		}
		began := time.Now()
		for _, d := range due {
			tried[d.item.Key] = true
			w.payers.serve(d.payer)
			if err := w.runPending(ctx, d.item); err != nil && ctx.Err() == nil {
				failed = errors.Join(failed, staysPending(d.item, err))
			}
			if time.Since(began) > longWork {
				break
			}
		}
	}
	return errors.Join(failed, ctx.Err())
}

// datasetsDue returns datasets whose work is due and was not tried, some of each payer, in the order of turns.
func (w *Worker) datasetsDue(ctx context.Context, tried map[store.Key]bool) (due []dueDataset, err error) {
	counts := map[string]int{}
	err = w.eachPending(ctx, record.DueBy(w.Now()), func(it store.Item) error {
		if !record.IsDataset(it.Key) || tried[it.Key] {
			return nil
		}
		d, err := records.Decode[record.DatasetItem](it)
		if err != nil {
			tried[it.Key] = true
			return err
		}
		payer := cmp.Or(d.Payer, d.OrganizerID)
		if counts[payer] == duePerPayer {
			return nil
		}
		due = append(due, dueDataset{it, payer, counts[payer]})
		counts[payer]++
		return nil
	})
	slices.SortStableFunc(due, func(a, b dueDataset) int {
		return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(w.payers.served[a.payer], w.payers.served[b.payer]))
	})
	return due, err
}

// staysPending is the error of work on a record that failed.
func staysPending(it store.Item, err error) error {
	return fmt.Errorf("%s %s: the work stays pending: %w", it.Partition, it.Sort, err)
}
