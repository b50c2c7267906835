package evaluator

// SetBudget sets how many steps an evaluation has outside the slow lane.
func (w *Worker) SetBudget(steps int64) { w.budget = steps }
