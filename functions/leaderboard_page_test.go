package functions_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

// The page marks what others are not shown, counts it, and links to what they are shown.
func TestLeaderboardPage_MarksWhatOthersAreNotShown(t *testing.T) {
	l := newLeaderboards(t)
	ada, bob := l.enter("ada", "1,a\n2,b\n"), l.enter("bob", "1,a\n2,a\n")
	l.review(bob, true, false)
	registration := servertest.List[record.Registration](l.Server, "bob", l.task+"/registrations")[0]
	l.change("bob", l.task+"/registrations/"+registration.ID, map[string]any{"anonymous": true})
	has := func(page string, want bool, words ...string) {
		t.Helper()
		for _, word := range words {
			if strings.Contains(page, word) != want {
				t.Errorf("that the page has %q is not %v:\n%s", word, want, page)
			}
		}
	}
	for _, user := range []string{"ada", "olga"} {
		own := l.page(user, "best=false&limit=7")
		has(own, true, "All runs that you may see", "Not public: 1 of 2 entries", ">not published</span>")
		has(own, user == "olga", "shown to others as <bdi>"+registration.Alias)
		link := regexp.MustCompile(`href="([^"]*)">As the public sees it`).FindStringSubmatch(own)
		if link == nil {
			t.Fatal("no link to the public view")
		}
		path := html.UnescapeString(link[1])
		public := l.page(user, path[strings.Index(path, "?")+1:])
		has(public, true, "All published runs", "As you see it", registration.Alias, "limit=7", "view=public")
		has(public, true, "limit=200") // the command for a table of text
		has(public, false, "Not public:", "Team of", "not published", ada)
	}
	has(l.page("", "best=false"), true, "All published runs")
	has(l.page("", "best=false"), false, "As the public sees it", "Team of", "Not public:")
}
