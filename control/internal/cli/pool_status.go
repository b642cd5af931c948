package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/agent"
	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/repair"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/quantity"
)

// poolStatus is how a pool stands, as programs read it.
type poolStatus struct {
	Servers         []poolServerStatus `json:"servers"`
	Files           int                `json:"files"`
	OpenFiles       int                `json:"open_files"`
	SegmentsLeft    int                `json:"segments_to_repair"`
	SegmentsWaiting int                `json:"segments_waiting"`
	UnreadableSlots int                `json:"unreadable_slots"`
	// Removals are files without a path, whose blocks may still be there.
	Removals int `json:"removals"`
	// RepairedBy is empty if nobody repairs.
	RepairedBy string `json:"repaired_by"`
}

type poolServerStatus struct {
	Node      string  `json:"node"`
	State     string  `json:"state"`
	HeldBytes int64   `json:"held_bytes"`
	FreeBytes int64   `json:"free_bytes"`
	FillShare float64 `json:"fill_share"`
}

func (u *poolUse) newStatus() *cobra.Command {
	command := &cobra.Command{
		Use: "status", Short: "Look at the servers of the pool, and what is to be repaired", Args: positional(),
		Long: "Look at the servers of the pool: how much of the pool each holds, and may still take. Segments are to be\n" +
			"repaired that are missing, or on servers that are not in the configuration. Those wait whose file is open,\n" +
			"or whose server does not answer. Unreadable slots are parts of files without any copy that can be reached.",
		Example: "  sluice pool status -o json",
	}
	output := registerOutput(command, u.environment, formTable, formJSON, formYAML)
	command.RunE = func(command *cobra.Command, _ []string) error {
		return u.with(func(access *agent.PoolAccess) error {
			status, err := statusOf(command.Context(), access)
			if err != nil {
				return err
			}
			if output.isDocument() {
				return output.document(status)
			}
			return status.write(output)
		})
	}
	return command
}

func statusOf(ctx context.Context, access *agent.PoolAccess) (poolStatus, error) {
	servers := repair.Ask(ctx, access.Servers.Names(), access.Servers.Service, stripe.DefaultOptions().Patience)
	survey, err := repair.Look(ctx, access.Metadata.Files, servers)
	if err != nil {
		return poolStatus{}, err
	}
	status := poolStatus{
		Servers: []poolServerStatus{}, Files: survey.Files, OpenFiles: survey.OpenFiles,
		SegmentsLeft: survey.Left, SegmentsWaiting: survey.Waiting, UnreadableSlots: survey.Unreadable,
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		server := servers[name]
		status.Servers = append(status.Servers, poolServerStatus{
			Node: name, State: server.Standing.String(), HeldBytes: server.HeldBytes, FreeBytes: server.FreeBytes, FillShare: server.Fill(),
		})
	}
	if status.Removals, err = countRemovals(ctx, access); err != nil {
		return poolStatus{}, err
	}
	status.RepairedBy, err = repairedBy(ctx, access)
	return status, err
}

func countRemovals(ctx context.Context, access *agent.PoolAccess) (int, error) {
	count := 0
	page := entry.Page[*entry.FileID]{Limit: entry.MaxPageEntries}
	for {
		removals, more, err := access.Metadata.Removals(ctx, page)
		count += len(removals)
		if err != nil || !more || len(removals) == 0 {
			return count, err
		}
		page.After = &removals[len(removals)-1].ID
	}
}

// repairedBy gives who has the lease for repair. There is no volume for it until somebody repairs.
func repairedBy(ctx context.Context, access *agent.PoolAccess) (string, error) {
	leases, _, err := access.Metadata.Leases(ctx, repair.Volume, entry.Page[string]{Limit: 1})
	if err != nil && entry.ReasonOf(err) != entry.NotFound {
		return "", err
	}
	if len(leases) == 0 {
		return "", nil
	}
	return leases[0].Holder, nil
}

func (s poolStatus) write(output *output) error {
	servers := listing.Table{Header: []string{"NODE", "STATE", "HELD", "FREE", "FILL"}}
	for _, server := range s.Servers {
		cells := []string{server.Node, server.State, "?", "?", "?"}
		if server.State == repair.Answering.String() {
			cells = []string{
				server.Node, server.State, quantity.FormatBytes(float64(server.HeldBytes)),
				quantity.FormatBytes(float64(server.FreeBytes)), quantity.FormatShare(server.FillShare),
			}
		}
		servers.Rows = append(servers.Rows, textCells(cells))
	}
	if err := output.table(servers); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(output.environment.Stdout); err != nil {
		return err
	}
	by := s.RepairedBy
	if by == "" {
		by = "nobody"
	}
	return output.table(listing.Table{
		Header: []string{"FILES", "OPEN", "TO REPAIR", "WAITING", "UNREADABLE", "REMOVALS", "BY"},
		Rows: [][]listing.Cell{textCells([]string{
			fmt.Sprint(s.Files), fmt.Sprint(s.OpenFiles), fmt.Sprint(s.SegmentsLeft), fmt.Sprint(s.SegmentsWaiting),
			fmt.Sprint(s.UnreadableSlots), fmt.Sprint(s.Removals), by,
		})},
	})
}
