package measure

// Origin is where the ids, labels and topics stand that a run is compared with.
type Origin string

// What stands in the truth decides about a run; what stands in the inputs need not all have a counterpart in it.
const (
	OfTruth  Origin = "the truth"
	OfInputs Origin = "the inputs of the dataset"
)
