package scoring

// Computations is computations for tests.
var Computations = computations
