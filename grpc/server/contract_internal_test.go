package server

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"assay/shared/queue"
	"assay/shared/record"
)

// TestContract_NamesLimits holds the comments of the protocol, from which workers are written, and the README to the limits of the server.
func TestContract_NamesLimits(t *testing.T) {
	content, err := os.ReadFile("../proto/assay/v1/worker.proto")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	contract := strings.Join(strings.Fields(strings.ReplaceAll(string(content)+string(readme), "//", "")), " ")
	for _, want := range []string{
		fmt.Sprintf("A request has at most %d MiB, after decompression too", maxMessage>>20),
		fmt.Sprintf("must arrive within %.0f seconds", firstMessageTimeout.Seconds()),
		fmt.Sprintf("at most %d calls at a time", maxStreams),
		fmt.Sprintf("pings a silent client after %.0f minute", keepAliveTime.Minutes()),
		fmt.Sprintf("a client may ping every %.0f seconds", minKeepAliveTime.Seconds()),
		fmt.Sprintf("An idle connection is closed after %.0f minutes", idleTime.Minutes()),
		fmt.Sprintf("After %.0f hour the server asks the client to connect again (GOAWAY) and gives calls %.0f minutes", connectionAge.Hours(),
			connectionGrace.Minutes()),
		fmt.Sprintf("at most %d, each a name", maxPools),
		fmt.Sprintf("at most %d,%03d and %d KiB in one call", maxHeartbeatLines/1000, maxHeartbeatLines%1000, maxHeartbeatBytes>>10),
		fmt.Sprintf("keeps %d MiB of a log", record.MaxLogBytes>>20),
		fmt.Sprintf("beyond %d KiB is cut off", record.MaxLineBytes>>10),
		fmt.Sprintf("1 to %d, each of 1 byte to %d GiB", record.MaxFiles, record.MaxFileBytes>>30),
		fmt.Sprintf("names of one line and at most %d bytes", maxNameBytes),
		fmt.Sprintf("sends a heartbeat every %.0f seconds", (DefaultLease / heartbeatsPerLease).Seconds()),
		fmt.Sprintf("No worker gets it for %.0f seconds", queue.RetryDelay.Seconds()),
		fmt.Sprintf("one of %d attempts is left, %.0f seconds later after the first and %.0f after the second", record.MaxAttempts,
			queue.RetryDelay.Seconds(), 2*queue.RetryDelay.Seconds()),
	} {
		if !strings.Contains(contract, want) {
			t.Errorf("neither the protocol nor the README says %q", want)
		}
	}
}
