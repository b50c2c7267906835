package predictions

import "fmt"

// sourceLine is where an id was read; line 0 is nowhere.
type sourceLine struct{ file, line uint32 }

// sourceLines records where each id was read, so that the diagnostic of a repeated id names both lines.
type sourceLines struct {
	files []string
	list  []sourceLine // by example
}

// at is a line of the last file.
func (p *sourceLines) at(line int) sourceLine {
	return sourceLine{uint32(len(p.files) - 1), uint32(line)}
}

// describe says where an id was read, for a message.
func (p *sourceLines) describe(index int) string {
	at := p.list[index]
	if at.file == uint32(len(p.files)-1) {
		return fmt.Sprintf("on line %d", at.line)
	}
	return fmt.Sprintf("on line %d of %s", at.line, p.files[at.file])
}
