package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const rootLong = `Sluice programs the background work of stores: compactions, checkpoints, flushes, log placement.

An agent runs on every node and speaks to the stores there. A controller reads the agents, runs
policies, and gives orders. Every order is a lease: a value, an owner and a time to live. A lease
that is not renewed ends, and the store goes back to what its own configuration says.

Names: an instance of a store is NODE/STORE/INSTANCE, such as db1/postgres/main. A kind of task is
one of %s.

Units are SI: 1 kB is 1000 bytes, 1 MB 1000 kB, and so on to PB. Sizes are written 200MB, rates 6MB
or 6MB/s, times 250ms, 2s or 1m30s. Tables are written in the same way; JSON has plain numbers, in
the unit that a name ends in.

Exit codes: 0 done; 1 failed; 2 called in a wrong way; 3 refused (another owner's lease, a limit of
the store, a role that may not); 4 the other side cannot be reached.`

const (
	groupSee   = "see"
	groupOrder = "order"
	groupRun   = "run"
	groupSetUp = "set-up"
)

// newRoot makes the command tree.
func newRoot(environment Environment) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "sluice",
		Short: "Program the background work of stores",
		Long:  fmt.Sprintf(rootLong, joinKinds(", ")),
		Example: `  sluice get
  sluice top
  sluice set db1/postgres/main checkpoint rate_bytes_per_second=6MB --for 30s`,
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.AddGroup(
		&cobra.Group{ID: groupSee, Title: "Look at a cluster:"},
		&cobra.Group{ID: groupOrder, Title: "Give orders:"},
		&cobra.Group{ID: groupRun, Title: "Run the services:"},
		&cobra.Group{ID: groupSetUp, Title: "Set up and check:"},
	)
	addTo(root, groupSee, newGet(environment), newWatch(environment), newTop(environment))
	addTo(root, groupOrder, newSet(environment), newClear(environment), newStart(environment),
		newAbort(environment), newPolicy(environment), newSLO(environment))
	addTo(root, groupRun, newAgent(environment), newController(environment))
	addTo(root, groupSetUp, newConfig(environment), newLocal(environment), newCalibrate(environment),
		newReplay(environment), newPool(environment), newCompletion(environment), newVersion(environment), newDocs(environment))
	root.PersistentPreRun = func(command *cobra.Command, _ []string) {
		if _, isService := command.Annotations[serviceAnnotation]; !isService {
			environment.EndAtHangup()
		}
	}
	root.SetHelpCommandGroupID(groupSetUp)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(environment.Stdin)
	root.SetOut(environment.Stdout)
	root.SetErr(environment.Stderr)
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return usagef(command, "%s", strings.TrimSuffix(err.Error(), "."))
	})
	return root
}

func addTo(root *cobra.Command, groupID string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.GroupID = groupID
		root.AddCommand(command)
	}
}
