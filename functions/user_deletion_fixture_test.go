package functions_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

// crashingStore knows the keys of all written items. If a test sets the number of remaining writes, later writes fail, as if the
// process had crashed before them.
type crashingStore struct {
	store.Store
	mu      sync.Mutex
	keys    map[store.Key]bool
	crashes bool
	left    int
}

var errCrashed = errors.New("the process died")

func (s *crashingStore) Write(ctx context.Context, writes ...store.Write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crashes && s.left == 0 {
		return errCrashed
	}
	s.left--
	for _, w := range writes {
		s.keys[w.Item.Key] = true
	}
	return s.Store.Write(ctx, writes...)
}

// items reads all stored items.
func (s *crashingStore) items(t *testing.T) (all []store.Item) {
	t.Helper()
	for keys := range slices.Chunk(slices.Collect(maps.Keys(s.keys)), store.MaxKeys) {
		found, err := s.Store.Get(t.Context(), store.Strong, keys...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.DeleteFunc(found, func(it store.Item) bool { return !it.Exists() })...)
	}
	return all
}

// zebra is the deleted person. All her texts contain her name.
const zebra = "zebra"

// withPerson is a platform on which zebra did everything that a user can do.
type withPerson struct {
	*platform
	table                *crashingStore
	named, hidden        string // tasks in which her team is named and anonymous
	published, withdrawn record.Submission
	anonymous            record.Submission
	baseline             record.Submission
	review, ownDataset   string
	leaderboards         []string
}

func newWithPerson(t *testing.T, table store.Store) *withPerson {
	t.Helper()
	s := newServer(t)
	if table == nil {
		table = s.Store
	}
	p := &withPerson{table: &crashingStore{Store: table, keys: map[store.Key]bool{}}}
	s.Use(p.table)
	p.platform = newPlatformOf(t, s, nil)
	p.change(zebra, "/v1/user", map[string]any{})
	p.change(zebra, "/v1/user/notifications", map[string]any{"email": []string{"run.failed"}})
	p.Join(zebra, p.Invite("olga", p.organizer, nil), nil)

	p.named = p.task
	first := p.retrieval()
	team := map[string]any{
		"team": "Zebra Quartet", "affiliation": "University of Zebra", "country": "Zebraland", "contact": "zebra@example.org",
	}
	p.register(zebra, team)
	p.change(zebra, p.named+"/registrations/"+p.registrationID(zebra), map[string]any{"affiliation": "Zebra Institute"})
	p.register("bob", nil)
	p.published, p.withdrawn = p.entry(first), p.entry(first)
	p.change(zebra, "/v1/runs/"+p.published.RunIDs[0], map[string]any{"label": "zebra label"})
	p.change("olga", "/v1/runs/"+p.withdrawn.RunIDs[0], map[string]any{"label": "zebra by the organizer"})
	p.publish(p.published)
	p.submit(zebra, map[string]any{"type": "image", "image": "registry.example.org/zebra:1", "datasetIds": []string{first}})
	baseline := servertest.Image(first)
	baseline["baseline"], baseline["notes"] = true, "zebra's own"
	p.baseline = p.submit(zebra, baseline)

	p.hidden = p.newTask(map[string]any{"name": "Rivers"})
	p.task = p.hidden
	second := p.retrieval()
	team["anonymous"] = true
	p.register(zebra, team)
	p.anonymous = p.entry(second)
	p.publish(p.anonymous)
	p.task = p.named

	bobs := p.submit("bob", servertest.Upload(first, servertest.Inline("run.txt", "1 Q0 d1 1 0.5 tag\n")))
	p.review = "/v1/runs/" + bobs.RunIDs[0] + "/review"
	p.change(zebra, p.review, map[string]any{"comment": "well done"})
	body := newDatasetBody(servertest.ID(p.named))
	p.ownDataset = p.Create(zebra, "/v1/datasets", body)
	p.Want(http.StatusCreated, nil, zebra, http.MethodPost, tokensPath, map[string]any{"name": "zebra's laptop", "scopes": []string{"read"}},
		"Idempotency-Key", "zebra")
	p.leaderboards = []string{p.named + "/evaluations?sort=rank&filter[datasetId]=" + first,
		p.hidden + "/evaluations?sort=rank&filter[datasetId]=" + second}
	return p
}

const tokensPath = "/v1/user/tokens"

// retrieval makes a dataset whose runs rank documents. It returns its id.
func (p *withPerson) retrieval() string {
	return servertest.ID(p.newDataset(map[string]any{
		"split": "validation", "runFormat": map[string]any{"kind": "trec-run"},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
		"truths":    []any{servertest.Inline("qrels.txt", "1 0 d1 1\n")},
	}))
}

// entry submits and evaluates a run of zebra's. Its file has her name and a tag.
func (p *withPerson) entry(datasetID string) record.Submission {
	p.t.Helper()
	body := servertest.Upload(datasetID, servertest.Inline("zebra.txt", "1 Q0 d1 1 0.5 zebra-tag\n"))
	maps.Copy(body, map[string]any{"title": "Zebra at Lakes", "description": "By Zebra.", "paperUrl": "https://zebra.example.org/paper",
		"notes": "zebra was here"})
	s := p.submit(zebra, body)
	p.evaluate(s.RunIDs[0])
	return s
}

func (p *withPerson) publish(s record.Submission) {
	p.t.Helper()
	p.change("olga", "/v1/runs/"+s.RunIDs[0]+"/review", map[string]any{"published": true, "comment": "thanks"})
}

func (p *withPerson) registrationID(user string) string {
	p.t.Helper()
	for _, r := range servertest.List[record.Registration](p.Server, "olga", p.task+"/registrations") {
		if r.UserID == recordtest.UserID(user) {
			return r.ID
		}
	}
	p.t.Fatal("no registration of " + user)
	return ""
}

// delete deletes zebra as the user. It uses several processes, which crash at the second write. It returns the number of
// processes.
func (p *withPerson) delete(by string) (processes int) {
	p.t.Helper()
	user := "/v1/users/" + recordtest.UserID(zebra)
	if by == zebra {
		p.Want(http.StatusNoContent, nil, zebra, http.MethodDelete, "/v1/user?id="+recordtest.UserID(zebra), nil)
		p.Want(http.StatusUnauthorized, nil, zebra, http.MethodGet, "/v1/user", nil)
	} else {
		p.Want(http.StatusNoContent, nil, by, http.MethodDelete, user, nil)
		p.Want(http.StatusNoContent, nil, by, http.MethodDelete, user, nil)
	}
	for p.Do("root", http.MethodGet, user, nil).Status == http.StatusOK {
		processes++
		if processes > 300 {
			p.t.Fatal("the deletion does not end")
		}
		p.table.crashes, p.table.left = true, 1
		if err := p.background.RunDue(p.t.Context()); err == nil {
			p.advance(record.RequestTime)
		} else if !errors.Is(err, errCrashed) {
			p.t.Fatal(err)
		}
		p.table.crashes = false
	}
	return processes
}
