package evaluator

import "assay/shared/service/queue"

// DeployedPlaces bounds what the function evaluates at the same time: a payer has at most a quarter of the instances that prod allows the
// function, and the slow lane a fifth. A test of the deployment compares them.
func DeployedPlaces() *queue.Places { return &queue.Places{Payer: 5, Slow: 4} }
