package contexts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"

	"sluice.dev/control/internal/store"
)

// SystemPath is the file that holds for every user of a host.
const SystemPath = "/etc/sluice/cli.yaml"

const maxFileBytes = 1 << 20

// File is a context file.
type File struct {
	// CurrentContext is used when none is named; empty if there is none.
	CurrentContext string             `yaml:"current_context,omitempty"`
	Contexts       map[string]Context `yaml:"contexts,omitempty"`
}

// UserPath is the file of the user: SLUICE_CONFIG, or sluice/config.yaml in XDG_CONFIG_HOME, or in
// ~/.config.
func UserPath(getenv func(string) string) string {
	if path := getenv("SLUICE_CONFIG"); path != "" {
		return path
	}
	folder := getenv("XDG_CONFIG_HOME")
	if folder == "" {
		folder = filepath.Join(getenv("HOME"), ".config")
	}
	return filepath.Join(folder, "sluice", "config.yaml")
}

// Load reads a file. One that is not there is empty.
func Load(path string) (File, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, store.Errorf(store.CodeInvalid, "reading the context file: %w", err)
	}
	file, err := Parse(content)
	if err != nil {
		return File{}, inFile(path, err)
	}
	return file, nil
}

func inFile(path string, err error) error {
	var failure *store.Error
	if !errors.As(err, &failure) {
		return fmt.Errorf("%s: %w", path, err)
	}
	located := *failure
	located.Message = path + ": " + failure.Message
	return &located
}

// Parse reads a file's content. It refuses unknown keys, and contexts that lack something. Errors are of
// type *store.Error.
func Parse(content []byte) (File, error) {
	if len(content) > maxFileBytes {
		return File{}, store.Invalidf("it is longer than %d bytes", maxFileBytes)
	}
	var file File
	if len(strings.TrimSpace(string(content))) == 0 {
		return file, nil
	}
	if err := yaml.UnmarshalWithOptions(content, &file, yaml.Strict()); err != nil {
		return File{}, syntaxError(err)
	}
	if err := file.validate(); err != nil {
		return File{}, err
	}
	return file, nil
}

func syntaxError(err error) error {
	var located yaml.Error
	if !errors.As(err, &located) || located.GetToken() == nil {
		return store.Invalidf("it is not a context file: %v", err)
	}
	return store.Invalidf("line %d: %s", located.GetToken().Position.Line, located.GetMessage()).
		WithHint("Keys of a file: current_context, contexts; of a context: cluster, controller, agent, node, " +
			"certificate_file, key_file, ca_file.")
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (f File) validate() error {
	for name, context := range f.Contexts {
		if err := ValidateName(name); err != nil {
			return err
		}
		if err := context.Validate(); err != nil {
			return inFile(fmt.Sprintf("context %q", name), err)
		}
	}
	return nil
}

// ValidateName says what is wrong with the name of a context.
func ValidateName(name string) error {
	if namePattern.MatchString(name) {
		return nil
	}
	return store.Invalidf("the context's name %q is not allowed", name).
		WithHint("Names are letters, digits, dots, underscores and dashes, at most 63, a letter or digit first.")
}

// Save writes the file, for its user alone, and makes its folder. Either the old or the new content is
// there at any time.
func (f File) Save(path string) error {
	content, err := f.encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the context file: %w", err)
	}
	return replaceFile(path, content)
}

// encode is the opposite of Parse.
func (f File) encode() ([]byte, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	content, err := yaml.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("writing the context file: %w", err)
	}
	return content, nil
}

// replaceFile relies on CreateTemp for the mode 0600.
func replaceFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".config-*.yaml")
	if err != nil {
		return fmt.Errorf("writing the context file: %w", err)
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing the context file: %w", errors.Join(err, os.Remove(temporary.Name())))
	}
	return nil
}
