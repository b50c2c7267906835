package queue_test

import (
	"sync"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/storage/store/storetest"
)

func TestCompleteEvaluation_PublishesWhereTheDatasetSaysSo(t *testing.T) {
	reviewed := func(r *recordtest.Run) { r.Review.ReviewerID = recordtest.UserID("olga") }
	for name, c := range map[string]struct {
		publish   record.Publish
		option    recordtest.RunOption
		published bool
	}{
		"on completion":                {record.PublishOnCompletion, recordtest.Queued, true},
		"on review":                    {record.PublishOnReview, recordtest.Queued, false},
		"by default":                   {"", recordtest.Queued, false},
		"what was reviewed before":     {record.PublishOnCompletion, reviewed, false},
		"what is blinded stays hidden": {record.PublishOnCompletion, recordtest.Blinded, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.dataset.Publish = c.publish
			f.Replace(f.dataset.DatasetItem)
			id := f.add(c.option).ID
			complete := func() (*record.RunItem, *record.ReviewItem, *record.EvaluationItem) {
				run, err := f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(f.lease()), f.outcome(f.truth))
				f.must(err)
				return run, recordtest.Get[record.ReviewItem](t, f.Store, record.ReviewKey(id)), evaluationOf(f, run.EvaluationID)
			}
			before := recordtest.Get[record.ReviewItem](t, f.Store, record.ReviewKey(id))
			run, review, e := complete()
			if review.Published != c.published || run.Access.Published != c.published || e.Access != run.Access ||
				run.Access.Blinded != before.Blinded || review.Blinded != before.Blinded || review.ReviewerID != before.ReviewerID {
				t.Fatalf("the review is %+v, the run has %+v, the evaluation %+v", review.Review, run.Access, e.Access)
			}
			if !review.Published {
				return
			}
			review.Published = false
			run.Access.Published = false
			e.Access.Published = false // like an organizer who withdraws it
			f.Replace(review)
			f.Replace(run)
			f.Replace(e)
			f.changeTruth()
			f.reevaluate(id)
			if run, review, _ := complete(); review.Published || run.Access.Published {
				t.Error("another completion publishes again")
			}
		})
	}
}

// TestCompleteEvaluation_PublishesNoRunOfARejectedTeam completes a run of a team that organizers rejected while the run waited.
func TestCompleteEvaluation_PublishesNoRunOfARejectedTeam(t *testing.T) {
	f := newFixture(t)
	f.dataset.Publish = record.PublishOnCompletion
	f.Replace(f.dataset.DatasetItem)
	waiting := f.add()
	team := recordtest.Get[record.RegistrationItem](t, f.Store, record.RegistrationKey(waiting.TaskID, waiting.Access.RegistrationID))
	team.State = record.Rejected
	f.Replace(team)
	run, err := f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(f.lease()), f.outcome(f.truth))
	f.must(err)
	review := recordtest.Get[record.ReviewItem](t, f.Store, record.ReviewKey(run.ID))
	if run.State != record.Completed || run.Access.Published || review.Published {
		t.Errorf("the run is %s and has %+v, the review is %+v", run.State, run.Access, review.Review)
	}
}

// TestCompleteEvaluation_DecidesOnPublishingInItsTransaction changes what the publication depends on just before the run completes.
func TestCompleteEvaluation_DecidesOnPublishingInItsTransaction(t *testing.T) {
	for name, change := range map[string]func(*fixture, *record.RunItem){
		"organizers reject the team": func(f *fixture, r *record.RunItem) {
			team := recordtest.Get[record.RegistrationItem](t, f.Store, record.RegistrationKey(r.TaskID, r.Access.RegistrationID))
			team.State = record.Rejected
			f.Replace(team)
		},
		"organizers publish on review from now on": func(f *fixture, _ *record.RunItem) {
			f.dataset.Publish = record.PublishOnReview
			f.Replace(f.dataset.DatasetItem)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.dataset.Publish = record.PublishOnCompletion
			f.Replace(f.dataset.DatasetItem)
			waiting := f.add()
			lease := queue.LeaseRefOf(f.lease())
			once := sync.OnceFunc(func() { change(f, waiting) })
			q := f.queue()
			q.Store = &storetest.Hooked{Store: f.Store, Before: func(c storetest.Call) error {
				if c.Writes != nil {
					once()
				}
				return nil
			}}
			run, err := q.CompleteEvaluation(f.ctx, lease, f.outcome(f.truth))
			f.must(err)
			review := recordtest.Get[record.ReviewItem](t, f.Store, record.ReviewKey(run.ID))
			if run.State != record.Completed || run.Access.Published || review.Published {
				t.Errorf("the run is %s and has %+v, the review is %+v", run.State, run.Access, review.Review)
			}
		})
	}
}
