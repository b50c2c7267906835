package measure

import "testing"

func TestReport_KeepsErrorsBeforeWarnings(t *testing.T) {
	var r Report
	r.Warnf("run.txt", 0, "a warning")
	for i := range MaxDiagnostics {
		if r.Full() {
			t.Fatalf("full after %d errors", i)
		}
		r.Errorf("run.txt", i+1, "error %d", i+1)
	}
	if !r.Full() {
		t.Error("there is room for another error")
	}
	r.Errorf("run.txt", 999, "one too many")
	r.Warnf("run.txt", 999, "one too many")
	d := r.Diagnostics()
	if !r.Full() || !r.Failed() || len(d) != MaxDiagnostics || d[0].Line != 1 || d[MaxDiagnostics-1].Line != MaxDiagnostics {
		t.Errorf("full %v, failed %v, %d diagnostics from %+v to %+v", r.Full(), r.Failed(), len(d), d[0], d[len(d)-1])
	}
}

func TestReport_WarningsDoNotFail(t *testing.T) {
	var r Report
	for range 2 * MaxDiagnostics {
		r.Warnf("run.txt", 0, "a warning")
	}
	if r.Full() || r.Failed() || len(r.Diagnostics()) != MaxDiagnostics {
		t.Errorf("full %v, failed %v, %d diagnostics", r.Full(), r.Failed(), len(r.Diagnostics()))
	}
}
