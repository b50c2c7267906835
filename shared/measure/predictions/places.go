package predictions

import "fmt"

// place is where an id was read; line 0 is nowhere.
type place struct{ file, line uint32 }

// places remembers where each id was read, so that one given twice can be told with both lines.
type places struct {
	files []string
	list  []place // by example
}

// here is a line of the last file.
func (p *places) here(line int) place { return place{uint32(len(p.files) - 1), uint32(line)} }

// of says where an id was read, for a message.
func (p *places) of(index int) string {
	at := p.list[index]
	if at.file == uint32(len(p.files)-1) {
		return fmt.Sprintf("on line %d", at.line)
	}
	return fmt.Sprintf("on line %d of %s", at.line, p.files[at.file])
}
