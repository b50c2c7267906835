package functions_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"assay/shared/record"
)

// The page marks what others are not shown, counts it, and links to what they are shown.
func TestLeaderboardPage_MarksWhatOthersAreNotShown(t *testing.T) {
	b := newBoards(t)
	ada, bob := b.submit("ada", "1,a\n2,b\n"), b.submit("bob", "1,a\n2,a\n")
	b.review(bob, true, false)
	var found struct{ Data []record.Registration }
	b.Want(http.StatusOK, &found, "bob", http.MethodGet, b.task+"/registrations", nil)
	b.Want(http.StatusOK, nil, "bob", http.MethodPatch, b.task+"/registrations/"+found.Data[0].ID, map[string]any{"anonymous": true})
	page := func(user, query string) string {
		return string(b.Want(http.StatusOK, nil, user, http.MethodGet, b.task+"/evaluations?"+query, nil, "Accept", "text/html").Body)
	}
	has := func(page string, want bool, words ...string) {
		t.Helper()
		for _, word := range words {
			if strings.Contains(page, word) != want {
				t.Errorf("that the page has %q is not %v:\n%s", word, want, page)
			}
		}
	}
	for _, user := range []string{"ada", "olga"} {
		own := page(user, "best=false&limit=7")
		has(own, true, "All runs that you may see", "Not public: 1 of 2 entries", ">not published</span>")
		has(own, user == "olga", "shown to others as <bdi>"+found.Data[0].Alias)
		link := regexp.MustCompile(`href="([^"]*)">As the public sees it`).FindStringSubmatch(own)
		if link == nil {
			t.Fatal("no link to the public view")
		}
		path := html.UnescapeString(link[1])
		public := page(user, path[strings.Index(path, "?")+1:])
		has(public, true, "All published runs", "As you see it", found.Data[0].Alias, "limit=7", "view=public")
		has(public, true, "limit=200") // the command for a table of text
		has(public, false, "Not public:", "Team of", "not published", ada)
	}
	has(page("", "best=false"), true, "All published runs")
	has(page("", "best=false"), false, "As the public sees it", "Team of", "Not public:")
}
