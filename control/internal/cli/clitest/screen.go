package clitest

import "github.com/gdamore/tcell/v2"

// Screen is a terminal of a test, which says when it has been initialised.
type Screen struct {
	tcell.SimulationScreen
	ready chan struct{}
}

// NewScreen makes a screen that is not initialised yet.
func NewScreen() *Screen {
	return &Screen{tcell.NewSimulationScreen("UTF-8"), make(chan struct{})}
}

// Init initialises the screen, once.
func (s *Screen) Init() error {
	defer close(s.ready)
	return s.SimulationScreen.Init()
}

// Press waits for the screen to be initialised and presses a key.
func (s *Screen) Press(key rune) {
	<-s.ready
	s.InjectKey(tcell.KeyRune, key, tcell.ModNone)
}
