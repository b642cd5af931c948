package overwrite

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// node is a file of the reference, which is as plain as can be.
type node struct {
	mode, uid uint32
	links     int
	content   []byte
	target    string
	children  map[string]*node
}

func newDirectory(mode uint32) *node {
	return &node{mode: unix.S_IFDIR | mode, links: 2, children: make(map[string]*node)}
}

// cloned is a copy in which files with two names still are one.
func (n *node) cloned(known map[*node]*node) *node {
	if copied := known[n]; copied != nil {
		return copied
	}
	copied := *n
	known[n] = &copied
	copied.content = bytes.Clone(n.content)
	if n.children != nil {
		copied.children = make(map[string]*node)
		for name, child := range n.children {
			copied.children[name] = child.cloned(known)
		}
	}
	return &copied
}

// at gives a directory and a name of a path such as "a/b".
func (n *node) at(path string) (*node, string) {
	parts := strings.Split(path, "/")
	for _, part := range parts[:len(parts)-1] {
		if n = n.children[part]; n == nil {
			return nil, ""
		}
	}
	return n, parts[len(parts)-1]
}

func (n *node) find(path string) *node {
	parent, name := n.at(path)
	if parent == nil {
		return nil
	}
	return parent.children[name]
}

func (n *node) isDirectory() bool { return n.children != nil }

func (n *node) remove(path string) {
	parent, name := n.at(path)
	gone := parent.children[name]
	delete(parent.children, name)
	gone.links--
	if gone.isDirectory() {
		parent.links--
	}
}

// dump says all that a user can see.
func (n *node) dump(path string, into *strings.Builder) {
	fmt.Fprintf(into, "%s mode %o uid %d links %d size %d sum %x target %q\n",
		path, n.mode, n.uid, n.links, n.size(), sum(n.content), n.target)
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		n.children[name].dump(path+"/"+name, into)
	}
}

func (n *node) size() int {
	if n.isDirectory() {
		return 0
	}
	return len(n.content) + len(n.target)
}

func sum(content []byte) uint64 {
	hash := fnv.New64()
	_, _ = hash.Write(content)
	return hash.Sum64()
}

// dump says the same of a file system.
func dump(t *testing.T, f *FileSystem) string {
	t.Helper()
	var all strings.Builder
	dumpInode(t, f, RootInode, "", &all)
	return all.String()
}

func dumpInode(t *testing.T, f *FileSystem, number uint64, path string, into *strings.Builder) {
	t.Helper()
	inode, err := f.Inode(number)
	if err != nil {
		t.Fatal(err)
	}
	var content []byte
	if inode.isRegular() {
		content = contentOf(t, f, inode)
	}
	fmt.Fprintf(into, "%s mode %o uid %d links %d size %d sum %x target %q\n",
		path, inode.Mode, inode.UID, inode.Links, inode.Size, sum(content), inode.Target)
	names, err := f.List(number)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range names {
		dumpInode(t, f, each.Inode, path+"/"+each.Name, into)
	}
}

func contentOf(t *testing.T, f *FileSystem, inode Inode) []byte {
	t.Helper()
	content := make([]byte, inode.Size+1)
	n, err := f.Read(context.Background(), inode.Number, content, 0)
	if err != nil || int64(n) != inode.Size {
		t.Fatalf("read %d of %d bytes: %v", n, inode.Size, err)
	}
	return content[:n]
}
