package tools_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/measure"
	"assay/shared/measure/measuretest"
	"assay/shared/record"
)

// exampleRuns are runs of a topic: a 10, b 6, c 2 and b 8, d 4, a 3.
func exampleRuns() []object {
	return []object{
		inlineFiles("r1", "t Q0 a 1 10 x\nt Q0 b 2 6 x\nt Q0 c 3 2 x\n"),
		inlineFiles("r2", "t Q0 a 1 3 y\nt Q0 d 2 4 y\nt Q0 b 3 8 y\n"),
	}
}

// TestFusion_ByHand works out what fusion.TestFusion_ByHand does, for what the tool fills in and for what it is told.
func TestFusion_ByHand(t *testing.T) {
	s := newToolServer(t, record.Public)
	type scores map[string]float64
	for _, c := range []struct {
		settings      object
		tag, filledIn string
		order         string
		want          scores
	}{
		{object{}, "fused", "rrf 60  1000", "badc", scores{"a": 1./61 + 1./63, "b": 1./62 + 1./61, "c": 1. / 63, "d": 1. / 62}},
		{object{"k": 1, "tag": "one", "depth": 3}, "one", "rrf 1  3", "bad", scores{"a": 1./2 + 1./4, "b": 1./3 + 1./2, "d": 1. / 3}},
		{object{"method": "combsum"}, "fused", "combsum 0 min-max 1000", "badc", scores{"a": 1, "b": 1.5, "c": 0, "d": 0.2}},
		{object{"method": "combsum", "normalization": "none"}, "fused", "combsum 0 none 1000", "badc", scores{"a": 13, "b": 14, "c": 2, "d": 4}},
		{object{"method": "combmnz"}, "fused", "combmnz 0 min-max 1000", "badc", scores{"a": 2, "b": 3, "c": 0, "d": 0.2}},
	} {
		c.settings["runs"] = exampleRuns()
		var out tools.FusionOutput
		s.invoke(http.StatusOK, &out, "", "fusion", c.settings)
		if got := fmt.Sprint(out.Method, " ", out.K, " ", out.Normalization, " ", out.Depth); got != c.filledIn || out.Tag != c.tag {
			t.Errorf("it was fused by %s with the tag %s, want %s and %s", got, out.Tag, c.filledIn, c.tag)
		}
		text := s.invoke(http.StatusOK, nil, "", "fusion", c.settings, "Accept", "text/plain")
		if !bytes.Equal(text.Body, out.File.Content) || text.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("as %s it is another file:\n%s", text.Header.Get("Content-Type"), text.Body)
		}
		order := ""
		for i, line := range strings.Split(strings.TrimSuffix(string(out.File.Content), "\n"), "\n") {
			var doc, tag string
			var rank int
			var score float64
			if _, err := fmt.Sscanf(line, "t Q0 %s %d %g %s", &doc, &rank, &score, &tag); err != nil || rank != i+1 || tag != c.tag {
				t.Errorf("%q: %v", line, err)
			}
			if math.Abs(score-c.want[doc]) > 1e-15 {
				t.Errorf("%s has %v, want %v", doc, score, c.want[doc])
			}
			order += doc
		}
		if order != c.order {
			t.Errorf("%s: order %s, want %s", c.filledIn, order, c.order)
		}
	}
}

func TestFusion_RefusesConflictingSettings(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.wantRefusals("fusion", map[string]refusal{
		"normalization of ranks": {object{"runs": exampleRuns(), "normalization": "rank"}, "/normalization", ""},
		"k of scores":            {object{"runs": exampleRuns(), "method": "combmnz", "k": 60}, "/k", ""},
		"white space in the tag": {object{"runs": exampleRuns(), "tag": "a b"}, "/tag", ""},
		"depth below 0":          {object{"runs": exampleRuns(), "depth": -1}, "/depth", ""},
		"unknown method":         {object{"runs": exampleRuns(), "method": "borda"}, "/method", ""},
		"one run":                {object{"runs": exampleRuns()[:1]}, "/runs", ""},
	})
}

// Files of several runs may have the same name.
func TestFusion_NamesTheFaultyRun(t *testing.T) {
	s := newToolServer(t, record.Public)
	const good, other, bad = "t Q0 a 1 1 x\n", "t Q0 b 1 1 x\nu Q0 b 1 1 x\n", "t Q0 a 1 high x\n"
	vast := inlineFiles("run.txt", "t Q0 a 1 1e308 x\n")
	s.wantRefusals("fusion", map[string]refusal{
		"inline run": {object{"runs": []object{inlineFiles("run.txt", good), inlineFiles("more.txt", "v Q0 a 1 1 x\n", "run.txt", bad)}}, "/runs/1/files/1", "line 1: the score"},
		"stored run": {object{"runs": []object{inlineFiles("run.txt", good), runRef(s.addRun(runSpec{public: true, content: bad}))}}, "/runs/1", ""},
		// The file b/c has the name that c of the run b would get.
		"name that another file would get": {object{"runs": []object{
			withMembers(inlineFiles("b/c", bad, "c", "v Q0 a 1 1 x\n"), "name", "a"), withMembers(inlineFiles("c", good), "name", "b"),
		}}, "/runs/0/files/0", ""},
		"scores without a sum": {object{"runs": []object{vast, vast}, "method": "combsum", "normalization": "none"}, "/runs", ""},
	})
	var out tools.FusionOutput
	s.invoke(http.StatusOK, &out, "", "fusion", object{"runs": []object{
		namedRun("full", other), namedRun("short", good),
	}})
	if len(out.Diagnostics) != 1 || out.Diagnostics[0].File != "short/run.txt" || out.Diagnostics[0].Severity != measure.Warning {
		t.Errorf("diagnostics %+v", out.Diagnostics)
	}
}

func TestFusion_OfStoredRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	var out, same tools.FusionOutput
	one, other := s.addRun(runSpec{public: true}), s.addRun(runSpec{hidden: true, content: "1 Q0 d 1 2.0 tag\n"})
	s.invoke(http.StatusOK, &out, "alice", "fusion", object{"runs": runRefs(one, other)})
	s.invoke(http.StatusOK, &same, "", "fusion", object{"runs": []object{
		inlineFiles("run.txt", "1 Q0 d 1 2.0 tag\n"), inlineFiles("b", datasetRun),
	}})
	if !bytes.Equal(out.File.Content, same.File.Content) || len(out.File.Content) == 0 {
		t.Errorf("stored runs fuse to\n%s and the same that come along to\n%s", out.File.Content, same.File.Content)
	}
	if out.Runs[0].RunID != one.ID || out.Runs[0].Name != "team of alice" || out.Runs[1].Name != "team of alice (2)" || out.Diagnostics[0].File != "team of alice (2)/run.txt" {
		t.Errorf("the runs are %v, diagnostics as %+v", out.Runs, out.Diagnostics)
	}
}

// Runs that are small as they are stored can take all the memory there is once they are unpacked.
func TestFusion_BoundsUnpackedBytes(t *testing.T) {
	s := newToolServer(t, record.Public)
	block := measuretest.Gzip(t, strings.Repeat("\n", 4<<20))
	part := measuretest.Gzip(t, datasetRun)
	one, other, small := s.addRun(runSpec{public: true, content: strings.Repeat(block, 65)}), s.addRun(runSpec{public: true, content: strings.Repeat(block, 64)}), s.addRun(runSpec{public: true, content: part})
	if a := s.invoke(http.StatusRequestEntityTooLarge, nil, "", "fusion", object{"runs": runRefs(one, other)}); !strings.Contains(string(a.Body), "unpack to more than 536870912 bytes") {
		t.Errorf("%s", a.Body)
	}
	var out tools.FusionOutput
	s.invoke(http.StatusOK, &out, "", "fusion", object{"runs": []object{runRef(small), inlineFiles("r", datasetRun)}})
	if len(out.File.Content) == 0 {
		t.Error("packed runs fuse to nothing")
	}
	damaged := s.addRun(runSpec{public: true, content: part[:len(part)-6]})
	s.wantRefusal("", "fusion", refusal{object{"runs": runRefs(small, damaged)}, "/runs/1", ""})
}
