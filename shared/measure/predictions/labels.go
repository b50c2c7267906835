package predictions

// labels numbers different labels in the order in which they come. The zero value has none.
type labels struct {
	names []string
	codes map[string]int32
}

// find returns the code of a label; -1 when it is not there.
func (l *labels) find(text []byte) int32 {
	if code, ok := l.codes[string(text)]; ok {
		return code
	}
	return -1
}

// add returns the code of a label that is not there yet.
func (l *labels) add(text []byte) int32 {
	if l.codes == nil {
		l.codes = map[string]int32{}
	}
	name, code := string(text), int32(len(l.names))
	l.codes[name] = code
	l.names = append(l.names, name)
	return code
}
