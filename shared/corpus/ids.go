package corpus

import (
	"context"
	"fmt"
	"hash/maphash"
)

// Bounds of one ReadIDs.
const (
	MaxIDRead   = 128 << 20 // bytes of all files, once they are unpacked
	MaxIDs      = 2_000_000 // documents, and topics
	bytesOfHash = 16        // about, with what the table takes
)

// IDs are the ids of documents and of queries that files have.
type IDs struct {
	Queries []string // as often as they occur; nil when not all are known

	documents map[uint64]struct{} // hashes of their ids; nil when not all are known
	seed      maphash.Seed
	size      int64
}

// ReadIDs reads all ids of documents and queries from the files that Read knows. What has too many bytes or ids, or cannot be read
// to its end, is left out wholly. The error is about opening or reading a file or about the context.
func ReadIDs(ctx context.Context, files ...File) (*IDs, error) {
	ids := &IDs{documents: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	f := finder{ids: ids}
	l := standard
	l.left, l.read = MaxIDRead, MaxIDRead
	queries, documents := true, true // whether all are known
	for _, file := range queriesFirst(files) {
		f.report, f.queryFile, f.cut = FileReport{Name: file.Name}, namesQueries(file.Name), false
		if err := f.read(ctx, &l, file); err != nil {
			return nil, fmt.Errorf("read ids of %s: %w", file.Name, err)
		}
		queries = queries && !(f.cut && (f.queryFile || f.report.Queries > 0))
		documents = documents && (!f.cut || f.queryFile)
	}
	if !queries || len(ids.Queries) > MaxIDs {
		ids.Queries = nil
	}
	if !documents || len(ids.documents) == 0 || len(ids.documents) > MaxIDs {
		ids.documents = nil
	}
	return ids, nil
}

// Documents reports whether a document is among those of the files; nil when they have none, or when not all are known.
func (i *IDs) Documents() func(id []byte) bool {
	if i.documents == nil {
		return nil
	}
	return func(id []byte) bool {
		_, ok := i.documents[maphash.Bytes(i.seed, id)]
		return ok
	}
}

// Bytes is about how much memory the ids take.
func (i *IDs) Bytes() int64 { return i.size + int64(len(i.documents))*bytesOfHash }

func (i *IDs) addDocument(id []byte) {
	if len(i.documents) <= MaxIDs {
		i.documents[maphash.Bytes(i.seed, id)] = struct{}{}
	}
}

func (i *IDs) addQuery(id []byte) {
	if len(i.Queries) <= MaxIDs {
		i.Queries = append(i.Queries, string(id))
		i.size += int64(len(id)) + bytesOfHash
	}
}
