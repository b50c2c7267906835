package main

// noteLeftOut says what the effects of a dry run leave out.
func (a *applying) noteLeftOut() {
	if !a.yes("dry-run") {
		return
	}
	if a.outdated {
		a.note("The consequences for datasets assume the stored task. Without --dry-run, the task changes first, so they can differ.")
	}
	if a.uncounted && a.err == nil {
		a.note("A dry run does not say what your limits count for resources of a new organizer or task.")
	}
}
