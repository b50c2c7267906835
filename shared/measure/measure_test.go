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

func TestSum_KeepsWhatLargeTermsHide(t *testing.T) {
	var s Sum
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		s.Add(x)
	}
	if got := s.Total(); got != 2 {
		t.Errorf("the sum is %v, want 2", got)
	}
}

// Precisions of 2/3 and 0 on one topic each, and of 1/3 on both, have the same mean, whatever else is summed.
func TestSum_OfEqualMeansIsEqual(t *testing.T) {
	mean := func(a, b float64) float64 {
		var s Sum
		for range 79 {
			s.Add(a)
			s.Add(b)
		}
		return s.Total() / 158
	}
	if x, y := mean(2.0/3, 0), mean(1.0/3, 1.0/3); x != y {
		t.Errorf("%v and %v", x, y)
	}
	if x, y := mean(1, 1.0/3), mean(2.0/3, 2.0/3); x != y {
		t.Errorf("%v and %v", x, y)
	}
}
