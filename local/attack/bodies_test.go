package attack

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// maxBody is what a body may have, less what surrounds the hostile part.
const maxBody = 5<<20 - 1<<10

// hostileJSON are bodies of every shape, each about as large as bodies may be, with the member as the place of the fault.
func hostileJSON(member string) [][]byte {
	in := func(value string) []byte { return []byte(`{"` + member + `":` + value + `}`) }
	list := func(element string, size int) string { return "[" + repeat(element+",", size) + element + "]" }
	return [][]byte{
		in(list("1", maxBody)),        // elements of the wrong type
		in(list("{}", maxBody)),       // elements that lack everything
		in(list(`"nobody"`, maxBody)), // names that nobody has
		in(list("[]", 1<<20)),         // lists within a list
		in(repeat("[", maxBody)),      // deep and never closed
		in(repeat("[", maxBody/2) + repeat("]", maxBody/2)),
		in(strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000)),
		[]byte(`{` + members("unknown%d", maxBody) + `"a":1}`),
		[]byte(`{` + members(member, maxBody) + `"` + member + `":1}`), // one name again and again
		in(`"` + repeat("x", maxBody) + `"`),
		in(`"` + repeat(`\u0001`, maxBody) + `"`),
		in(`"` + repeat(`\"`, maxBody) + `"`),
		in(repeat("9", maxBody)),
		in("1e" + repeat("9", 1<<10)),
		in("-0." + repeat("0", maxBody) + "1"),
		[]byte(`{"` + repeat("n", maxBody) + `":1}`),
		in("1 " + repeat(" ", maxBody)),
		in("null,"),
		[]byte("\xef\xbb\xbf{}"), []byte("{\"\xff\":1}"), []byte("[]"), []byte("null"), []byte(`"text"`), []byte("{}{}"),
	}
}

// members are members of an object, of up to the size in all.
func members(name string, size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size-len(name)-32; n++ {
		b.WriteString(strconv.Quote(strings.ReplaceAll(name, "%d", strconv.Itoa(n))))
		b.WriteString(":1,")
	}
	return b.String()
}

// mutated is a copy of a value in which some parts were exchanged for others, of other types and up to the depth.
func mutated(r *rand.Rand, value any, depth int) any {
	if r.IntN(6) == 0 {
		return randomValue(r, depth)
	}
	switch v := value.(type) {
	case object:
		out := object{}
		for name, part := range v {
			switch r.IntN(20) {
			case 0: // left out
			case 1:
				out[randomText(r)] = mutated(r, part, depth)
			default:
				out[name] = mutated(r, part, depth)
			}
		}
		return out
	case []any:
		var out []any
		for _, part := range v {
			for range 1 + r.IntN(20)/19*r.IntN(300) {
				out = append(out, mutated(r, part, depth))
			}
		}
		return out
	default:
		return v
	}
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n < 3 && depth > 0:
		out := object{}
		for range r.IntN(5) {
			out[randomText(r)] = randomValue(r, depth-1)
		}
		return out
	case n < 5 && depth > 0:
		return []any{randomValue(r, depth-1), randomValue(r, r.IntN(depth))}
	default:
		return []any{nil, true, 0, -1, 1e308, 1 << 53, 0.1, randomText(r), randomText(r)}[r.IntN(9)]
	}
}

// randomText is a name that the server knows, or something that no name is.
func randomText(r *rand.Rand) string {
	texts := []string{
		"name", "files", "text", "content", "runId", "measures", "AP", "nDCG@10", "P(rel=2)@5", "trec-run", "jsonl", "worker", "test",
		"01JZ3V7Q0D8T5RZ0S6R1W9C4XK", "", " ", "\x00", "\u202e", "\u2028", "../../etc/passwd", "H4sIAAAAAAAA", "é", "\U0001f4a9", "<script>",
	}
	return strings.Repeat(texts[r.IntN(len(texts))], []int{1, 1, 1, 2, 100, 5000}[r.IntN(6)])
}

// garble changes a few bytes of a body.
func garble(r *rand.Rand, body []byte) []byte {
	out := bytes.Clone(body)
	for range 1 + r.IntN(8) {
		out[r.IntN(len(out))] = `{}[]",:0e\ `[r.IntN(11)]
	}
	return out
}

// bomb is a gzip file that a line unpacks to, again and again: so many bytes.
func bomb(line string, size int) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is a valid one
	block := []byte(strings.Repeat(line, 1+(64<<10)/len(line)))
	for left := size; left > 0; left -= len(block) {
		_, _ = w.Write(block) // into memory
	}
	_ = w.Close()
	return b.Bytes()
}

// zeros is a gzip file of a gigabyte of zeros, in base64; nested is one that has another one.
var zeros = sync.OnceValue(func() string { return base64.StdEncoding.EncodeToString(bomb("\x00", 1<<30)) })

// bigRun is a run of so many lines of about 180 bytes, packed.
func bigRun(lines int) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is a valid one
	filler := strings.Repeat("x", 150)
	for n := range lines {
		fmt.Fprintf(w, "%d Q0 d%d%s 1 %d big\n", 1+n/1000, n%1000, filler, 1000-n%1000)
	}
	_ = w.Close()
	return b.Bytes()
}
