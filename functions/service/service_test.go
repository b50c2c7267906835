package service_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/api/apitest"
	"assay/shared/api/servertest"
)

func TestTheDocumentIsFreeOfFaults(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	doc := s.Want(http.StatusOK, nil, "", http.MethodGet, "/openapi.json", nil)
	for _, fault := range apitest.Lint(doc.Body) {
		t.Error(fault)
	}
}

func TestThePageNamesEveryOperation(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	page := string(s.Want(http.StatusOK, nil, "", http.MethodGet, "/docs", nil, "Accept", "text/html").Body)
	for _, op := range functions.Operations() {
		if !strings.Contains(page, `id="`+op.ID+`"`) {
			t.Errorf("the page does not show %s", op.ID)
		}
	}
	if strings.Contains(page, "://") && strings.Contains(page, "src=") {
		t.Error("the page asks for something from elsewhere")
	}
}

func TestHealthFollowsTheStore(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Want(http.StatusOK, nil, "", http.MethodGet, "/health", nil)
	if err := s.Store.(interface{ Close() error }).Close(); err != nil {
		t.Fatal(err)
	}
	s.Want(http.StatusServiceUnavailable, nil, "", http.MethodGet, "/health", nil)
}
