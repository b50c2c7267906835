package conversion

import (
	"slices"
	"strings"
)

// aliases lists the names of each column in files of other programs: of pandas and PyTerrier (qid, docno, label), of ir_datasets and
// ir_measures (query_id, doc_id, relevance), of BEIR (query-id, corpus-id, score) and of MS MARCO (qid, pid). A name that comes first is
// preferred: PyTerrier also numbers documents in docid, and has the text of a topic in query.
var aliases = map[string][]string{
	"topic": {"topic", "qid", "query_id", "queryid", "topic_id", "topicid", "q_id", "question_id", "query"},
	"docid": {"docno", "docid", "doc_id", "document_id", "documentid", "corpus_id", "pid", "passage_id", "did", "document", "doc"},
	"rank":  {"rank", "position"},
	"score": {"score", "similarity", "sim", "relevance_score"},
	"tag":   {"tag", "run_id", "runid", "run_name", "run_tag", "runtag", "system", "run"},
	"grade": {"grade", "relevance", "rel", "label", "judgment", "judgement", "relevance_label", "score"},

	"iteration": {"iteration", "iter", "subtopic", "subtopic_id", "intent", "q0"},
}

// unnamed is the preference of a column without a name. It is greater than the preference of all names.
const unnamed = 1 << 10

// folded lets names be written in any case, and with any sign between their words.
var folded = strings.NewReplacer("-", "_", " ", "_", ".", "_")

// column returns the column that a name stands for, and the preference of the name. Less is better. It returns -1 for other names.
func (k *Kind) column(name string) (column, preference int) {
	name = folded.Replace(strings.ToLower(strings.TrimSpace(name)))
	for i, c := range k.columns {
		if preference := slices.Index(aliases[c.name], name); preference >= 0 {
			return i, preference
		}
	}
	return -1, unnamed
}

// hasNames reports whether fields with the names are a file of the kind.
func (k *Kind) hasNames(names []string) bool {
	return k.missing(func(column int) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			i, _ := k.column(name)
			return i == column
		})
	}) < 0
}
