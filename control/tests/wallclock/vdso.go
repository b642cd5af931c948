package wallclock

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
)

// image is the vDSO as it is mapped into a process.
type image struct {
	start, end uint64
	functions  map[string]elf.Symbol
}

func readImage(pid int, memory *os.File) (*image, error) {
	start, end, err := findMapping(pid)
	if err != nil {
		return nil, err
	}
	content := make([]byte, end-start)
	if _, err := memory.ReadAt(content, int64(start)); err != nil {
		return nil, fmt.Errorf("read the vDSO: %w", err)
	}
	file, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the vDSO: %w", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("the vDSO: %w", err)
	}
	found := &image{start: start, end: end, functions: make(map[string]elf.Symbol)}
	for _, symbol := range symbols {
		found.functions[symbol.Name] = symbol
	}
	return found, nil
}

func findMapping(pid int) (start, end uint64, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err != nil {
			return 0, 0, fmt.Errorf("a mapping %q: %w", line, err)
		}
		return start, end, nil
	}
	return 0, 0, fmt.Errorf("it has no vDSO: the kernel was started with vdso=0")
}

// checkUnused fails if a thread is in the vDSO, or in a function that it calls there.
func (i *image) checkUnused(pid int) error {
	counters, err := programCounters(pid)
	if err != nil {
		return err
	}
	for _, counter := range counters {
		if counter >= i.start && counter < i.end {
			return errBusy
		}
	}
	return nil
}

func (i *image) overwrite(memory *os.File, name string, code []byte) error {
	function, isThere := i.functions[name]
	if !isThere {
		return fmt.Errorf("the vDSO has no function %s", name)
	}
	if function.Size < uint64(len(code)) {
		return fmt.Errorf("function %s of the vDSO has %d bytes, %d are needed", name, function.Size, len(code))
	}
	if _, err := memory.WriteAt(code, int64(i.start+function.Value)); err != nil {
		return fmt.Errorf("write the vDSO: %w", err)
	}
	return nil
}

// replacements are, in amd64's machine code, the functions that tell the wall clock.
func replacements(seconds int64) map[string][]byte {
	added := binary.LittleEndian.AppendUint64(nil, uint64(seconds))
	addToResult := func(pointer byte) []byte {
		// movabs $seconds, %rcx; add %rcx, (pointer); ret
		return append(append([]byte{0x48, 0xb9}, added...), 0x48, 0x01, pointer, 0xc3)
	}
	return map[string][]byte{
		// mov $SYS_clock_gettime, %eax; syscall; test %edi, %edi (CLOCK_REALTIME is 0); jne to ret; the pointer is in rsi
		"__vdso_clock_gettime": append([]byte{0xb8, 228, 0, 0, 0, 0x0f, 0x05, 0x85, 0xff, 0x75, 13}, addToResult(0x0e)...),
		// mov $SYS_gettimeofday, %eax; syscall; test %rdi, %rdi (it may be null); je to ret; the pointer is in rdi
		"__vdso_gettimeofday": append([]byte{0xb8, 96, 0, 0, 0, 0x0f, 0x05, 0x48, 0x85, 0xff, 0x74, 13}, addToResult(0x0f)...),
	}
}
