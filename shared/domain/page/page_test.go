package page_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/page"
	"assay/shared/language/problem"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var spec = page.Spec{
	List: true, Sort: true, Fields: []string{"id", "name"}, Custom: []string{"language"},
	Filters: []page.Filter{
		{Name: "taskId", Type: page.ID}, {Name: "name"}, {Name: "best", Type: page.Bool, Standalone: true},
		{Name: "split", Type: page.Enum, Values: []string{"training", "test"}},
	},
}

const someID = "01JZ3V7Q0D8T5RZ0S6R1W9C4XK"

func TestParse_RefusesWithWhatIsAllowed(t *testing.T) {
	for query, want := range map[string]string{
		"":                                       "",
		"limit=1":                                "",
		"limit=0":                                "limit must be a whole number",
		"limit=-1":                               "limit must be a whole number",
		"limit=1.5":                              "limit must be a whole number",
		"limit=":                                 "limit must be a whole number",
		"limit=99999999999999999999999":          "",
		"limit=1&limit=2":                        "given 2 times",
		"cursor=" + someID:                       "",
		"cursor=x":                               "not one",
		"cursor=8" + someID[1:]:                  "not one",
		"sort=rank&offset=3":                     "",
		"offset=3":                               "offset goes only with sort",
		"sort=rank&cursor=" + someID:             "sort does not go with cursor",
		"sort=rank&offset=-1":                    "offset must be",
		"sort=rank&offset=+1":                    "offset must be",
		"sort=rank&offset=":                      "offset must be",
		"sort=rank&offset=999999999999999999999": "",
		"sort=":                                  "sort must be",
		"filter[taskId]=" + someID:               "",
		"filter[taskId]=a":                       "takes ids",
		"filter[split]=test,training":            "",
		"filter[split]=other":                    "takes training, test",
		"filter[name]=":                          "takes values",
		"filter[colour]=red":                     "Allowed: filter[taskId]",
		"filter=red":                             "There is no parameter",
		"best=true":                              "",
		"best=yes":                               "true or false",
		"fields=id,name":                         "",
		"fields=id,colour":                       "The fields are: id, name",
		"language=go":                            "",
		"colour=red":                             "There is no parameter",
		"a=%zz":                                  "not well-formed",
		"a=1;b=2":                                "not well-formed",
		"filter[name]=" + strings.Repeat("x", 300):  "takes values",
		"filter[name]=" + strings.Repeat("x,", 60):  "at most 50 values",
		"filter[name]=" + strings.Repeat("x", 9000): "longer than",
	} {
		_, err := spec.Parse(query)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q: %v, want %q", query, err, want)
		}
	}
}

func TestParse_BoundsLimit(t *testing.T) {
	for query, want := range map[string]int{"": 50, "limit=7": 7, "limit=200": 200, "limit=201": 200, "limit=99999999999999999999": 200} {
		if r, err := spec.Parse(query); err != nil || r.Limit != want {
			t.Errorf("%q: limit %d, %v; want %d", query, r.Limit, err, want)
		}
	}
}

func TestLink_SortedListEndsAtMaxOffset(t *testing.T) {
	for offset, past := range map[string]bool{"0": false, "100000": false, "100001": true, "99999999999999999999": true} {
		r, err := spec.Parse("sort=rank&offset=" + offset)
		if err != nil || r.PastEnd() != past {
			t.Errorf("offset %s: past the end %v, %v", offset, r.PastEnd(), err)
		}
		p := page.Page[int]{Data: []int{1}, More: true}
		p.Link("/x", "", r)
		if last := offset != "0"; last != (p.Links.Next == "") {
			t.Errorf("offset %s goes on at %q", offset, p.Links.Next)
		}
	}
}

func TestParse_RefusesListParametersWithoutList(t *testing.T) {
	for _, query := range []string{"limit=1", "cursor=" + someID, "sort=rank", "fields=id"} {
		if _, err := (page.Spec{}).Parse(query); !problem.InvalidParameter.Is(err) {
			t.Errorf("%s: %v, want it to be refused", query, err)
		}
	}
}

// The next link requests the rest of the same list.
func TestLink_NextAsksForTheSameList(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		query := url.Values{}
		if rapid.Bool().Draw(t, "named") {
			query.Set("filter[name]", rapid.StringMatching(`[a-zäß&=%+ ]{1,20}`).Draw(t, "name"))
		}
		if rapid.Bool().Draw(t, "limited") {
			query.Set("limit", "3")
		}
		sorted := rapid.Bool().Draw(t, "sorted")
		if sorted {
			query.Set("sort", "rank")
			query.Set("offset", "4")
		}
		r, err := spec.Parse(query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		p := page.Page[int]{Data: []int{1, 2, 3}, Cursor: someID, More: true}
		p.Link("/v1/things", query.Encode(), r)
		u, err := url.Parse(p.Links.Next)
		if err != nil || u.Path != "/v1/things" {
			t.Fatal(p.Links.Next, err)
		}
		next, err := spec.Parse(u.RawQuery)
		if err != nil {
			t.Fatal(err)
		}
		if sorted && (next.Offset != 7 || next.Cursor != "") || !sorted && next.Cursor != someID {
			t.Fatalf("%+v", next)
		}
		if strings.Join(next.Values("name"), ",") != strings.Join(r.Values("name"), ",") || next.Limit != r.Limit {
			t.Fatalf("%+v after %+v", next, r)
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "limit=1&cursor=" + someID, "filter[name]=a,b&fields=id", "sort=rank&offset=9",
		"filter%5Bsplit%5D=test", "a=%00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r, err := spec.Parse(query)
		if err != nil {
			if !problem.InvalidParameter.Is(err) && !problem.InvalidCursor.Is(err) {
				t.Fatalf("%v is no problem of a parameter", err)
			}
			return
		}
		if r.Limit < 1 || r.Limit > page.MaxLimit || r.Offset < 0 || r.Offset > page.MaxOffset+1 {
			t.Fatalf("%+v", r)
		}
		p := page.Page[int]{Data: []int{1}, Cursor: someID, More: true}
		p.Link("/x", query, r)
		u, err := url.Parse(p.Links.Next)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spec.Parse(u.RawQuery); err != nil && len(u.RawQuery) < 8000 {
			t.Fatalf("the next link of %q is refused: %v", query, err)
		}
	})
}

// Following the cursors returns every resource once, in order.
func TestOf_PagesHaveEverythingOnce(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}
	self := func(s string) string { return s }
	for limit := 1; limit <= 6; limit++ {
		var got []string
		for r := (page.Request{Limit: limit}); ; {
			p, err := page.Of(r, all, self)
			if err != nil || len(p.Data) > limit {
				t.Fatalf("limit %d from %q: %v, %v", limit, r.Cursor, p.Data, err)
			}
			got = append(got, p.Data...)
			r.Cursor = p.Cursor
			if r.Cursor == "" {
				break
			}
		}
		if !slices.Equal(got, all) {
			t.Errorf("pages of %d have %v", limit, got)
		}
	}
	if _, err := page.Of(page.Request{Limit: 1, Cursor: "x"}, all, self); !problem.InvalidCursor.Is(err) {
		t.Errorf("a cursor that names nothing: %v", err)
	}
}
