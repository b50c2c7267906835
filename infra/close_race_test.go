//go:build race

package main

// closeCDK leaves Node.js to end with this process: jsii.Close waits for it at the same time as another goroutine of its own,
// which the race detector reports.
func closeCDK() {}
