package devices

import (
	"os"
	"testing"

	"sluice.dev/control/internal/store"
)

func TestMeasureReads(t *testing.T) {
	folder := t.TempDir()
	found, err := MeasureReads(folder, 5000, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	if found.Bytes != 8192 || found.ReadSeconds <= 0 || found.ParallelReads < 1 || found.ReadsPerSecond < 1/found.ReadSeconds*0.99 {
		t.Errorf("found %+v", found)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestMeasureReadsSaysWhatIsWrong(t *testing.T) {
	if _, err := MeasureReads("/missing", 4096, 4<<20); store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("the error is %v", err)
	}
	for read, file := range map[int]int64{4096: 4096, fillBytes + 4096: 2*fillBytes - 1} {
		if _, err := MeasureReads(t.TempDir(), read, file); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("with reads of %d bytes from %d the error is %v", read, file, err)
		}
	}
}
