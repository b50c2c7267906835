package tools_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools/inputs"
	"assay/shared/record"
)

// An answer that lacks texts names the files of the dataset that have none.
func TestTexts_ReportFaultsOfFiles(t *testing.T) {
	s := newToolServer(t, record.Public)
	first, second := runRef(s.addRun(runSpec{public: true, content: trecRun("1 ab")})),
		runRef(s.addRun(runSpec{public: true, content: trecRun("1 ba")}))
	texts := s.dataset.Inputs
	readme := s.records.File(record.HolderInputs, s.dataset.ID, "<b>readme</b>", "These are lakes.\n")
	large := readme
	large.Size = inputs.MaxStoredBytes
	for name, c := range map[string]struct {
		inputs []record.File
		file   string // that is to blame
		says   string // empty: no fault
	}{
		"found":      {texts, "", ""},
		"found all":  {append(slices.Clone(texts), readme), "", ""},
		"no format":  {[]record.File{readme, texts[1]}, readme.Name, "known format"},
		"too large":  {[]record.File{large}, "", "must be sent along"},
		"no inputs":  {nil, "", ""},
		"not stored": {[]record.File{{Name: "documents.tsv", SHA256: readme.SHA256, Size: 1, State: record.FilePending}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s.dataset.Inputs = c.inputs
			record.Touch(s.dataset.DatasetItem, s.Now())
			s.records.Replace(s.dataset.DatasetItem)
			for tool, input := range map[string]object{"serp": {"run": first}, "diffir": {"runs": []any{first, second}}} {
				var got struct{ TextFaults []inputs.TextFault }
				s.invoke(http.StatusOK, &got, "", tool, input)
				page := s.page("", tool, input)
				if c.says == "" {
					if len(got.TextFaults) > 0 {
						t.Errorf("%s reports %+v", tool, got.TextFaults)
					}
					continue
				}
				if len(got.TextFaults) != 1 || got.TextFaults[0].File != c.file || !strings.Contains(got.TextFaults[0].Detail, c.says) {
					t.Errorf("%s reports %+v", tool, got.TextFaults)
				}
				if !strings.Contains(page, c.says) || strings.Contains(page, readme.Name) {
					t.Errorf("the page of %s does not say it", tool)
				}
			}
		})
	}
	s.dataset.Inputs = []record.File{texts[0], readme}
	record.Touch(s.dataset.DatasetItem, s.Now())
	s.records.Replace(s.dataset.DatasetItem)
	for query, want := range map[string]int{"": 1, "boats": 0} {
		var got struct{ TextFaults []inputs.TextFault }
		if s.invoke(http.StatusOK, &got, "", "serp", object{"run": first, "query": query}); len(got.TextFaults) != want {
			t.Errorf("with the query %q it reports %+v", query, got.TextFaults)
		}
	}
}
