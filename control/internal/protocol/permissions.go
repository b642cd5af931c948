package protocol

import (
	"google.golang.org/grpc/health/grpc_health_v1"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
)

// Permissions are those of every method of the network contract, and of gRPC's health service, which
// agents and controllers have beside it. Every role may read. Orders to an agent are for controllers and
// operators, the exchange with an agent for controllers, orders to a controller for operators. Compactions,
// the blocks of pools and changes of their metadata are between agents.
//
// Health is for every role as well, viewers above all, which probes and monitoring are: it says less than
// the calls that every role may read with, and nobody gets as far as a role without a certificate of the
// cluster.
func Permissions() security.Permissions {
	readers := security.Roles()
	orderers := []security.Role{security.RoleController, security.RoleOperator}
	controllers := []security.Role{security.RoleController}
	operators := []security.Role{security.RoleOperator}
	agents := []security.Role{security.RoleAgent}
	return security.Permissions{
		grpc_health_v1.Health_Check_FullMethodName: readers,
		grpc_health_v1.Health_List_FullMethodName:  readers,
		grpc_health_v1.Health_Watch_FullMethodName: readers,

		sluicev1.AgentService_Describe_FullMethodName:    readers,
		sluicev1.AgentService_GetSnapshot_FullMethodName: readers,
		sluicev1.AgentService_SetLease_FullMethodName:    orderers,
		sluicev1.AgentService_ClearLeases_FullMethodName: orderers,
		sluicev1.AgentService_StartTask_FullMethodName:   orderers,
		sluicev1.AgentService_AbortTask_FullMethodName:   orderers,
		sluicev1.AgentService_Steer_FullMethodName:       controllers,

		sluicev1.CompactionService_WatchCapacity_FullMethodName: agents,
		sluicev1.CompactionService_RunCompaction_FullMethodName: agents,

		sluicev1.BlockService_WriteSegments_FullMethodName: agents,
		sluicev1.BlockService_ReadSegment_FullMethodName:   agents,
		sluicev1.BlockService_ListSegments_FullMethodName:  agents,
		sluicev1.BlockService_RemoveFile_FullMethodName:    agents,
		sluicev1.BlockService_RemoveSegment_FullMethodName: agents,
		sluicev1.BlockService_GetBlockSpace_FullMethodName: agents,

		sluicev1.PoolMetadataService_ChangeMetadata_FullMethodName:    agents,
		sluicev1.PoolMetadataService_RenewSubtreeLease_FullMethodName: agents,
		sluicev1.PoolMetadataService_ListVolumes_FullMethodName:       readers,
		sluicev1.PoolMetadataService_StatPath_FullMethodName:          readers,
		sluicev1.PoolMetadataService_ListDirectory_FullMethodName:     readers,
		sluicev1.PoolMetadataService_ListOpenFiles_FullMethodName:     readers,
		sluicev1.PoolMetadataService_ListSubtreeLeases_FullMethodName: readers,
		sluicev1.PoolMetadataService_ListFilesOnServer_FullMethodName: readers,
		sluicev1.PoolMetadataService_ListRemovals_FullMethodName:      readers,
		sluicev1.PoolMetadataService_GetMetadataStatus_FullMethodName: readers,

		sluicev1.ControllerService_GetCluster_FullMethodName:       readers,
		sluicev1.ControllerService_ListDecisions_FullMethodName:    readers,
		sluicev1.ControllerService_WatchDecisions_FullMethodName:   readers,
		sluicev1.ControllerService_ListPolicies_FullMethodName:     readers,
		sluicev1.ControllerService_PausePolicy_FullMethodName:      operators,
		sluicev1.ControllerService_ResumePolicy_FullMethodName:     operators,
		sluicev1.ControllerService_RelaySetLease_FullMethodName:    operators,
		sluicev1.ControllerService_RelayClearLeases_FullMethodName: operators,
		sluicev1.ControllerService_RelayStartTask_FullMethodName:   operators,
		sluicev1.ControllerService_RelayAbortTask_FullMethodName:   operators,

		sluicev1.ControllerService_ListServiceLevels_FullMethodName:   readers,
		sluicev1.ControllerService_ExplainServiceLevel_FullMethodName: readers,
		sluicev1.ControllerService_ApplyServiceLevels_FullMethodName:  operators,
		sluicev1.ControllerService_DeleteServiceLevel_FullMethodName:  operators,
	}
}
