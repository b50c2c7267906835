package evaluations_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/record"
)

func (f *fixture) whole(query string) string {
	return "/v1/datasets/" + f.dataset.ID + "/leaderboard?" + query
}

// A whole leaderboard equals its pages together, for every caller, in both formats.
func TestWholeLeaderboard_IsAllOfItsPages(t *testing.T) {
	s := serve(t)
	for i := range 30 {
		s.add(result{user: fmt.Sprint("user", i%7), value: float64(i%10) / 10, ap: float64(i%4) / 4, hidden: i%5 == 0, blinded: i%9 == 0,
			anonymous: i%7 == 2})
	}
	s.add(result{user: "=cmd()", value: -1, ap: .5})
	for _, user := range []string{"", "user0", "user2", "olga", "root"} {
		for _, query := range []string{"", "sort=AP", "best=true", "view=public", "best=true&sort=AP&view=public"} {
			var pages []record.Evaluation
			for offset := 0; ; offset += 4 {
				order := "&sort=rank"
				if strings.Contains(query, "sort=") {
					order = ""
				}
				page := s.get(user, s.board(fmt.Sprintf("%s%s&limit=4&offset=%d&filter[datasetId]=%s", query, order, offset, s.dataset.ID)))
				pages = append(pages, page...)
				if len(page) < 4 {
					break
				}
			}
			lines := bytes.Split(bytes.TrimSpace(s.Want(http.StatusOK, nil, user, http.MethodGet, s.whole(query), nil, "Accept",
				"application/jsonl").Body), []byte("\n"))
			rows, err := csv.NewReader(bytes.NewReader(s.Want(http.StatusOK, nil, user, http.MethodGet, s.whole(query), nil).Body)).ReadAll()
			if err != nil || len(lines) != len(pages) || len(rows) != len(pages)+1 {
				t.Fatalf("%q as %q: %d lines, %d rows, %v; want %d", query, user, len(lines), len(rows), err, len(pages))
			}
			for i, want := range pages {
				want.User = nil // Only pages have the names of users.
				text, _ := json.Marshal(want)
				if !bytes.Equal(lines[i], text) {
					t.Errorf("%q as %q: line %d is %s, want %s", query, user, i, lines[i], text)
				}
				rank := ""
				if want.Rank > 0 {
					rank = fmt.Sprint(want.Rank)
				}
				if row := rows[i+1]; row[0] != rank || row[3] != want.RunID || strings.TrimPrefix(row[1], "'") != want.Team {
					t.Errorf("%q as %q: row %d is %q, want %s", query, user, i, row, text)
				}
			}
		}
	}
	a := s.Want(http.StatusOK, nil, "", http.MethodGet, s.whole(""), nil)
	s.Want(http.StatusNotModified, nil, "", http.MethodGet, s.whole(""), nil, "If-None-Match", a.Header.Get("ETag"))
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, s.whole("sort=bogus"), nil)
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, s.whole("final=true"), nil)
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, s.whole("limit=5"), nil)
	s.Want(http.StatusNotAcceptable, nil, "", http.MethodGet, s.whole(""), nil, "Accept", "image/png")
}

// A leaderboard that is too long for an answer is behind a link, and needs a login.
func TestWholeLeaderboard_LeadsToWhatIsTooLong(t *testing.T) {
	s := serve(t)
	const entries = 10_000
	s.builder.Batch(func() {
		for i := range entries {
			s.add(result{user: fmt.Sprint("user", i), value: float64(i) / entries})
		}
	})
	jsonl := []string{"Accept", "application/jsonl"}
	s.Want(http.StatusUnauthorized, nil, "", http.MethodGet, s.whole(""), nil, jsonl...)
	s.Want(http.StatusOK, nil, "", http.MethodGet, s.whole(""), nil)                      // CSV is shorter.
	file := s.Want(http.StatusOK, nil, "reg", http.MethodGet, s.whole(""), nil, jsonl...) // The client follows the redirect.
	if n := bytes.Count(file.Body, []byte("\n")); n != entries || file.Header.Get("Content-Disposition") !=
		`attachment; filename="leaderboard.jsonl"` {
		t.Errorf("the answer leads to %d lines, %v", n, file.Header)
	}
}
