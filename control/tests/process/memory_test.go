package process

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// By its name it is known whether whoever made it still runs: tests/left_in_memory.py.
func TestFolderInMemoryHasItsProcessInItsName(t *testing.T) {
	directory := MemoryDirectory(t)
	if filepath.Dir(directory) != memoryFolder {
		t.Skip("too little memory")
	}
	wanted := regexp.MustCompile(fmt.Sprintf(`^sluice-test-[0-9]+-%d-[0-9]+$`, os.Getpid()))
	if name := filepath.Base(directory); !wanted.MatchString(name) {
		t.Errorf("the folder is %s, not %s", name, wanted)
	}
}
