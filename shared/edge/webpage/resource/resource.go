// Package resource renders any JSON document of the API as an HTML page: a resource, a page of a list, or a problem. It does not know
// the types of documents, and shows exactly their members.
package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
	"assay/shared/language/problem"
)

// The go:generate directive of package webpage, the parent folder, writes the Go files of the templates here.

// maxEntries bounds the entries of each object or array that a page shows. The JSON has all entries.
const maxEntries = 200

// keyedMembers lists the members that map keys to values, such as measures to numbers, with the levels of keys in them. Names of measures
// and other keys are data, so that pages show them unchanged.
var keyedMembers = map[string]int{
	"checks": 1, "headers": 1, "intervals": 1, "measures": 1, "parameters": 1, "perTopic": 2, "reasons": 1, "signatures": 1, "texts": 1,
}

// value is a JSON value. The members of an object keep their order.
type value struct {
	name    string // of the member that has this value
	keys    int    // the levels of its members whose names are keys, such as names of measures, and not members that the API declares
	text    string // of a string, a number or another literal
	literal bool
	array   bool
	entries []value // the first entries
	count   int     // of all entries
	root    bool    // it is the whole document
}

// inConsole matches the paths of resources for which the console has a screen.
var inConsole = regexp.MustCompile(`^/v1(/(?:tasks|runs|organizers)/[0-9A-Z]{26})$`)

// consoleAddress returns the address of the resource in the console; empty: the console has no screen for it.
func consoleAddress(path string) string {
	if m := inConsole.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
}

// ofTask matches the paths of resources that belong to a task.
var ofTask = regexp.MustCompile(`^(/v1/tasks/[0-9A-Z]{26})/.`)

// taskAddress returns the address of the task that the resource at the path belongs to; empty: it belongs to none.
func taskAddress(path string) string {
	if m := ofTask.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
}

// signInAddress returns the address of the console where users sign in, and then see the resource at the path if the console has a screen
// for it.
func signInAddress(path string) string {
	to := consoleAddress(path)
	if to == "" {
		return "/console#/sign-in"
	}
	return "/console#/sign-in?to=" + url.QueryEscape(to)
}

// isProblem reports whether the value is a problem document.
func (v *value) isProblem() bool {
	return v.root && strings.HasPrefix(v.member("type"), problem.TypePrefix)
}

// status returns the HTTP status of a problem.
func (v *value) status() int {
	status, _ := strconv.Atoi(v.member("status")) // every problem has a number
	return status
}

// mayBeShown reports whether the problem is that the reader, who is not signed in, may not see or know something.
func (v *value) mayBeShown() bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, v.status())
}

// parse reads a value from the decoder. keys is the number of levels of keys in it.
func parse(d *json.Decoder, name string, keys int) (value, error) {
	v := value{name: name, keys: keys}
	token, err := d.Token()
	if err != nil {
		return v, err
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		v.literal, v.text = true, literal(token)
		return v, nil
	}
	v.array = delimiter == '['
	for d.More() {
		name := ""
		if !v.array {
			token, err := d.Token()
			if err != nil {
				return v, err
			}
			name = token.(string)
		}
		keys := v.keys - 1
		if v.keys == 0 {
			keys = keyedMembers[name]
		}
		entry, err := parse(d, name, keys)
		if err != nil {
			return v, err
		}
		v.count++
		if len(v.entries) < maxEntries+len(shownApart) {
			v.entries = append(v.entries, entry)
		}
	}
	_, err = d.Token()
	return v, err
}

func literal(token json.Token) string {
	switch x := token.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		if x {
			return "yes"
		}
		return "no"
	default:
		return "–"
	}
}

// member returns the text of a member; "" if it is missing.
func (v *value) member(name string) string {
	if m := v.find(name); m != nil {
		return m.text
	}
	return ""
}

func (v *value) find(name string) *value {
	i := slices.IndexFunc(v.entries, func(m value) bool { return m.name == name && !v.array })
	if i < 0 {
		return nil
	}
	return &v.entries[i]
}

// Render renders a document.
func Render(ctx context.Context, s api.JSONDocument) (body []byte, policy string, err error) {
	d := json.NewDecoder(bytes.NewReader(s.JSON))
	d.UseNumber()
	v, err := parse(d, "", 0)
	if err != nil {
		return nil, "", err
	}
	v.root = true
	title := v.title(s.Title)
	r, err := webpage.Page{Title: title, Console: consoleAddress(s.Path), Main: page(s, title, &v)}.Render(ctx)
	return r.HTML, r.Policy, err
}

// title returns the name of a resource. otherwise is returned for resources without a name.
func (v *value) title(otherwise string) string {
	for _, name := range []string{"name", "title", "action", "label", "team"} {
		if text := v.member(name); text != "" && text != "–" {
			return text
		}
	}
	return otherwise
}

var (
	// shownApart lists the members that a page shows outside its list of members.
	shownApart = []string{"description"}
	// inMarkdown lists the members that contain Markdown according to the OpenAPI document.
	inMarkdown = []string{"description", "comment", "body", "notes", "text"}
	// uninformative lists members that excerpts of resources leave out.
	uninformative = []string{"id", "updatedAt", "version"}
)

// members returns the entries to show in a list.
func (v *value) members() []value {
	kept := slices.DeleteFunc(slices.Clone(v.entries), func(m value) bool {
		return v.root && slices.Contains(shownApart, m.name) || m.name == "parts" && v.find("detail") != nil
	})
	return kept[:min(len(kept), maxEntries)]
}

// sentence returns the text of a problem or of a fault.
func (v *value) sentence() problem.Text {
	t := problem.Text{Detail: v.member("detail")}
	if parts := v.find("parts"); parts != nil && parts.array {
		for _, p := range parts.entries {
			t.Parts = append(t.Parts, problem.Part{Type: problem.PartType(p.member("type")), Value: p.member("value"),
				Operation: p.member("operation")})
		}
	}
	return t
}

// entryTitle returns the name of the resource at an index of a list, or its number in the list.
func (v *value) entryTitle(index int) string { return v.title("No. " + strconv.Itoa(index+1)) }

// excerpt summarizes a resource in a list by its description or its first members.
func (v *value) excerpt() string {
	if text := webpage.Excerpt(v.member("description")); text != "" {
		return text
	}
	var all []string
	for _, m := range v.entries {
		text := m.text
		if at, ok := m.instant(); ok {
			text = webpage.Instant(at)
		} else if slices.Contains(inMarkdown, m.name) {
			text = webpage.Excerpt(text)
		} else if !m.literal {
			text = m.title("") // for example the name of a person
		}
		if text != "" && text != "–" && !slices.Contains(uninformative, m.name) && !strings.HasSuffix(m.name, "Id") && len(all) < 6 {
			all = append(all, v.label(m.name)+": "+webpage.Truncate(text, 80))
		}
	}
	return strings.Join(all, " · ")
}

// instant returns the time in a member of the API whose name ends in At.
func (v *value) instant() (at time.Time, ok bool) {
	if !v.literal || v.keys > 0 || !strings.HasSuffix(v.name, "At") {
		return at, false
	}
	at, err := time.Parse(time.RFC3339, v.text)
	return at, err == nil
}

// literalText returns a literal in words. A limit of 0 runs means no limit, and an empty pointer means the whole body.
func (v *value) literalText(parent *value) string {
	if v.text == "" && v.name == "pointer" {
		return "the body as a whole"
	}
	if v.text == "0" && (v.name == "perDay" || v.name == "total") && parent.name == "submissions" {
		return "no limit"
	}
	return v.text
}

// resourcePaths maps members with the id of a resource to the path of that kind of resource. Users are missing: a browser that follows a
// link sends no token, so it sees no user.
var resourcePaths = map[string]string{
	"organizerId": "/v1/organizers/", "taskId": "/v1/tasks/", "datasetId": "/v1/datasets/", "runId": "/v1/runs/",
	"evaluationId": "/v1/evaluations/", "related": "/v1/platform/components/",
}

// address returns the address that a member links to; "": none.
func (v *value) address(parent *value) string {
	task := parent.member("taskId")
	switch place := resourcePaths[strings.TrimSuffix(v.name, "s")]; {
	case !v.literal || v.text == "" || v.text == "–":
		return ""
	case place != "":
		return place + url.PathEscape(v.text)
	case task != "" && (v.name == "submissionId" || v.name == "registrationId"):
		return "/v1/tasks/" + url.PathEscape(task) + "/" + strings.TrimSuffix(v.name, "Id") + "s/" + url.PathEscape(v.text)
	case strings.HasPrefix(v.text, "https://"), strings.HasPrefix(v.text, "http://"):
		return v.text
	case strings.HasPrefix(v.text, "/") && !strings.HasPrefix(v.text, "//") &&
		(v.name == "url" || v.name == "instance" || parent.name == "links"):
		return v.text
	}
	return ""
}

// namedLinks returns links from a resource in a list to the resources whose ids it contains.
func (v *value) namedLinks() (all []link) {
	for _, m := range v.entries {
		if address := m.address(v); strings.HasSuffix(m.name, "Id") && address != "" {
			all = append(all, link{v.label(strings.TrimSuffix(m.name, "Id")), address})
		}
	}
	return all
}

// entryAddress returns the address of an entry of the list at the path; "": it has none.
func (v *value) entryAddress(list string) string {
	id := url.PathEscape(v.member("id"))
	switch task := v.member("taskId"); {
	case id == "" || strings.HasSuffix(list, "/audit-entries"):
		return ""
	case strings.HasSuffix(list, "/submissions") && task != "":
		return "/v1/tasks/" + url.PathEscape(task) + "/submissions/" + id
	}
	return list + "/" + id
}

// link is a link with its text.
type link struct{ name, address string }

// relatedLinks returns links from the resource at the path to the list that contains it, and to the resources that belong to it.
func (v *value) relatedLinks(path string) []link {
	id := v.member("id")
	at := strings.LastIndex(path, "/")
	if id == "" || at < 0 || path[at+1:] != id {
		return nil
	}
	all := []link{{"All " + path[strings.LastIndex(path[:at], "/")+1:at], path[:at]}}
	switch path[:at] {
	case "/v1/organizers":
		all = append(all, link{"Tasks", "/v1/tasks?filter[organizerId]=" + id})
	case "/v1/tasks":
		all = append(all, link{"Leaderboard", path + "/evaluations?sort=rank"}, link{"Datasets", "/v1/datasets?filter[taskId]=" + id},
			link{"Submissions", path + "/submissions"}, link{"Announcements", path + "/announcements"})
	case "/v1/datasets":
		all = append(all, link{"Leaderboard", "/v1/tasks/" + v.member("taskId") + "/evaluations?sort=rank&filter[datasetId]=" + id})
	case "/v1/runs":
		all = append(all, link{"Evaluations", "/v1/evaluations?filter[runId]=" + id})
	}
	return all
}

// label converts the name of a member to words: finalRuns becomes Final runs. Keys remain unchanged.
func (v *value) label(name string) string {
	if v.keys > 0 {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case unicode.IsUpper(r):
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
