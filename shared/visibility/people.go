package visibility

import (
	"context"
	"encoding/json"
	"slices"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// maxNamingKeys bounds what one answer reads for the names of people: profiles and grants of an organizer with all its members.
// People beyond it are shown with their ids.
const maxNamingKeys = 2 * record.MaxMembers

// ResolvePeople fills in names and addresses of the people, with one call for each store.MaxKeys of their records. A record that was
// read before for the same request is not read again, so a page costs half a unit for each user whom it names: profiles are
// small, and a copy of names elsewhere would have to go with the person.
func (v *Viewer) ResolvePeople(ctx context.Context, people []*record.Person) error {
	if v.people == nil {
		v.people = map[store.Key]store.Item{}
	}
	var keys []store.Key
	for _, p := range people {
		for _, k := range p.Keys() {
			if _, read := v.people[k]; !read && len(keys) < maxNamingKeys {
				v.people[k] = store.Item{}
				keys = append(keys, k)
			}
		}
	}
	chunks := slices.Collect(slices.Chunk(keys, store.MaxKeys))
	found := make([][]store.Item, len(chunks))
	err := records.Together(len(chunks), func(i int) (err error) {
		found[i], err = v.Store.Get(ctx, store.Eventual, chunks[i]...)
		return records.Failed(err)
	})
	if err != nil {
		return err
	}
	for _, it := range slices.Concat(found...) {
		v.people[it.Key] = it
	}
	agreed := func(k store.Key) bool {
		var grant struct{ Added bool }
		it := v.people[k]
		return it.Exists() && json.Unmarshal(it.Data, &grant) == nil && !grant.Added
	}
	for _, p := range people {
		profile, err := records.Decode[record.User](v.people[p.Keys()[0]])
		if err != nil {
			return err
		}
		p.Tell(profile, agreed)
	}
	return nil
}
