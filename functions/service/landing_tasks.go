package service

import (
	"context"
	"slices"
	"time"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// The landing page shows the featured tasks and then the newest, of each organizer organizerTasks at most, so that nobody
// fills it alone. It reads maxTaskPages pages of the newest, fewer once they have maxTaskBytes, and asks exampleTries
// tasks for a dataset.
const (
	shownTasks     = 48
	organizerTasks = 2
	maxTaskPages   = 6
	maxTaskBytes   = 8 << 20
	exampleTries   = 8
)

// chooseTasks reads the public tasks and chooses those that the page shows.
func (v *welcome) chooseTasks(ctx context.Context, s store.Store, now time.Time) error {
	size := 0
	for _, q := range []store.Query{
		{Index: record.ByTask, Partition: record.FeaturedTasks, Descending: true, Limit: shownTasks},
		{Index: record.ByKind, Partition: record.KindPartitions(record.KindTask, access.Everyone)[0], Descending: true, Limit: shownTasks + 1},
	} {
		for range maxTaskPages {
			items, err := s.Query(ctx, q)
			if err != nil {
				return records.Failed(err)
			}
			n, err := v.add(items, now)
			if err != nil {
				return err
			}
			if size += n; len(items) < q.Limit || size >= maxTaskBytes || len(v.tasks) == shownTasks {
				break
			}
			q.After = &items[len(items)-1]
		}
	}
	return nil
}

// add chooses those of the tasks for which there is room, and returns their size in the store.
func (v *welcome) add(items []store.Item, now time.Time) (size int, err error) {
	for _, it := range items {
		t, err := records.Decode[record.TaskItem](it)
		if err != nil {
			return 0, err
		}
		size += len(it.Data)
		same, chosen := 0, false
		for _, other := range v.tasks {
			chosen = chosen || other.ID == t.ID
			if other.OrganizerID == t.OrganizerID {
				same++
			}
		}
		switch {
		case chosen:
		case same == organizerTasks, len(v.tasks) == shownTasks:
			v.more = true
		default:
			v.tasks = append(v.tasks, shownTask{Task: &t.Task, stage: stageOf(&t.Task, now)})
		}
	}
	return size, nil
}

// chooseExample finds the task that the commands of the page are about: the first that takes uploads from everybody now
// and has a dataset. Of those before it the page says that they have none.
func (v *welcome) chooseExample(ctx context.Context, s store.Store) error {
	tries := exampleTries
	for i, t := range v.tasks {
		types := t.Submissions.Types
		if !t.stage.open || len(types) > 0 && !slices.Contains(types, record.UploadType) {
			continue
		}
		if tries--; tries < 0 {
			break
		}
		datasets, err := s.Query(ctx, store.Query{
			Index: record.ByTask, Partition: record.TaskPartition(t.ID, record.KindDataset, access.Everyone), Limit: 1})
		if err != nil {
			return records.Failed(err)
		}
		if len(datasets) > 0 {
			v.example = t.ID
			break
		}
		v.tasks[i].stage = stage{text: "No dataset yet"}
	}
	return nil
}
