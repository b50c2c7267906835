//go:build browser

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/shared/edge/webpage/browsertest"
)

// hostile is a name that contains markup, and is wider than any page.
const hostile = `<img src=x onerror="window.intruded=1"><script>intruded=1</script>'">` + "wwwwwwwwwwwwwwwwwwwwwwww"

const hostileMarkdown = "# " + hostile + "\n\n<script>window.intruded=1</script><img src=x onerror=window.intruded=1>\n\n" +
	"[click](javascript:window.intruded=1) ![image](https://tracker.example/pixel.png) <javascript:window.intruded=1>" +
	"[data](data:text/html,x)\n\n" +
	"| a | b |\n|---|---|\n| " + hostile + " | 2 |\n\n```\n" + hostile + "\n```\n"

// hostileScreens makes resources with hostile texts, and returns the screens by the user who opens them.
func (s *testServer) hostileScreens(t *testing.T) map[string][]string {
	t.Helper()
	olga := s.token(t, "olga")
	alice := s.token(t, "alice")
	bob := s.token(t, "bob")
	organizer := s.post(t, olga, "/v1/organizers", map[string]any{"name": hostile, "description": hostileMarkdown})
	task := s.post(t, olga, "/v1/tasks", map[string]any{"organizerId": strings.TrimPrefix(organizer, "/v1/organizers/"), "name": hostile,
		"visibility": "public", "description": hostileMarkdown, "registration": map[string]any{"mode": "approval"},
		"submissions": map[string]any{"perDay": 10},
		"terms":       map[string]any{"text": hostileMarkdown}})
	dataset := s.dataset(t, olga, task, "1 0 a 1\n2 0 b 1\n", map[string]any{"name": hostile, "description": hostileMarkdown, "finalRuns": 1,
		"evaluator": map[string]any{"kind": "retrieval", "measures": []any{"AP", "P@2"}},
		"columns":   []any{map[string]any{"key": "P@2", "title": hostile[:80], "group": hostile[:80], "decimals": 12}}})
	register := func(token, team string) string {
		return s.post(t, token, task+"/registrations", map[string]any{"team": team, "acceptedTerms": 1, "affiliation": hostile,
			"contact": hostile})
	}
	team := register(alice, hostile)
	register(bob, "2"+hostile)
	s.call(t, olga, "PATCH", team, map[string]any{"state": "accepted"}, nil)
	s.post(t, olga, task+"/announcements", map[string]any{"title": hostile, "body": hostileMarkdown})
	s.post(t, olga, team+"/exceptions", map[string]any{"perDay": 1, "reason": hostile})
	s.post(t, olga, organizer+"/webhooks", map[string]any{"url": "https://hooks.example/" + strings.Repeat("w", 200)})
	var runs []string
	for range 2 {
		var made struct{ RunIDs []string }
		s.call(t, alice, "POST", task+"/submissions", map[string]any{"type": "upload", "again": true, "title": hostile, "notes": hostile,
			"description": hostileMarkdown,
			"files":       []any{map[string]any{"datasetId": dataset, "name": "a<b>.txt", "content": "MSBRMCBhIDEgMiB0Cg=="}}}, &made)
		runs = append(runs, made.RunIDs[0])
	}
	var user struct{ ID string }
	s.get(t, alice, "/v1/user", &user)
	task = task[3:]
	team = team[3:]
	organizer = organizer[3:]
	dataset = "/datasets/" + dataset
	run := "/runs/" + runs[0]
	return map[string][]string{
		"": {"/", "/?show=mine", "/sign-in", task, task + "/join", task + "/leaderboard", "/join"},
		"alice": {"/?show=mine", task, task + "/team", task + "/submit", task + "/submit?type=image", task + "/submit?type=repository",
			task + "/runs", "/runs", run, run + "/serp", "/me", "/compare?runs=" + strings.Join(runs, ",")},
		"olga": {"/?show=mine", "/desk", task, task + "/edit", task + "/datasets/new", dataset + "/edit", task + "/submit?baseline=1",
			task + "/desk",
			task + "/desk?part=registrations", task + "/desk?part=announcements", team, task + "/audit", task + "/webhooks", run + "/review", run,
			organizer, organizer + "/audit", organizer + "/webhooks", "/organizers/new", "/tasks/new", "/trash", task + "/leaderboard",
			"/compare?tool=topics&runs=" + strings.Join(runs, ","), "/compare?tool=diffir&runs=" + strings.Join(runs, ",")},
		"root": {"/admin", "/admin/users", "/admin/users/" + user.ID, "/trash"},
	}
}

// TestConsole_ShowsHostileTextsAsTexts opens every screen in every view, with hostile names and texts. It checks each screen with axe, its
// width, and the absence of words that screens show for missing values.
func TestConsole_ShowsHostileTextsAsTexts(t *testing.T) {
	t.Parallel()
	s := start(t, "-demo=false") // Its lists have only these texts.
	screens := s.hostileScreens(t)
	source, err := os.ReadFile("../functions/console/src/screen.tsx")
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range regexp.MustCompile(`, "(/[^"]*)"`).FindAllSubmatch(source, -1) {
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`:\w+`).ReplaceAllString(string(route[1]), `[0-9A-Z]{26}`) + `(\?.*)?$`)
		if !slices.ContainsFunc(slices.Concat(screens[""], screens["alice"], screens["olga"], screens["root"]), pattern.MatchString) {
			t.Errorf("nobody looks at %s", route[1])
		}
	}
	for user, hashes := range screens {
		for _, v := range browsertest.Views() {
			t.Run(user+" "+v.String(), func(t *testing.T) {
				t.Parallel()
				p := s.open(t, "/console#/sign-in", v)
				if user != "" {
					var groups []string
					if user == "root" {
						groups = []string{"admins"}
					}
					p.adopt(s.token(t, user, groups...), "/me")
					p.Sees("Sign out")
				}
				for _, hash := range hashes {
					p.checkHostile(hash)
				}
			})
		}
	}
}

// checkHostile checks a screen with hostile texts.
func (p *consolePage) checkHostile(hash string) {
	p.t.Helper()
	p.t.Logf("%s:", hash) // The following lines of the log are about this screen.
	p.Visit("/nothing")
	p.Sees("There is nothing here")
	p.Visit(hash)
	p.Await(`!/^There is nothing/.test(document.querySelector("main h1")?.textContent ?? "There is nothing") &&
document.querySelector("main [aria-busy=true]") === null`)
	p.Check(p.url+"/", "blob:")
	if found := browsertest.Evaluate[string](p.Page, `"intruded" in window ? "a script ran" :
document.querySelector("[onerror], main img:not(.picture > img[src^='blob:']), main script, " +
"a[href^='javascript:'], a[href^='data:']")?.outerHTML ??
/undefined|\[object|NaN/.exec(document.querySelector("main").innerText)?.[0] ?? ""`); found != "" {
		p.t.Errorf("the screen has %s", found)
	}
}

// TestConsole_PolicyBlocksWhatIsInjected acts like an injected script. The policy must prevent that a script runs, that a text becomes
// markup, and that data is sent to other servers.
func TestConsole_PolicyBlocksWhatIsInjected(t *testing.T) {
	t.Parallel()
	s := useShared(t)
	p := s.open(t, "/console", browsertest.DeskLight)
	p.Sees("Tasks")
	for name, script := range map[string]string{
		"markup":          `document.body.innerHTML = "<img src=x onerror='window.intruded = 1'>"`,
		"inline script":   `document.body.append(Object.assign(document.createElement("script"), { textContent: "window.intruded = 1" }))`,
		"eval":            `eval("window.intruded = 1")`,
		"script of files": `document.body.append(Object.assign(document.createElement("script"), { src: "/files/x.js" }))`,
		"other policy":    `trustedTypes.createPolicy("other", { createHTML: s => s })`,
		"request":         `await fetch("https://elsewhere.example/")`,
		"frame":           `(() => { const f = document.createElement("iframe"); f.src = "/docs"; document.body.append(f); return new Promise(d => f.onload = d).then(() => f.contentDocument.title && (window.intruded = 1)); })()`,
		"inline style":    `document.body.setAttribute("style", "color: red"); if (document.body.style.color === "red") window.intruded = 1`,
	} {
		got := browsertest.Evaluate[string](p.Page, `(async () => {
const blocked = new Promise(done => addEventListener("securitypolicyviolation", e => done(e.effectiveDirective), { once: true }));
await new Promise(later => setTimeout(later)); // by then the debugger no longer lets eval pass
try { `+script+` } catch (error) { if (error.name === "TypeError" || error.name === "EvalError") { return "thrown"; } }
return Promise.race([blocked, new Promise(done => setTimeout(() => done("nothing"), 30_000))]); })()`)
		if got == "nothing" || browsertest.Evaluate[bool](p.Page, `"intruded" in window`) {
			t.Errorf("%s: the policy does %s", name, got)
		}
	}
}

// TestConsole_AnswersEveryAddress opens addresses that lead nowhere, and an invitation in a tab that shows the console already.
func TestConsole_AnswersEveryAddress(t *testing.T) {
	t.Parallel()
	s := start(t, "-demo=false") // It has no task.
	p := s.open(t, "/console", browsertest.DeskLight)
	p.Await(`document.querySelector("h1")?.textContent === "Tasks"`)
	for hash, seen := range map[string]string{
		"/tasks/%E0": "Nothing is public at this address.", "/tasks/01JZ3V7Q0D8T5RZ0S6R1W9C4XK": "Nothing is public at this address.",
		"/?show=all":         "No task is open now.",
		"/?show=constructor": "No task is open now.",
		"assay-invitation_x": "Sign in to see the invitation.",
	} {
		p.Visit(hash)
		p.Sees(seen)
		p.Await(`document.querySelector("main h1") !== null && !location.hash.includes("invitation_")`)
	}
}
