package tools_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/record"
)

// Every tool computes from its own example, by POST and by GET, as every media type that it says.
func TestTools_ComputeTheirExamples(t *testing.T) {
	s := newToolServer(t, record.Public)
	s.dataset.Meta = record.NewMeta(s.Now())
	s.dataset.ID = "01JZ3V7Q0D8T5RZ0S6R1W9C4XK" // of the example of a leaderboard, which nothing but a dataset has
	s.Records().Put(s.dataset.DatasetItem)
	s.addEvaluatedRun(runSpec{user: "ada", ap: topicValues(.1, .2, .3)})
	var list struct {
		Data []struct {
			Name, URL  string
			MediaTypes []string
			Example    any
		}
	}
	s.Want(http.StatusOK, &list, "", http.MethodGet, "/v1/tools", nil)
	for _, tool := range list.Data {
		for _, media := range tool.MediaTypes {
			if to := map[string]string{"text/csv": "csv", "text/tab-separated-values": "beir"}[media]; to != "" {
				tool.Example.(object)["to"] = to
			}
			a := s.Want(http.StatusOK, nil, "", http.MethodPost, tool.URL, tool.Example, "Accept", media)
			address := a.Header.Get("Content-Location")
			if address == "" {
				t.Errorf("%s as %s has no address", tool.Name, media)
				continue
			}
			again := s.Want(http.StatusOK, nil, "", http.MethodGet, address, nil, "Accept", media)
			if !bytes.Equal(a.Body, again.Body) || a.Header.Get("ETag") != again.Header.Get("ETag") {
				t.Errorf("%s as %s answers GET with another answer:\n%s\n%s", tool.Name, media, a.Body, again.Body)
			}
			s.Want(http.StatusNotModified, nil, "", http.MethodGet, address, nil, "Accept", media, "If-None-Match", a.Header.Get("ETag"))
		}
	}
}

// A tool is a resource, and names of resources are nouns.
func TestTools_AreNamedByNouns(t *testing.T) {
	s := newToolServer(t, record.Public)
	var list struct{ Data []struct{ Name string } }
	s.Want(http.StatusOK, &list, "", http.MethodGet, "/v1/tools", nil)
	nouns := []string{"evaluator", "validator", "diffir", "serp", "leaderboard", "significance", "topics", "fusion", "converter"}
	var names []string
	for _, tool := range list.Data {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, nouns) {
		t.Errorf("the tools are %v, want the nouns %v", names, nouns)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if a := s.Want(http.StatusNotFound, nil, "", method, "/v1/tools/nosuch", nil); !strings.Contains(string(a.Body),
			strings.Join(nouns, ", ")) {
			t.Errorf("%s of another: %s", method, a.Body)
		}
	}
}
