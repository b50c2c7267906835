package evaluator

import "assay/shared/service/queue"

// DeployedPlaces returns the limits of the deployed function. A payer has at most a quarter of the instances that prod allows the function,
// and the slow lane a fifth. A test of the deployment compares the numbers.
func DeployedPlaces() *queue.Places { return &queue.Places{Payer: 5, Slow: 4} }
