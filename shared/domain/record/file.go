package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Limits of files.
const (
	MaxInlineBytes = 3 << 20 // all inline files of one request together
	MaxFileBytes   = 2 << 30
	MaxFiles       = 20 // in one list

	// MaxEvaluatedBytes is the limit of all files of a run, or of a truth, for the built-in evaluators, which count the bytes after
	// unpacking. Packed files of more bytes have more text too.
	MaxEvaluatedBytes = bounds.Files
)

// AbandonedAfter is the age from which a file can count as abandoned. No request or upload takes that long from storing a file to
// storing the record that names it.
const AbandonedAfter = 48 * time.Hour

// ResultLinkTime is how long the link to a tool's result works if the result was too large for the answer. The file can be deleted
// afterwards.
const ResultLinkTime = 30 * time.Minute

// FileState says whether the bytes of a file have arrived.
type FileState string

// The states of a file.
const (
	FilePending FileState = "pending"
	FileStored  FileState = "stored"
)

// File is a file of a dataset or a run. A client sends the name, and either the content, or size and sha256. In the latter case it
// uploads the bytes to the link in upload.
type File struct {
	Name      string    `json:"name" minLength:"1" maxLength:"200" doc:"file name, without folders" example:"run.txt"`
	Size      int64     `json:"size" required:"false" minimum:"0" maximum:"2147483648" doc:"bytes; may be left out with content"`
	SHA256    string    `json:"sha256" required:"false" maxLength:"64" doc:"SHA-256 of the bytes in lower-case hexadecimal; may be left out with content"`
	MediaType string    `json:"mediaType" required:"false" maxLength:"100" doc:"media type of the bytes; unless given, the one of the file name's extension if it is a common one" example:"text/plain"`
	Content   string    `json:"content,omitempty" writeOnly:"true" maxLength:"5242880" doc:"the bytes in base64, for files up to 3 MiB together; never shown again"`
	State     FileState `json:"state,omitempty" readOnly:"true" enum:"pending,stored" doc:"stored once bytes of that size and digest have arrived"`
	URL       string    `json:"url,omitempty" format:"uri" readOnly:"true" maxLength:"8000" doc:"temporary address of the bytes; only for callers who may read them"`
	Upload    *Upload   `json:"upload,omitempty" readOnly:"true" doc:"where to send the bytes of a pending file; only for callers who may"`
}

// Upload tells how to send the bytes of a pending file.
type Upload struct {
	Method    string            `json:"method" maxLength:"20" example:"PUT"`
	URL       string            `json:"url" format:"uri" maxLength:"8000" doc:"signed address"`
	Headers   map[string]string `json:"headers" maxProperties:"20" doc:"headers to send"`
	ExpiresAt Instant           `json:"expiresAt" doc:"when the address stops working, 30 to 45 minutes after it was made; each GET of the resource makes a new one"`
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// emptyDigest is the SHA-256 of no bytes.
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// CheckFiles reports the errors of a draft's files. pointer returns the JSON pointer to the file at a position.
//
// Files with content get size, sha256 and state from it. The result holds the bytes of each file at its position, or nil for files that
// will be uploaded.
//
// kept holds the files that the list had before. A file with the digest of one of them, and without content, keeps everything but its
// name.
func CheckFiles(pointer func(i int) string, files, kept []File) ([][]byte, problem.Fields) {
	contents := make([][]byte, len(files))
	var fields problem.Fields
	for i := range files {
		f, at := &files[i], pointer(i)
		old := slices.IndexFunc(kept, func(k File) bool { return k.SHA256 == f.SHA256 })
		if old >= 0 && f.Content == "" {
			checkKept(*f, kept[old], at, &fields)
			name := f.Name
			*f = kept[old]
			f.Name = name
		} else {
			contents[i] = checkNew(f, at, &fields)
		}
		fields.AddIf(slices.ContainsFunc(files[:i], func(o File) bool { return o.Name == f.Name }), at+"/name",
			"is the name of another file of the list")
		same := func(o File) bool { return o.SHA256 == f.SHA256 }
		fields.AddIf(f.SHA256 != "" && slices.ContainsFunc(files[:i], same), at+"/sha256", "is the content of another file of the list")
	}
	return contents, fields
}

// In returns a function that returns the pointer to an element of the array at the pointer.
func In(pointer string) func(i int) string {
	return func(i int) string { return fmt.Sprintf("%s/%d", pointer, i) }
}

// CheckLengths reports texts of files that are too long. It is for files that are not validated against the schema.
func CheckLengths(pointer string, files []File) (fields problem.Fields) {
	for i, f := range files {
		for member, text := range map[string]string{"name": f.Name, "mediaType": f.MediaType} {
			n, most := utf8.RuneCountInString(text), maxLengths[member]
			fields.AddIf(n > most, fmt.Sprintf("%s/%d/%s", pointer, i, member), "has %d characters; %d are allowed", n, most)
		}
	}
	return fields
}

// maxLengths holds the limits of File's schema.
var maxLengths = map[string]int{"name": 200, "mediaType": 100}

// checkKept checks a file that the list had before. Members that describe its bytes can be omitted, but must not change. Its links are
// not compared, because each answer has new ones.
func checkKept(f, was File, at string, fields *problem.Fields) {
	checkFileName(f.Name, at, fields)
	fields.AddIf(f.Size != 0 && f.Size != was.Size, at+"/size",
		"the file stays as it is, with %s: for other bytes, give their own {sha256}", problem.Size(was.Size))
	fields.AddIf(f.MediaType != "" && f.MediaType != was.MediaType, at+"/mediaType",
		"the file stays as it is, %s: for another media type, give its content again", was.MediaType)
	fields.AddIf(f.State != "" && f.State != was.State, at+"/state", "is made by the service: leave it out")
}

// checkNew checks a file that the list did not have before. It returns the file's bytes if they are inline.
func checkNew(f *File, at string, fields *problem.Fields) []byte {
	fields.AddIf(f.State != "" || f.URL != "" || f.Upload != nil, at, "{state}, {url} and {upload} are made by the service: leave them out")
	f.State = FilePending
	f.URL = ""
	f.Upload = nil
	checkFileName(f.Name, at, fields)
	f.MediaType = cmp.Or(f.MediaType, blob.MediaTypeOf(f.Name))
	fields.AddIf(blob.CheckMediaType(f.MediaType) != nil, at+"/mediaType", "must be a media type such as text/plain")
	content := checkContent(f, at, fields)
	f.Content = ""
	return content
}

func checkContent(f *File, at string, fields *problem.Fields) []byte {
	if f.Content == "" {
		if f.Size == 0 && (f.SHA256 == "" || f.SHA256 == emptyDigest) {
			fields.Add(at, "is empty: a file has at least one byte. Give its bytes as {content} or, for a file that will be uploaded, their {size} "+
				"and {sha256}")
			return nil
		}
		fields.AddIf(!digest.MatchString(f.SHA256), at+"/sha256",
			"must be the SHA-256 of the bytes, 64 lower-case hexadecimal digits, when there is no {content}")
		fields.AddIf(f.Size < 1 || f.Size > MaxFileBytes, at+"/size",
			"must be the number of bytes, from 1 to %d, when there is no {content}", int64(MaxFileBytes))
		return nil
	}
	b, err := base64.StdEncoding.DecodeString(f.Content)
	if err != nil {
		fields.Add(at+"/content", "must be base64 (RFC 4648 section 4, with padding): %v", err)
		return nil
	}
	got := fmt.Sprintf("%x", sha256.Sum256(b))
	fields.AddIf(f.SHA256 != "" && f.SHA256 != got, at+"/sha256", "the content has the SHA-256 %s", got)
	fields.AddIf(f.Size != 0 && f.Size != int64(len(b)), at+"/size", "the content has %s", problem.Size(len(b)))
	f.SHA256 = got
	f.Size = int64(len(b))
	f.State = FileStored
	return b
}

func checkFileName(name, at string, fields *problem.Fields) {
	folder := strings.ContainsAny(name, `/\`) || name == "." || name == ".."
	fields.AddIf(folder, at+"/name", "must be a file name without folders")
	if !folder {
		*fields = append(*fields, checkName(at+"/name", name)...)
	}
}

// CheckInline returns a problem if the inline files of a request exceed MaxInlineBytes together.
func CheckInline(contents ...[][]byte) error {
	n := 0
	for _, list := range contents {
		for _, b := range list {
			n += len(b)
		}
	}
	if n > MaxInlineBytes {
		return problem.TooLarge.New("The inline files have %s together; at most %s are allowed. Give {size} and {sha256} instead of "+
			"{content}, and upload the bytes to the address in the answer.", problem.Size(n), problem.Size(MaxInlineBytes))
	}
	return nil
}

// CheckEvaluated reports files that are together larger than the built-in evaluators read, at the pointer. what describes what can be left
// out of them.
func CheckEvaluated(pointer string, files []File, what string) (fields problem.Fields) {
	n := SizeOf(files)
	fields.AddIf(n > MaxEvaluatedBytes, pointer, "has %s, and built-in evaluators read at most %s, after unpacking: leave out what is not "+
		"needed, such as %s", problem.Size(n), problem.Size(MaxEvaluatedBytes), what)
	return fields
}

// Faults converts the diagnostics of inline files to errors of the body. pointer returns the JSON pointer to the file with the name.
// The result is nil unless one of the diagnostics is an error. Otherwise it has the warnings too, marked as such.
func Faults(diagnostics []measure.Diagnostic, pointer func(file string) string) []problem.Field {
	if !measure.HasErrors(diagnostics) {
		return nil
	}
	fields := make([]problem.Field, len(diagnostics))
	for i, d := range diagnostics {
		message := d.Message
		if extent := d.Extent(); extent != "" {
			message = fmt.Sprintf("%s: %s", extent, message)
		} else if d.Line > 0 {
			message = fmt.Sprintf("line %d: %s", d.Line, message)
		}
		if d.Severity == measure.Warning {
			message = "warning: " + message
		}
		fields[i] = problem.NewField(pointer(d.File), "%s", message)
		fields[i].Count = d.Count
	}
	return fields
}

// AllStored reports whether the bytes of all the files have arrived.
func AllStored(files []File) bool {
	return !slices.ContainsFunc(files, func(f File) bool { return f.State != FileStored })
}

// Stored returns the files with the pending file of the SHA-256 sum marked as stored, and reports whether one was pending.
func Stored(files []File, sum string) ([]File, bool) {
	i := slices.IndexFunc(files, func(f File) bool { return f.SHA256 == sum && f.State == FilePending })
	if i < 0 {
		return files, false
	}
	files = slices.Clone(files)
	files[i].State = FileStored
	return files, true
}

// Holder is the part of an object's key that names the kind of the file's owner.
type Holder string

// The holders. Files of ground truths have a folder of their own, so that access to it can be granted separately.
const (
	HolderInputs      Holder = "inputs"      // of a dataset
	HolderTruths      Holder = "truths"      // of a dataset
	HolderRuns        Holder = "runs"        // of a run
	HolderLogs        Holder = "logs"        // of a run
	HolderEvaluations Holder = "evaluations" // of an evaluation
	HolderTools       Holder = "tools"       // results of tools that their callers can fetch; they belong to no record
)

// ObjectKey returns the key of a file's bytes in the object store. sum is their hexadecimal SHA-256.
func ObjectKey(h Holder, id, sum string) string { return string(h) + "/" + id + "/" + sum }

func objectKeys(h Holder, id string, files []File) []string {
	return lists.Map(files, func(f File) string { return ObjectKey(h, id, f.SHA256) })
}

// ParseObjectKey is the inverse of ObjectKey. ok is false for other keys.
func ParseObjectKey(key string) (h Holder, id, sum string, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 || !IsID(parts[1]) || !digest.MatchString(parts[2]) {
		return "", "", "", false
	}
	h = Holder(parts[0])
	ok = h == HolderInputs || h == HolderTruths || h == HolderRuns || h == HolderLogs || h == HolderEvaluations || h == HolderTools
	return h, parts[1], parts[2], ok
}

// FileHolder is a record that names files.
type FileHolder interface {
	Record
	// ObjectKeys returns the keys of the objects of the files. Some may not have arrived.
	ObjectKeys() []string
}

// DecodeFileHolder decodes a record that names files, which may be in the trash. It returns nil if the item does not exist or its kind
// names no files.
func DecodeFileHolder(it store.Item) (_ FileHolder, err error) {
	if strings.HasPrefix(it.Partition, trashPrefix) {
		if it, err = Untrash(it); err != nil {
			return nil, err
		}
	}
	r, ok := emptyAt(it.Key).(FileHolder)
	if !ok || !it.Exists() {
		return nil, nil
	}
	return r, Decode(it, r)
}

// HoldersOf returns the keys of the records that can name the object. It returns none for objects that belong to no record.
func HoldersOf(objectKey string) []store.Key {
	switch h, id, _, _ := ParseObjectKey(objectKey); h {
	case HolderRuns, HolderLogs:
		return []store.Key{RunKey(id)}
	case HolderEvaluations:
		return []store.Key{TopicsKey(id)}
	case HolderInputs, HolderTruths:
		return []store.Key{DatasetKey(id), TruthKey(id)}
	default:
		return nil
	}
}

// StoredBytes returns the user whose quota counts the record's files, and their size.
func StoredBytes(r Record) (userID string, bytes int64) {
	switch r := r.(type) {
	case *RunItem:
		return r.UserID, r.Bytes
	case *DatasetItem:
		return r.Payer, SizeOf(r.Files())
	default:
		return "", 0
	}
}
