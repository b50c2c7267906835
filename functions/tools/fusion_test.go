package tools_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/domain/record"
)

// exampleRuns returns runs of a topic: a 10, b 6, c 2 and b 8, d 4, a 3.
func exampleRuns() []object {
	return []object{
		inlineFiles("r1", "t Q0 a 1 10 x\nt Q0 b 2 6 x\nt Q0 c 3 2 x\n"),
		inlineFiles("r2", "t Q0 a 1 3 y\nt Q0 d 2 4 y\nt Q0 b 3 8 y\n"),
	}
}

// The tool fills in the default settings. The tests of package fusion check the scores.
func TestFusion_FillsInSettings(t *testing.T) {
	s := newToolServer(t, record.Public)
	for _, c := range []struct {
		settings object
		filledIn string
		lines    int
		first    string
	}{
		{object{}, "rrf 60  1000 fused", 4, "t Q0 b 1 0.03252247488101534 fused\n"},
		{object{"k": 1, "tag": "one", "depth": 3}, "rrf 1  3 one", 3, "t Q0 b 1 0.8333333333333333 one\n"},
		{object{"method": "combsum"}, "combsum 0 min-max 1000 fused", 4, "t Q0 b 1 1.5 fused\n"},
		{object{"method": "combsum", "normalization": "none"}, "combsum 0 none 1000 fused", 4, "t Q0 b 1 14 fused\n"},
		{object{"method": "combmnz"}, "combmnz 0 min-max 1000 fused", 4, "t Q0 b 1 3 fused\n"},
	} {
		c.settings["runs"] = exampleRuns()
		out := answer[tools.FusionOutput](s, "", "fusion", c.settings)
		if got := fmt.Sprint(out.Method, " ", out.K, " ", out.Normalization, " ", out.Depth, " ", out.Tag); got != c.filledIn {
			t.Errorf("the settings are %s, want %s", got, c.filledIn)
		}
		if got := string(out.File.Content); !strings.HasPrefix(got, c.first) || strings.Count(got, "\n") != c.lines {
			t.Errorf("%s fuses to\n%s", c.filledIn, got)
		}
		text := s.invoke(http.StatusOK, nil, "", "fusion", c.settings, "Accept", "text/plain")
		if !bytes.Equal(text.Body, out.File.Content) || text.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("as %s it is another file:\n%s", text.Header.Get("Content-Type"), text.Body)
		}
	}
}

// Files of several runs may have the same name.
func TestFusion_PointsToTheFault(t *testing.T) {
	s := newToolServer(t, record.Public)
	const (
		good  = "t Q0 a 1 1 x\n"
		other = "t Q0 b 1 1 x\nu Q0 b 1 1 x\n"
		bad   = "t Q0 a 1 high x\n"
	)
	vast := inlineFiles("run.txt", "t Q0 a 1 1e308 x\n")
	s.wantRefusals("fusion", map[string]refusal{
		"inline run": {object{"runs": []object{inlineFiles("run.txt", good), inlineFiles("more.txt", "v Q0 a 1 1 x\n", "run.txt", bad)}},
			"/runs/1/files/1", "line 1: the score"},
		"stored run": {object{"runs": []object{inlineFiles("run.txt", good), runRef(s.addRun(runSpec{public: true, content: bad}))}},
			"/runs/1", ""},
		// The file b/c has the name that the file c of the run b would get.
		"name that another file would get": {object{"runs": []object{
			withMembers(inlineFiles("b/c", bad, "c", "v Q0 a 1 1 x\n"), "name", "a"), withMembers(inlineFiles("c", good), "name", "b"),
		}}, "/runs/0/files/0", ""},
		"scores without a sum": {object{"runs": []object{vast, vast}, "method": "combsum", "normalization": "none"}, "/runs", ""},
		"settings":             {object{"runs": exampleRuns(), "normalization": "rank"}, "/normalization", ""},
		"depth below 0":        {object{"runs": exampleRuns(), "depth": -1}, "/depth", ""},
		"unknown method":       {object{"runs": exampleRuns(), "method": "borda"}, "/method", ""},
		"one run":              {object{"runs": exampleRuns()[:1]}, "/runs", ""},
	})
	out := answer[tools.FusionOutput](s, "", "fusion", object{"runs": []object{namedRun("full", other), namedRun("short", good)}})
	if len(out.Diagnostics) != 1 || out.Diagnostics[0].File != "short/run.txt" || out.Diagnostics[0].Severity != measure.Warning {
		t.Errorf("diagnostics %+v", out.Diagnostics)
	}
}

func TestFusion_OfStoredRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	var out, same tools.FusionOutput
	one := s.addRun(runSpec{public: true})
	other := s.addRun(runSpec{hidden: true, content: "1 Q0 d 1 2.0 tag\n"})
	s.invoke(http.StatusOK, &out, "alice", "fusion", object{"runs": runRefs(one, other)})
	s.invoke(http.StatusOK, &same, "", "fusion", object{"runs": []object{
		inlineFiles("run.txt", "1 Q0 d 1 2.0 tag\n"), inlineFiles("b", datasetRun),
	}})
	if !bytes.Equal(out.File.Content, same.File.Content) || len(out.File.Content) == 0 {
		t.Errorf("stored runs fuse to\n%s and the same that come along to\n%s", out.File.Content, same.File.Content)
	}
	if out.Runs[0].RunID != one.ID || out.Runs[0].Name != "team of alice (Run "+one.ID[20:]+")" ||
		out.Runs[1].Name != "team of alice (Run "+other.ID[20:]+")" || out.Diagnostics[0].File != out.Runs[1].Name+"/run.txt" {
		t.Errorf("the runs are %v, diagnostics as %+v", out.Runs, out.Diagnostics)
	}
}

// Small stored runs can unpack to more than the memory of the process.
func TestFusion_BoundsUnpackedBytes(t *testing.T) {
	s := newToolServer(t, record.Public)
	block := measuretest.Gzip(t, strings.Repeat(strings.Repeat(" ", 1023)+"\n", 4<<10)) // of 4 MiB
	part := measuretest.Gzip(t, datasetRun)
	var large []*record.RunItem
	for range 7 { // each of 60 MiB; a file of this kind that unpacked to more would be refused as no text
		large = append(large, s.addRun(runSpec{public: true, content: strings.Repeat(block, 15)}))
	}
	small := s.addRun(runSpec{public: true, content: part})
	if a := s.invoke(http.StatusRequestEntityTooLarge, nil, "", "fusion", object{
		"runs": runRefs(large...)}); !strings.Contains(string(a.Body), "more than 402653184 bytes of text") {
		t.Errorf("%s", a.Body)
	}
	out := answer[tools.FusionOutput](s, "", "fusion", object{"runs": []object{runRef(small), inlineFiles("r", datasetRun)}})
	if len(out.File.Content) == 0 {
		t.Error("packed runs fuse to nothing")
	}
	damaged := s.addRun(runSpec{public: true, content: part[:len(part)-6]})
	s.wantRefusal("", "fusion", refusal{object{"runs": runRefs(small, damaged)}, "/runs/1", ""})
}
