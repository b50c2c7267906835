// Package bounds holds the limits of files, evaluations and reports. The limits of files keep the memory for an untrusted file at about
// half a gigabyte. Package measure states each limit to organizers.
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
	// Faults and FaultyText end the reading of a file with errors.
	Faults     = 100_000  // errors
	FaultyText = 16 << 20 // bytes of the lines with errors
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
	Record    = ValueLine // bytes of a record of csv, which may have several lines
	Nesting   = 10_000    // levels of arrays and objects in a line of JSON; encoding/json has the same limit
	Scale     = 1000      // labels of a scale
	Separator = 8         // bytes of the separator of labels in csv
)

// Limits of rankings.
const (
	Judgments  = 10_000_000 // judgments of a truth
	JudgedText = 256 << 20  // bytes of all document ids of a truth
	Topics     = 1_000_000  // topics of a truth, and of a run; subtopics of a truth
	RunLines   = 50_000_000 // lines of a run
	Grade      = 1<<15 - 1  // the greatest grade; the least is -Grade
	// ERRGrade is the highest grade for ERR, as in gdeval, whose definition ERR follows.
	ERRGrade = 4
	// ExponentGrade is the highest grade for gains of 2^grade - 1. It keeps their sums finite.
	ExponentGrade = 900
	Depth         = 1_000_000 // rank of a cutoff
	// IdealDepth is the deepest cutoff of measures that compare with an ideal ranking with subtopics. The time to find the ideal ranking
	// grows with its depth.
	IdealDepth = 1000
	// IdealSteps bounds the grades that one evaluation looks at to find ideal rankings. They take about half a minute. The Web tracks, with
	// 50 topics of 500 judgments, take a hundredth of the bound for three measures with cutoff 1000.
	IdealSteps  = 5_000_000_000
	CompatDepth = 1000 // rank down to which Compat compares rankings, as in its authors' program
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

// Limits of an evaluation. A step takes about StepNanoseconds.
const (
	StepNanoseconds = 4
	Steps           = 20_000_000_000 // of evaluating one run that is as large as the truth
	RunSteps        = 4 * Steps      // of evaluating one run, some minutes
	OwnSteps        = 500_000_000    // of scoring a truth against itself, about two seconds
	OwnScores       = 8 << 20        // bytes of the scores in a run that repeats the truth
	MeasureName     = 100            // bytes of the text of a measure
)

// Limits of the results of evaluations, and of reports.
const (
	Examples    = 10_000    // examples with values of their own
	TopicValues = 1_000_000 // values by topic, over all topics and measures; they take some 50 MB
	Classes     = 50        // labels in a comparison of true and predicted labels
	Diagnostics = 100       // diagnostics of one run; each can stand for faults of many lines
	Message     = 1000      // bytes of a message, so that the record of a run has room for the Diagnostics
	Warnings    = 20        // warnings of the report on a truth
	Warning     = 500       // bytes of such a warning
)

// Limits of the texts of documents and queries. Lengths of texts are in characters.
const (
	Inputs      = 512 << 20 // bytes of all files that a tool reads for texts
	InputLine   = 1 << 20   // bytes of a line
	Title       = 300
	Passage     = 2000
	Query       = 1000
	InputIDs    = 2_000_000 // documents, and queries, whose ids are compared with a truth
	InputIDText = 128 << 20 // bytes of all files whose ids are compared
)
