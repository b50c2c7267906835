package acceptancetest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"assay/shared/problem"
)

// lists goes through lists one resource at a time, and requires what the whole list has.
func (st *scenario) lists() {
	task := id(st.public)
	for _, l := range []struct {
		caller user
		path   string
		some   int // at least so many
	}{
		{st.anyone, "/v1/organizers?filter[name]=" + st.tail, 1},
		{st.olivia, "/v1/tasks?filter[organizerId]=" + id(st.organizerPath), 3},
		{st.anyone, "/v1/tasks?filter[organizerId]=" + id(st.organizerPath), 2},
		{st.anyone, "/v1/datasets?filter[taskId]=" + task, 2},
		{st.olivia, st.public + "/registrations", 3},
		{st.olivia, st.public + "/submissions", 4},
		{st.anyone, st.public + "/submissions", 2},
		{st.ben, st.public + "/submissions", 4},
		{st.olivia, "/v1/runs?filter[taskId]=" + task, 5},
		{st.ben, "/v1/runs?filter[taskId]=" + task, 5},
		{st.anyone, "/v1/runs?filter[taskId]=" + task, 2},
		{st.anyone, "/v1/runs?filter[datasetId]=" + st.cacm + "," + st.news, 2},
		{st.ben, "/v1/runs?filter[userId]=" + st.ben.id, 8},
		{st.anyone, "/v1/evaluations?filter[taskId]=" + task, 5},
		{st.anyone, st.public + "/evaluations", 5},
		{st.ben, "/v1/users/" + st.ben.id + "/submissions", 7},
		{st.olivia, st.public + "/audit-entries", 8},
	} {
		whole := st.list(l.caller, l.path)
		descending := slices.IsSortedFunc(whole, func(a, b string) int {
			if a > b {
				return -1
			}
			return 1
		})
		if len(whole) < l.some || !descending {
			st.t.Errorf("GET %s as %s: %d, want at least %d, the newest first: %v", l.path, l.caller.name, len(whole), l.some, whole)
		}
		for _, limit := range []string{"1", "3", "1000"} {
			if got := st.list(l.caller, l.path+separator(l.path)+"limit="+limit); !slices.Equal(got, whole) {
				st.t.Errorf("GET %s as %s by %s: %v, want %v", l.path, l.caller.name, limit, got, whole)
			}
		}
		if last := whole[len(whole)-1]; !slices.Equal(st.list(l.caller, l.path+separator(l.path)+"cursor="+last), []string{last}) {
			st.t.Errorf("GET %s as %s does not go on at its cursor", l.path, l.caller.name)
		}
		st.wrongPages(l.caller, l.path)
	}
	var p page
	if st.get(st.admin, "/v1/users?limit=2", &p); len(p.Data) != 2 || p.Links.Next == "" {
		st.t.Errorf("two users and more to come: %+v", p)
	}
	st.get(st.admin, p.Links.Next, nil)
	st.refused(problem.InvalidCursor, st.anyone, http.MethodGet, st.public+"/submissions?cursor="+id(st.benBoth.path), nil)
	st.refused(problem.InvalidCursor, st.anyone, http.MethodGet, "/v1/tasks?cursor="+id(st.private), nil)
	st.want(http.StatusOK, nil, st.pia, http.MethodGet, "/v1/tasks?cursor="+id(st.private), nil)
	st.refused(problem.InvalidParameter, st.anyone, http.MethodGet, "/v1/runs?filter[state]=asleep", nil)
	st.refused(problem.InvalidParameter, st.anyone, http.MethodGet, "/v1/runs?filter[taskId]=x", nil)
}

// filters requires of lists that a filter keeps exactly the resources with the value, whichever of its values it is.
func (st *scenario) filters() {
	for _, l := range []struct {
		caller       user
		path, member string
	}{
		{st.olivia, st.public + "/registrations", "state"},
		{st.ben, st.public + "/registrations", "state"},
		{st.olivia, st.public + "/audit-entries", "actorId"},
		{st.olivia, st.public + "/audit-entries", "action"},
		{st.ben, "/v1/users/" + st.ben.id + "/submissions", "taskId"},
		{st.admin, "/v1/users", "name"},
		{st.anyone, "/v1/organizers", "name"},
		{st.anyone, "/v1/tools", "kind"},
	} {
		having := func(path string) map[string]int {
			counts := map[string]int{}
			for path += separator(path) + "limit=3&fields=" + l.member; path != ""; {
				var p page
				st.get(l.caller, path, &p)
				for _, raw := range p.Data {
					var r map[string]string
					if err := json.Unmarshal(raw, &r); err != nil {
						st.t.Fatal(err)
					}
					counts[r[l.member]]++
				}
				path = p.Links.Next
			}
			return counts
		}
		whole := having(l.path)
		for value, n := range whole {
			if value == "" {
				continue // of users whose issuer gives no name
			}
			got := having(l.path + "?filter[" + l.member + "]=" + url.QueryEscape(value))
			if l.member == "name" {
				maps.DeleteFunc(got, func(name string, _ int) bool { return name != value && strings.Contains(name, value) })
			}
			if !maps.Equal(got, map[string]int{value: n}) {
				st.t.Errorf("GET %s as %s has %v with the %s %q, want %d of them", l.path, l.caller.name, got, l.member, value, n)
			}
		}
		if len(whole) == 0 {
			st.t.Errorf("GET %s as %s: the list is empty", l.path, l.caller.name)
		}
		if strings.HasSuffix(l.member, "Id") || l.member == "name" { // which nothing has
			st.want(http.StatusNoContent, nil, l.caller, http.MethodGet, l.path+"?filter["+l.member+"]="+st.admin.id, nil)
		}
	}
}

// wrongPages asks for pages that are none.
func (st *scenario) wrongPages(caller user, path string) {
	st.t.Helper()
	path += separator(path)
	for _, cursor := range []string{st.missing(), st.olivia.id, "x", "", "01jz3v7q0d8t5rz0s6r1w9c4xk", "80000000000000000000000000"} {
		st.refused(problem.InvalidCursor, caller, http.MethodGet, path+"cursor="+cursor, nil)
	}
	for _, query := range []string{"limit=0", "limit=-1", "limit=x", "limit=1.5", "limit=", "limit=1&limit=2", "filter[colour]=red",
		"colour=red", "fields=colour", "offset=1", "limit=%zz"} {
		st.refused(problem.InvalidParameter, caller, http.MethodGet, path+query, nil)
	}
}
