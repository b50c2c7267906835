package main

// hideToken has nothing to do: no other user reads the variables of a process, and other processes of this user can read all it has.
func hideToken() error { return nil }
