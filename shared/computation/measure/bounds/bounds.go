// Package bounds holds the limits of the files that evaluators read. They keep the memory for an untrusted file at about half a gigabyte.
package bounds

// Limits of all files.
const (
	// Line is the maximum of bytes of a line, without its end.
	Line = 64 << 10
	// Files is the maximum text of all files of a run or truth, in bytes after unpacking. Most of the text is held in memory.
	Files = 1 << 30
	// Ratio is the maximum ratio of a file's unpacked size to its packed size. Files of less than RatioFrom bytes are exempt.
	Ratio     = 200
	RatioFrom = 64 << 20
)

// Limits of files with a value for each item.
const (
	Items      = 5_000_000 // items of a truth
	IDs        = 128 << 20 // bytes of all ids of a truth, and of all names of clusters of a truth, and of a run
	Name       = 1024      // bytes of an id, of a label or of the name of a cluster
	Labels     = 10_000    // different labels in a truth, and in a run
	Set        = 1000      // labels of an item
	Assigned   = 1 << 26   // labels of all items, plus items
	Scores     = 1 << 25   // scores of a run
	Text       = 64 << 10  // bytes of a text
	References = 100       // references of an item
	ItemText   = 16 * Text // bytes of all references of an item
	Texts      = 256 << 20 // bytes of all texts of a truth, and of a run
	// SubsequenceSteps bounds the work for longest common subsequences of one run to about 16 seconds, which fit a request. Ten thousand texts
	// of two thousand words, with references of the same length, take a sixth of it.
	SubsequenceSteps = 4_000_000_000
	// ValueLine is the maximum of bytes of a line with texts, arrays or scores, in the place of Line. Such a line can have all references
	// of an item, or Set labels, whose characters are written as escapes: an escape of JSON takes up to three times the bytes of a
	// character that is not ASCII.
	ValueLine = 3*ItemText + 1<<20
)

// Limits of rankings.
const (
	Judgments  = 10_000_000 // judgments of a truth
	JudgedText = 256 << 20  // bytes of all document ids of a truth
	Topics     = 1_000_000  // topics of a truth, and of a run; subtopics of a truth
	RunLines   = 50_000_000 // lines of a run
)

// Limits of spans.
const (
	Tokens    = 20_000_000    // tokens of a truth, and of a run
	TokenText = 256 << 20     // bytes of all tokens together
	Columns   = 64            // columns of a line with a token
	Spans     = 20_000_000    // spans of a truth, and of a run
	Types     = 1000          // different types of spans in a truth, and in a run
	Offset    = 1_000_000_000 // the greatest number of a character
)
