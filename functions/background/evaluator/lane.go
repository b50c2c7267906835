package evaluator

import (
	"cmp"
	"context"
	"errors"

	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/steps"
	"assay/shared/domain/record"
	"assay/shared/language/wait"
	"assay/shared/service/queue"
)

// lane is one of the two queues of runs that a worker evaluates.
type lane struct {
	subqueue record.Subqueue
	budget   int64 // steps of an evaluation
	order    *queue.FairOrder
	wakeUp   *wait.Signal
	light    bool // only runs of submitters who used little
}

// turns is the state of a lane.
type turns struct {
	order  queue.FairOrder
	wakeUp wait.Signal
}

// stepBudget is the number of steps that an evaluation outside the slow lane may take, about half a second of work. Each byte of text
// counts as a step, and each line as some more. So the budget also bounds the memory, to about 100 MB.
const stepBudget = 50_000_000

// errOverBudget means that an evaluation has used up its budget.
var errOverBudget = errors.New("the evaluation has used up its budget")

// slowBudget is the number of steps that an evaluation in the slow lane may take, some minutes of work. The limits of datasets keep a run
// of the size of the ground truth far below it.
const slowBudget = bounds.RunSteps

func (w *Worker) fastLane() lane {
	return lane{subqueue: record.BuiltinSubqueue(), budget: cmp.Or(w.budget, stepBudget), order: &w.fast.order, wakeUp: &w.fast.wakeUp}
}

// lightPlace is the place of the fast lane that is kept for submitters who used little. A busy process may take seconds for the budgets of
// the evaluations in the other places, and their runs must not wait for that.
func (w *Worker) lightPlace() lane {
	l := w.fastLane()
	l.light, l.wakeUp = true, &w.lightWakeUp
	return l
}

func (w *Worker) slowLane() lane {
	return lane{subqueue: record.SlowSubqueue(), budget: slowBudget, order: &w.slow.order, wakeUp: &w.slow.wakeUp}
}

func (l lane) isSlow() bool { return l.subqueue == record.SlowSubqueue() }

// count returns a context whose steps count against the budget of the lane.
func (l lane) count(ctx context.Context) (context.Context, *steps.Counter) {
	counter := steps.New(l.budget, func(context.Context) error { return errOverBudget })
	return steps.With(ctx, counter), counter
}

// charge adds the steps of an evaluation of the run to the order of both lanes.
func (w *Worker) charge(run *record.RunItem, counter *steps.Counter) {
	for _, of := range []*turns{&w.fast, &w.slow} {
		of.order.Charge(run.Turn(), counter.Total(), w.Now())
	}
}
